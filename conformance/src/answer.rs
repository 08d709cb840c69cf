//! An answer and what a check can demand of it. Every demand that is not met becomes a failure about this exchange.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use crate::failure::Failure;
use crate::http::Response;
use crate::json::{self, Json};
use crate::log::Exchange;
use crate::mask;
use crate::shape::{self, Article, Articles, Comment, Misfit, Profile, User};

/// An answer that has already passed the rules for every answer.
#[derive(Clone, Debug)]
pub struct Answer {
    exchange: Arc<Exchange>,
    response: Response,
}

impl Answer {
    pub(crate) fn new(exchange: Arc<Exchange>, response: Response) -> Self {
        Self { exchange, response }
    }

    /// The status.
    pub fn code(&self) -> u16 {
        self.response.status
    }

    /// The body's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.response.body
    }

    /// The first value of a header, if it is there.
    pub fn header(&self, name: &str) -> Option<String> {
        self.response.headers.first(name)
    }

    /// The headers that are equal wherever an answer is equal, as `name: value` lines, sorted: all but those that
    /// contract 1.12 calls volatile.
    pub fn steady_headers(&self) -> Vec<String> {
        mask::headers(&self.response.headers)
    }

    /// A header's comma-separated members as a set, letter case kept.
    pub fn header_set(&self, name: &str) -> BTreeSet<String> {
        let values = self
            .response
            .headers
            .all(name)
            .into_iter()
            .map(String::from_utf8_lossy);
        let split = |value: std::borrow::Cow<'_, str>| -> Vec<String> {
            value.split(',').map(|member| member.trim().to_owned()).collect()
        };
        values.flat_map(split).collect()
    }

    /// The failure, about this exchange.
    pub fn fail(&self, failure: Failure) -> Failure {
        failure.about(&self.exchange)
    }

    /// The status is this one.
    ///
    /// # Errors
    /// Another status came.
    pub fn status(&self, expected: u16) -> Result<&Self, Failure> {
        match self.code() {
            code if code == expected => Ok(self),
            code => Err(self.fail(Failure::told(format!("status {expected} expected, {code} came")))),
        }
    }

    /// The body is exactly these bytes.
    ///
    /// # Errors
    /// Other bytes came.
    pub fn exact(&self, expected: impl AsRef<[u8]>) -> Result<&Self, Failure> {
        let expected = expected.as_ref();
        match self.bytes() == expected {
            true => Ok(self),
            false => Err(self.fail(Failure::differs("the body", expected, self.bytes()))),
        }
    }

    /// The body is exactly `{"errors":{"<key>":["<message>"]}}`.
    ///
    /// # Errors
    /// Other bytes came.
    pub fn error(&self, key: &str, message: &str) -> Result<&Self, Failure> {
        self.errors(&[(key, message)])
    }

    /// The body is exactly an errors object with these keys and messages, in this order.
    ///
    /// # Errors
    /// Other bytes came.
    pub fn errors(&self, pairs: &[(&str, &str)]) -> Result<&Self, Failure> {
        let entries: Vec<String> = pairs
            .iter()
            .map(|(key, message)| format!(r#""{key}":["{message}"]"#))
            .collect();
        self.exact(format!(r#"{{"errors":{{{}}}}}"#, entries.join(",")))
    }

    /// The header is there once with exactly this value.
    ///
    /// # Errors
    /// It is missing, repeated or different.
    pub fn has_header(&self, name: &str, expected: &str) -> Result<&Self, Failure> {
        let found = self.response.headers.all(name);
        match found.as_slice() {
            [one] if *one == expected.as_bytes() => Ok(self),
            [one] => Err(self.fail(Failure::differs(format!("the header {name}"), expected, *one))),
            other => Err(self.fail(Failure::told(format!(
                "the header `{name}: {expected}` came {} times",
                other.len()
            )))),
        }
    }

    /// The two values are equal. `what` names them in the failure.
    ///
    /// # Errors
    /// They are not.
    // Values by name at the call, not by reference: it is read more often than anything else here.
    #[allow(clippy::needless_pass_by_value)]
    pub fn same<A, B>(&self, what: &str, came: A, expected: B) -> Result<&Self, Failure>
    where
        A: PartialEq<B> + Debug,
        B: Debug,
    {
        match came == expected {
            true => Ok(self),
            false => Err(self.fail(Failure::differs(
                what,
                format!("{expected:?}"),
                format!("{came:?}"),
            ))),
        }
    }

    /// The statement holds. `what` says it as it should be.
    ///
    /// # Errors
    /// It does not.
    pub fn holds(&self, what: &str, statement: bool) -> Result<&Self, Failure> {
        match statement {
            true => Ok(self),
            false => Err(self.fail(Failure::told(format!("does not hold: {what}")))),
        }
    }

    /// The element at this place of a list from this answer.
    ///
    /// # Errors
    /// The list is shorter.
    pub fn nth<'a, T>(&self, list: &'a [T], at: usize) -> Result<&'a T, Failure> {
        let short = || {
            Failure::told(format!(
                "an element at place {at} expected, the list has {}",
                list.len()
            ))
        };
        list.get(at).ok_or_else(|| self.fail(short()))
    }

    /// The body as JSON, order kept.
    ///
    /// # Errors
    /// It is none.
    pub fn json(&self) -> Result<Json, Failure> {
        let parsed = json::parse(self.bytes());
        parsed
            .map(|document| document.value)
            .map_err(|remark| self.fail(Failure::told(format!("the body is not JSON: {remark}"))))
    }

    fn shaped<T>(&self, read: fn(&Json) -> Result<T, Misfit>) -> Result<T, Failure> {
        read(&self.json()?).map_err(|misfit| self.fail(Failure::told(misfit)))
    }

    /// The body as User (contract 1.5).
    ///
    /// # Errors
    /// It is none.
    pub fn user(&self) -> Result<User, Failure> {
        self.shaped(shape::user)
    }

    /// The body as Profile.
    ///
    /// # Errors
    /// It is none.
    pub fn profile(&self) -> Result<Profile, Failure> {
        self.shaped(shape::profile)
    }

    /// The body as Article.
    ///
    /// # Errors
    /// It is none.
    pub fn article(&self) -> Result<Article, Failure> {
        self.shaped(shape::article)
    }

    /// The body as Article list.
    ///
    /// # Errors
    /// It is none.
    pub fn articles(&self) -> Result<Articles, Failure> {
        self.shaped(shape::articles)
    }

    /// The body as Comment.
    ///
    /// # Errors
    /// It is none.
    pub fn comment(&self) -> Result<Comment, Failure> {
        self.shaped(shape::comment)
    }

    /// The body as Comment list.
    ///
    /// # Errors
    /// It is none.
    pub fn comments(&self) -> Result<Vec<Comment>, Failure> {
        self.shaped(shape::comments)
    }

    /// The body as Tags.
    ///
    /// # Errors
    /// It is none.
    pub fn tags(&self) -> Result<Vec<String>, Failure> {
        self.shaped(shape::tags)
    }
}
