//! Both builds beside each other on one database, and what their answers to a test of overload may be.

use std::sync::Arc;

use conduit_testkit::TestDatabase;
use conformance::ctx::Run;
use conformance::http::{Request, Response};
use tokio::sync::{Mutex, MutexGuard};

use super::deployment::{Deployment, run};
use super::split::{Split, Transports};

const UNAVAILABLE: &str = r#"{"errors":{"server":["is unavailable"]}}"#;

/// The monolith, and the services over either transport.
pub(crate) struct Both {
    // Whoever uses the database goes before it.
    pub(crate) http: Split,
    pub(crate) grpc: Split,
    pub(crate) monolith: Deployment,
    pub(crate) database: Arc<TestDatabase>,
    _alone: Alone,
}

/// No other test of this program runs.
pub(crate) type Alone = MutexGuard<'static, ()>;

static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

/// Waits until no other test of this program runs.
pub(crate) async fn alone() -> Alone {
    ONE_AT_A_TIME.lock().await
}

impl Both {
    /// On this database, with other settings for every process, as in `--http-workers=1`.
    pub(crate) async fn on(database: Arc<TestDatabase>, changed: &[&str]) -> Self {
        let alone = alone().await;
        Self {
            http: Split::told(Arc::clone(&database), Transports::Http, changed),
            grpc: Split::told(Arc::clone(&database), Transports::Grpc, changed),
            monolith: Deployment::told(Arc::clone(&database), changed),
            database,
            _alone: alone,
        }
    }

    /// As conformance addresses them.
    pub(crate) fn runs(&self) -> [Run; 3] {
        [run(&self.monolith.address, 1), self.http.run(2), self.grpc.run(3)]
    }

    /// `http://host:port` of whoever has this area, in each of the deployments.
    pub(crate) fn addresses(&self, area: &str) -> [String; 3] {
        let split = |split: &Split| split.addresses(area).public.clone();
        [
            format!("http://{}", self.monolith.address),
            split(&self.http),
            split(&self.grpc),
        ]
    }

    /// The operations listener of whoever has this area, in each of the deployments.
    pub(crate) fn operations(&self, area: &str) -> [String; 3] {
        let split = |split: &Split| split.addresses(area).operations.clone();
        [
            self.monolith.operations.clone(),
            split(&self.http),
            split(&self.grpc),
        ]
        .map(|address| address.expect("the operations listener is off"))
    }
}

/// How a request went that is served unless something is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Served,
    Unavailable,
}

impl Manner {
    /// Success, or the 503 of the contract; anything else is told.
    pub(crate) fn of(answer: &Response) -> Result<Self, String> {
        match (answer.status, answer.text().as_str()) {
            (200 | 201, _) => Ok(Self::Served),
            (503, UNAVAILABLE) => Ok(Self::Unavailable),
            (status, text) => Err(format!("{status} {text}")),
        }
    }
}

/// A request without a token.
pub(crate) fn request(method: &str, target: &str, body: Option<String>) -> Request {
    Request {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
        body: body.map(String::into_bytes),
    }
}
