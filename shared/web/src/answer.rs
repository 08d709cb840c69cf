//! What a handler gives back, and how it becomes an HTTP response with the headers that every response carries.

use actix_web::HttpResponse;
use actix_web::body::BoxBody;
use actix_web::dev::Payload;
use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue,
};
use actix_web::http::{ConnectionType, StatusCode};
use actix_web::web::Bytes;
use conduit_domain::{Error, Result};

use crate::body::Held;
use crate::error::Failure;
use crate::log::{REQUEST_ID, RequestId};
use crate::view::View;

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// A successful answer (or one that only says it is not ready).
pub(crate) struct Answer {
    status: StatusCode,
    content: Content,
}

enum Content {
    Nothing,
    Preflight,
    Body {
        kind: HeaderValue,
        bytes: Bytes,
        gzipped: bool,
    },
}

impl Answer {
    /// 200 with a view.
    ///
    /// # Errors
    /// [`Error::Internal`] if it cannot be written as JSON.
    pub(crate) fn ok(view: &impl View) -> Result<Self> {
        Self::view(StatusCode::OK, view)
    }

    /// 201 with a view.
    ///
    /// # Errors
    /// [`Error::Internal`] if it cannot be written as JSON.
    pub(crate) fn created(view: &impl View) -> Result<Self> {
        Self::view(StatusCode::CREATED, view)
    }

    /// 204, without body and content type (contract 1.4).
    pub(crate) fn no_content() -> Self {
        Self {
            status: StatusCode::NO_CONTENT,
            content: Content::Nothing,
        }
    }

    /// The answer to every `OPTIONS` (contract 1.10).
    pub(crate) fn preflight() -> Self {
        Self {
            status: StatusCode::OK,
            content: Content::Preflight,
        }
    }

    /// JSON that is there already.
    pub(crate) fn json(status: StatusCode, bytes: Bytes) -> Self {
        Self {
            status,
            content: Content::Body {
                kind: JSON,
                bytes,
                gzipped: false,
            },
        }
    }

    /// A page.
    pub(crate) fn html(page: &'static str) -> Self {
        Self::file(HTML, Bytes::from_static(page.as_bytes()), false)
    }

    /// Anything else.
    pub(crate) fn file(kind: HeaderValue, bytes: Bytes, gzipped: bool) -> Self {
        Self {
            status: StatusCode::OK,
            content: Content::Body { kind, bytes, gzipped },
        }
    }

    fn view(status: StatusCode, view: &impl View) -> Result<Self> {
        let mut bytes = Vec::with_capacity(view.roughly());
        serde_json::to_writer(&mut bytes, view).map_err(|error| Error::Internal(Box::new(error)))?;
        Ok(Self::json(status, bytes.into()))
    }
}

/// The response to a request, and the error that it tells of; `unread` is what the client may still be sending.
pub(crate) fn response(outcome: Result<Answer>, unread: Option<Payload>) -> (HttpResponse, Option<Error>) {
    match outcome {
        Ok(answer) => (success(answer, unread), None),
        Err(error) => (failure(Failure::from(&error), unread), Some(error)),
    }
}

fn success(answer: Answer, unread: Option<Payload>) -> HttpResponse {
    match answer.content {
        Content::Nothing => bare(answer.status, Bytes::new(), unread),
        Content::Preflight => preflight(bare(answer.status, Bytes::new(), unread)),
        Content::Body { kind, bytes, gzipped } => {
            let mut response = bare(answer.status, bytes, unread);
            response.headers_mut().insert(CONTENT_TYPE, kind);
            if gzipped {
                response
                    .headers_mut()
                    .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
            response
        }
    }
}

fn preflight(mut response: HttpResponse) -> HttpResponse {
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET,HEAD,POST,PUT,DELETE,OPTIONS"),
        (
            ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization,content-type,x-requested-with",
        ),
        (ACCESS_CONTROL_MAX_AGE, "86400"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

fn failure(failure: Failure, unread: Option<Payload>) -> HttpResponse {
    let mut response = bare(failure.status, failure.body, unread);
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    if let Some((name, value)) = failure.header {
        response.headers_mut().insert(name, value);
    }
    response
}

/// A response with what every one carries (contract 1.10).
fn bare(status: StatusCode, bytes: Bytes, unread: Option<Payload>) -> HttpResponse {
    let close = unread.is_some();
    let body = match unread {
        None => BoxBody::new(bytes),
        Some(unread) => BoxBody::new(Held {
            bytes,
            _unread: unread,
        }),
    };
    let mut response = HttpResponse::with_body(status, body);
    response
        .headers_mut()
        .insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    if close {
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    response
}

/// Lets a client quote the request.
pub(crate) fn with_request_id(mut response: HttpResponse, id: RequestId) -> HttpResponse {
    response
        .headers_mut()
        .insert(HeaderName::from_static(REQUEST_ID), id.into());
    response
}
