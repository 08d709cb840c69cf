//! One connection to each address of a deployment, one request at a time.

use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Error, Result};
use bytes::Bytes;
use conformance::target::Target;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderValue, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use nix::errno::Errno;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::request::{Answer, Request};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A browser, so to speak: it keeps its connections, and makes a new one where the server has closed an idle one.
pub(super) struct Client {
    target: Rc<Target>,
    timeout: Duration,
    open: HashMap<String, SendRequest<Full<Bytes>>>,
}

impl Client {
    pub(super) fn new(target: Rc<Target>, timeout: Duration) -> Self {
        Self {
            target,
            timeout,
            open: HashMap::new(),
        }
    }

    /// Sends it and waits for the whole answer, but not for longer than `at_most`, nor than the time limit.
    pub(super) async fn send(&mut self, request: &Request, at_most: Duration) -> Answer {
        let target = Rc::clone(&self.target);
        let address = target.address(&request.target);
        let limit = at_most.min(self.timeout);
        let outcome = timeout(limit, self.exchange(address, request)).await;
        match outcome {
            Ok(Ok(answer)) => answer,
            // What is left of the answer must not be taken for the next one's.
            Ok(Err(error)) if is_out_of_files(&error) => self.forget(address, Answer::Unsent),
            Ok(Err(_)) => self.forget(address, Answer::Broken),
            Err(_) => self.forget(address, Answer::TimedOut),
        }
    }

    /// As long as the time limit allows.
    pub(super) async fn ask(&mut self, request: &Request) -> Answer {
        self.send(request, self.timeout).await
    }

    fn forget(&mut self, address: &str, answer: Answer) -> Answer {
        self.open.remove(address);
        answer
    }

    async fn exchange(&mut self, address: &str, request: &Request) -> Result<Answer> {
        let response = self.response(address, request).await?;
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Answer::Status(head.status.as_u16(), body))
    }

    async fn response(&mut self, address: &str, request: &Request) -> Result<Response<Incoming>> {
        if let Some(open) = self.open.get_mut(address)
            && open.ready().await.is_ok()
        {
            match open.try_send_request(http_request(address, request)?).await {
                Ok(response) => return Ok(response),
                // The server has closed the idle connection before it saw anything of this.
                Err(error) if error.message().is_some() => {}
                Err(error) => return Err(error.into_error().into()),
            }
        }
        let mut fresh = connect(address).await?;
        let response = fresh.send_request(http_request(address, request)?).await?;
        self.open.insert(address.to_owned(), fresh);
        Ok(response)
    }
}

/// The process's or the system's limit.
fn is_out_of_files(error: &Error) -> bool {
    let limits = [Errno::EMFILE, Errno::ENFILE].map(|errno| errno as i32);
    let code = error.downcast_ref().and_then(io::Error::raw_os_error);
    code.is_some_and(|code| limits.contains(&code))
}

async fn connect(address: &str) -> Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    // Its end shows at the sender.
    tokio::spawn(connection);
    Ok(sender)
}

fn http_request(address: &str, request: &Request) -> Result<http::Request<Full<Bytes>>> {
    let mut made = http::Request::builder()
        .method(&request.method)
        .uri(&request.target)
        .header(HOST, address);
    if let Some(token) = &request.token {
        made = made.header(AUTHORIZATION, token);
    }
    if !request.body.is_empty() {
        made = made.header(CONTENT_TYPE, JSON);
    }
    Ok(made.body(Full::new(request.body.clone()))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_ran_out_here_are_no_fault_of_the_deployment() {
        let error = |errno: Errno| Error::from(io::Error::from_raw_os_error(errno as i32));
        assert!(is_out_of_files(&error(Errno::EMFILE)));
        assert!(!is_out_of_files(&error(Errno::ECONNREFUSED)));
        assert!(!is_out_of_files(&Error::msg("anything else")));
    }
}
