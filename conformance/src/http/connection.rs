//! One TCP connection that carries one exchange after the other.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::{Deadline, Request, Response, Step, Trouble, read_response};

/// A connection idle for longer is not used again: the other side may be closing it just now.
const MAX_IDLE: Duration = Duration::from_secs(1);

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    address: String,
    stream: TcpStream,
    last_used: Instant,
}

impl Connection {
    /// Connects to host and port.
    ///
    /// # Errors
    /// Trouble of the step [`Step::Connecting`].
    pub async fn open(address: &str, deadline: Deadline) -> Result<Self, Trouble> {
        let connecting = TcpStream::connect(address);
        let stream = deadline
            .guard(Step::Connecting, connecting)
            .await
            .map_err(|trouble| trouble.at(address))?;
        // Small requests must not wait for the acknowledgement of the one before.
        stream
            .set_nodelay(true)
            .map_err(|e| Trouble::new(Step::Connecting, e).at(address))?;
        Ok(Self {
            address: address.to_owned(),
            stream,
            last_used: Instant::now(),
        })
    }

    /// Whether another request may go out on this connection: it was used just now, and the other side has neither
    /// closed it nor sent anything unasked.
    ///
    /// # Errors
    /// Trouble if bytes have come that belong to no answer, such as the body of an answer to `HEAD`.
    pub fn is_fresh(&self) -> Result<bool, Trouble> {
        let mut bytes = [0; 256];
        match self.stream.try_read(&mut bytes) {
            Ok(0) => Ok(false),
            Ok(count) => {
                let mut trouble = Trouble::new(Step::Sending, "bytes came that belong to no answer");
                trouble.received = bytes.get(..count).unwrap_or_default().to_vec();
                Err(trouble.at(&self.address))
            }
            Err(e) => Ok(e.kind() == std::io::ErrorKind::WouldBlock && self.last_used.elapsed() < MAX_IDLE),
        }
    }

    /// Sends the request and reads its answer. The answer may come before the request is sent to its end (a refused
    /// body): both directions are served at the same time.
    ///
    /// # Errors
    /// Trouble of any step. The connection must not be used again then, nor if the answer says so.
    pub async fn exchange(&mut self, request: &Request, deadline: Deadline) -> Result<Response, Trouble> {
        let result = self.both_ways(request, deadline).await;
        self.last_used = Instant::now();
        result.map_err(|trouble| trouble.at(&self.address))
    }

    async fn both_ways(&mut self, request: &Request, deadline: Deadline) -> Result<Response, Trouble> {
        let bytes = request.bytes(&self.address);
        let (reader, mut writer) = self.stream.split();
        let writing = deadline.guard(Step::Sending, writer.write_all(&bytes));
        let reading = read_response(reader, &request.method, deadline);
        tokio::pin!(writing, reading);
        let sent = tokio::select! {
            biased;
            sent = &mut writing => sent,
            answer = &mut reading => return answer.map(closing),
        };
        match (reading.await, sent) {
            (Ok(answer), Ok(())) => Ok(answer),
            (Ok(answer), Err(_)) => Ok(closing(answer)),
            (Err(_), Err(unsent)) => Err(unsent),
            (Err(unread), Ok(())) => Err(unread),
        }
    }
}

/// The rest of the request was never sent, so nothing else can follow it.
fn closing(answer: Response) -> Response {
    Response {
        keep: false,
        ..answer
    }
}
