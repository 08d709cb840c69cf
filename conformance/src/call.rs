//! Building one request of a check.

use serde_json::Value;

use crate::answer::Answer;
use crate::ctx::Ctx;
use crate::failure::Failure;
use crate::http::Request;
use crate::log::Certainty;

/// A request that is being put together.
#[derive(Clone, Debug)]
#[must_use = "a call does nothing until it is sent"]
pub struct Call {
    ctx: Ctx,
    pub(crate) request: Request,
    pub(crate) certainty: Certainty,
}

impl Call {
    pub(crate) fn new(ctx: Ctx, method: &str, target: &str) -> Self {
        let request = Request {
            method: method.into(),
            target: target.into(),
            headers: Vec::new(),
            body: None,
        };
        Self {
            ctx,
            request,
            certainty: Certainty::Certain,
        }
    }

    /// Adds `Authorization: Token <token>`.
    pub fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Token {token}"))
    }

    /// Adds a header, exactly as given.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends this as JSON, with `Content-Type: application/json`.
    pub fn json(self, value: &Value) -> Self {
        self.header("Content-Type", "application/json")
            .body(value.to_string())
    }

    /// Sends these bytes, without any content type.
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.request.body = Some(bytes.into());
        self
    }

    /// Says that values in the answer depend on who won an earlier race (which of ten simultaneous updates came last):
    /// when deployments are compared, only status, headers and shape are.
    pub fn raced(mut self) -> Self {
        self.certainty = Certainty::Raced;
        self
    }

    /// Sends it and waits for the answer, which has passed the rules for every answer.
    ///
    /// # Errors
    /// No whole answer came, or it breaks one of these rules.
    pub async fn send(self) -> Result<Answer, Failure> {
        let ctx = self.ctx.clone();
        ctx.perform(self).await
    }

    /// [`Call::send`], and the status is this one.
    ///
    /// # Errors
    /// As for [`Call::send`], or another status.
    pub async fn expect(self, status: u16) -> Result<Answer, Failure> {
        let answer = self.send().await?;
        answer.status(status)?;
        Ok(answer)
    }

    /// [`Call::send`], and the answer is this status with exactly `{"errors":{"<key>":["<message>"]}}`.
    ///
    /// # Errors
    /// As for [`Call::send`], or another status or body.
    pub async fn refused(self, status: u16, key: &str, message: &str) -> Result<Answer, Failure> {
        self.refused_all(status, &[(key, message)]).await
    }

    /// [`Call::refused`] with several keys, in this order.
    ///
    /// # Errors
    /// As for [`Call::refused`].
    pub async fn refused_all(self, status: u16, pairs: &[(&str, &str)]) -> Result<Answer, Failure> {
        let answer = self.expect(status).await?;
        answer.errors(pairs)?;
        Ok(answer)
    }
}
