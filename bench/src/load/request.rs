//! One request and what came of it.

use bytes::Bytes;
use http::{HeaderValue, Method};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Under which its answers are counted.
    pub(super) route: &'static str,
    pub(super) method: Method,
    /// Path and query.
    pub(super) target: String,
    /// The whole `Authorization`.
    pub(super) token: Option<HeaderValue>,
    pub(super) body: Bytes,
    /// What a good answer leads to.
    pub(super) then: Then,
}

/// What follows a good answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    /// Delete the comment that was made on this article.
    DeleteComment,
    /// Change the article that was published, and delete it.
    DeleteArticle,
    /// Read on in this list.
    Open,
}

/// What came of it.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// A status, with the whole body.
    Status(u16, Bytes),
    /// None in time.
    TimedOut,
    /// No connection, or it broke.
    Broken,
    /// This end may open no more files, so nothing was sent: no fault of the deployment.
    Unsent,
}

impl Request {
    pub(super) fn get(route: &'static str, target: impl Into<String>) -> Self {
        Self {
            route,
            method: Method::GET,
            target: target.into(),
            token: None,
            body: Bytes::new(),
            then: Then::Nothing,
        }
    }

    pub(super) fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    pub(super) fn token(mut self, token: Option<&HeaderValue>) -> Self {
        self.token = token.cloned();
        self
    }

    pub(super) fn json(mut self, body: &Value) -> Self {
        self.body = body.to_string().into();
        self
    }

    pub(super) fn then(mut self, then: Then) -> Self {
        self.then = then;
        self
    }

    pub(super) fn log_in(email: &str, password: &str) -> Self {
        Self::get("login", "/api/users/login")
            .method(Method::POST)
            .json(&json!({"user": {"email": email, "password": password}}))
    }
}

impl Answer {
    /// The body of a 2xx.
    pub(super) fn good(&self) -> Option<&Bytes> {
        match self {
            Self::Status(200..=299, body) => Some(body),
            _ => None,
        }
    }

    /// The JSON of a 2xx.
    pub(super) fn value(&self) -> Option<Value> {
        serde_json::from_slice(self.good()?).ok()
    }
}

/// As a path segment or a query value.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, KEPT).to_string()
}
