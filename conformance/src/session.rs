//! One client of a deployment: it keeps its connections open between requests, one for each address.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;

use crate::http::{Connection, Deadline, Request, Response, Trouble};
use crate::log::{Certainty, Exchange};
use crate::target::Target;

/// How long one exchange may take unless told otherwise.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A client of one deployment.
#[derive(Debug)]
pub struct Session {
    target: Target,
    patience: Duration,
    idle: Mutex<HashMap<String, Connection>>,
}

impl Session {
    /// A client that gives each exchange at most `patience`.
    pub fn new(target: Target, patience: Duration) -> Self {
        Self {
            target,
            patience,
            idle: Mutex::new(HashMap::new()),
        }
    }

    /// The deployment.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Sends one request, on the open connection if there is one.
    pub async fn exchange(&self, request: Request, certainty: Certainty) -> Exchange {
        let address = self.target.address(&request.target).to_owned();
        let outcome = self.answer(&address, &request).await;
        Exchange {
            address,
            request,
            outcome,
            certainty,
        }
    }

    /// Sends all requests at once, each on a connection of its own that is opened before the first one leaves. The
    /// exchanges come back in the order of the requests.
    pub async fn together(&self, requests: Vec<Request>, certainty: Certainty) -> Vec<Exchange> {
        let deadline = Deadline::after(self.patience);
        let open = |request: Request| async move {
            let address = self.target.address(&request.target).to_owned();
            let connection = Connection::open(&address, deadline).await;
            (address, request, connection)
        };
        let ready = join_all(requests.into_iter().map(open)).await;
        let send = |(address, request, connection): (String, Request, Result<Connection, Trouble>)| async move {
            let outcome = match connection {
                Ok(mut connection) => connection.exchange(&request, deadline).await,
                Err(trouble) => Err(trouble),
            };
            Exchange {
                address,
                request,
                outcome,
                certainty,
            }
        };
        join_all(ready.into_iter().map(send)).await
    }

    async fn answer(&self, address: &str, request: &Request) -> Result<Response, Trouble> {
        let deadline = Deadline::after(self.patience);
        if let Some(connection) = self.take(address)?
            && let Some(outcome) = self.again(connection, address, request, deadline).await
        {
            return outcome;
        }
        let connection = Connection::open(address, deadline).await?;
        self.on(connection, address, request, deadline).await
    }

    /// On a connection used before. `None` if the other side closed it without a word and a repetition is harmless.
    async fn again(
        &self,
        connection: Connection,
        address: &str,
        request: &Request,
        deadline: Deadline,
    ) -> Option<Result<Response, Trouble>> {
        match self.on(connection, address, request, deadline).await {
            Err(trouble) if trouble.closed_before_answer && request.is_read() => None,
            outcome => Some(outcome),
        }
    }

    async fn on(
        &self,
        mut connection: Connection,
        address: &str,
        request: &Request,
        deadline: Deadline,
    ) -> Result<Response, Trouble> {
        let response = connection.exchange(request, deadline).await?;
        if response.keep {
            self.lock().insert(address.to_owned(), connection);
        }
        Ok(response)
    }

    fn take(&self, address: &str) -> Result<Option<Connection>, Trouble> {
        let Some(connection) = self.lock().remove(address) else {
            return Ok(None);
        };
        Ok(connection.is_fresh()?.then_some(connection))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
