//! Reading a request's body within its bounds, and what becomes of one that nobody reads (contract 1.3).

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::body::{BodySize, MessageBody};
use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE};
use actix_web::web::{Bytes, BytesMut};
use conduit_domain::{Error, Result};
use futures_util::{FutureExt, StreamExt};
use tokio::time::timeout;

/// The largest body, in bytes (contract 1.3).
pub(crate) const LIMIT: usize = 1_048_576;

/// How long a client may take to send a body that is wanted. A slow line is no failure of ours, so this is not the deadline of
/// the work that follows.
const SENDING_TIME: Duration = Duration::from_secs(30);

/// A body on its way in.
pub(crate) struct Incoming {
    payload: Payload,
    expected: Expected,
    ended: bool,
}

enum Expected {
    /// So many bytes.
    Sized(u64),
    /// Until it ends: chunked.
    Open,
    /// Nothing more, though bytes may come: the body broke off or is too large, or a tunnel or another protocol was asked for,
    /// which nobody here speaks.
    Nothing,
}

impl Incoming {
    pub(crate) fn new(request: &HttpRequest, payload: Payload) -> Self {
        let ended = matches!(payload, Payload::None);
        let expected = if ended {
            Expected::Nothing
        } else {
            expected(request)
        };
        Self {
            payload,
            expected,
            ended,
        }
    }

    /// The whole body; empty if there is none.
    ///
    /// # Errors
    /// [`Error::RequestTooLarge`], as soon as that is sure; [`Error::RequestMalformed`] if it does not arrive whole.
    pub(crate) async fn read(&mut self) -> Result<Bytes> {
        if self.ended || matches!(self.expected, Expected::Nothing) {
            return Ok(Bytes::new());
        }
        if self.is_announced_too_large() {
            return Err(Error::RequestTooLarge);
        }
        let read = timeout(SENDING_TIME, self.collect())
            .await
            .unwrap_or(Err(Error::RequestMalformed));
        if read.is_err() {
            // Whatever follows is not to be waited for.
            self.expected = Expected::Nothing;
        }
        read
    }

    /// Reads a body away that the answer does not depend on, so that the connection can be used again. One that is too large or
    /// too slow stays unread.
    pub(crate) async fn read_away(&mut self, longest: Duration) {
        if self.ended || matches!(self.expected, Expected::Nothing) || self.is_announced_too_large() {
            return;
        }
        let mut read: usize = 0;
        let rest = async {
            while let Some(Ok(chunk)) = self.next(read).await {
                read = read.saturating_add(chunk.len());
                if read > LIMIT {
                    return;
                }
            }
        };
        // Late is the same as too large: the connection will be closed.
        let _ = timeout(longest, rest).await;
    }

    /// What is left, if anything is: to be kept until the answer is sent, so that the connection is closed behind it.
    pub(crate) fn unread(self) -> Option<Payload> {
        (!self.ended).then_some(self.payload)
    }

    fn is_announced_too_large(&self) -> bool {
        matches!(self.expected, Expected::Sized(size) if size > LIMIT as u64)
    }

    async fn collect(&mut self) -> Result<Bytes> {
        let mut whole = Collected::Nothing;
        while let Some(part) = self.next(whole.len()).await {
            whole = whole.with(part?);
            if whole.len() > LIMIT {
                return Err(Error::RequestTooLarge);
            }
        }
        Ok(whole.bytes())
    }

    /// The next part of the body when `read` bytes of it are there already.
    async fn next(&mut self, read: usize) -> Option<Result<Bytes>> {
        if matches!(self.expected, Expected::Sized(size) if read as u64 >= size) {
            // All is there, and the end is known at once; if it is not, something else follows that is no part of the body.
            self.ended = matches!(self.payload.next().now_or_never(), Some(None));
            return None;
        }
        let part = self.payload.next().await;
        self.ended = part.is_none();
        part.map(|part| part.map_err(|_| Error::RequestMalformed))
    }
}

fn expected(request: &HttpRequest) -> Expected {
    let headers = request.headers();
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.trim().parse().ok());
    let chunked = headers.contains_key(TRANSFER_ENCODING);
    let tunnel = request.method() == Method::CONNECT || headers.contains_key(UPGRADE);
    match length {
        Some(size) => Expected::Sized(size),
        None if tunnel && !chunked => Expected::Nothing,
        None => Expected::Open,
    }
}

/// Most bodies come in one part, which is then not copied.
enum Collected {
    Nothing,
    One(Bytes),
    Many(BytesMut),
}

impl Collected {
    fn len(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::One(bytes) => bytes.len(),
            Self::Many(bytes) => bytes.len(),
        }
    }

    fn with(self, part: Bytes) -> Self {
        let mut bytes = match self {
            Self::Nothing => return Self::One(part),
            Self::One(first) => BytesMut::from(first.as_ref()),
            Self::Many(bytes) => bytes,
        };
        bytes.extend_from_slice(&part);
        Self::Many(bytes)
    }

    fn bytes(self) -> Bytes {
        match self {
            Self::Nothing => Bytes::new(),
            Self::One(bytes) => bytes,
            Self::Many(bytes) => bytes.freeze(),
        }
    }
}

/// An answer's body that keeps the unread rest of its request. As long as that lives, actix knows that it must close the
/// connection; once dropped, it would read a chunked body on for as long as the client likes to send one.
pub(crate) struct Held {
    pub(crate) bytes: Bytes,
    pub(crate) _unread: Payload,
}

impl MessageBody for Held {
    type Error = std::convert::Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.bytes.len() as u64)
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let bytes = std::mem::take(&mut self.bytes);
        Poll::Ready((!bytes.is_empty()).then_some(Ok(bytes)))
    }
}
