//! The way of a request: steps 0 to 5 of contract 1.8, each in its turn, then the handler within its time, then one event and
//! the response. What comes after step 5 is ordered by the use cases.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::HttpRequest;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use conduit_app::{Articles, Comments, Profiles, Tokens, Users};
use conduit_domain::{AccountId, Body, Clock, Error, Result};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use tokio::time::timeout;
use tracing::{Instrument, Span};

use crate::answer::{Answer, response, with_request_id};
use crate::api::System;
use crate::body::Incoming;
use crate::call::Call;
use crate::log::{Report, RequestId, Severity};
use crate::query::Query;
use crate::route::{Access, Endpoint, Input, Names, Place, Route, Table};
use crate::token;
use crate::trace;

/// Everything that a listener needs to answer a request.
pub(crate) struct Gate {
    pub(crate) table: &'static Table,
    pub(crate) users: Option<Users>,
    pub(crate) profiles: Option<Profiles>,
    pub(crate) articles: Option<Articles>,
    pub(crate) comments: Option<Comments>,
    pub(crate) system: System,
    /// Absent where no route asks who is calling.
    pub(crate) verifier: Option<Verifier>,
    /// How long a handler may take.
    pub(crate) deadline: Duration,
    /// How loud requests that went well are logged.
    pub(crate) severity: Severity,
}

/// Tells whose a token is.
pub(crate) struct Verifier {
    pub(crate) tokens: Tokens,
    pub(crate) clock: Arc<dyn Clock>,
}

type Found<'r> = Option<(&'static Place, Names<'r>)>;

impl Gate {
    /// Answers a request.
    pub(crate) async fn serve(&self, request: ServiceRequest) -> ServiceResponse {
        let started = Instant::now();
        let (request, payload) = request.into_parts();
        let found = self.find(request.uri().path());
        let pattern = found.map_or("unknown", |(place, _)| place.pattern);
        let span = self.span(&request, pattern);
        let mut incoming = Incoming::new(&request, payload);
        let outcome = self
            .answer(&request, found, &mut incoming)
            .instrument(span.clone())
            .await;
        incoming.read_away(self.deadline).await;
        let (response, error) = response(outcome, incoming.unread());
        let report = Report {
            request: &request,
            pattern,
            status: response.status(),
            took: started.elapsed(),
        };
        let id = RequestId::of(&request);
        report.log(&id, error.as_ref(), self.severity);
        self.system.metrics.count(&report);
        trace::served(&span, report.status, id.as_str());
        ServiceResponse::new(request, with_request_id(response, id))
    }

    /// Probes are not traced.
    fn span(&self, request: &HttpRequest, pattern: &'static str) -> Span {
        match self.severity {
            Severity::Info => trace::serving(request, pattern),
            Severity::Debug => Span::none(),
        }
    }

    /// The place of a path, if this process has the area that it belongs to.
    fn find<'r>(&self, path: &'r str) -> Found<'r> {
        let found = self.table.find(path)?;
        found
            .0
            .endpoint()
            .is_some_and(|endpoint| self.has(endpoint))
            .then_some(found)
    }

    async fn answer(
        &self,
        request: &HttpRequest,
        found: Found<'_>,
        incoming: &mut Incoming,
    ) -> Result<Answer> {
        refuse_malformed(request)?;
        if request.method() == Method::OPTIONS {
            return Ok(Answer::preflight());
        }
        let (place, names) = found.ok_or(Error::RouteNotFound)?;
        let route = place
            .route(request.method())
            .ok_or(Error::MethodNotAllowed(&place.allow))?;
        let caller = self.caller(route.access, request)?;
        let (query, page) = asked(route, request)?;
        let bytes = incoming.read().await?;
        let body = match route.input {
            Input::Json => Some(Body::parse(&bytes)?),
            Input::Nothing => None,
        };
        self.handle(
            route.endpoint,
            Call {
                caller,
                names,
                query,
                page,
                body,
            },
        )
        .await
    }

    fn caller(&self, access: Access, request: &HttpRequest) -> Result<Option<AccountId>> {
        if access == Access::Open {
            return Ok(None);
        }
        match token::token(request.headers()) {
            Some(token) => {
                let verifier = self.verifier.as_ref().ok_or(Error::TokenInvalid)?;
                verifier.tokens.verify(token, verifier.clock.now()).map(Some)
            }
            None if access == Access::Required => Err(Error::TokenMissing),
            None => Ok(None),
        }
    }

    /// A handler that takes too long or panics takes nothing down but its own request.
    async fn handle(&self, endpoint: Endpoint, call: Call<'_>) -> Result<Answer> {
        let work = self.start(endpoint, call).ok_or(Error::RouteNotFound)?;
        match timeout(self.deadline, AssertUnwindSafe(work).catch_unwind()).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(panic)) => Err(Error::Internal(panic_text(&*panic).into())),
            Err(_) => Err(Error::Unavailable(
                "the deadline of the request has passed".into(),
            )),
        }
    }

    fn start<'a>(&'a self, endpoint: Endpoint, call: Call<'a>) -> Option<LocalBoxFuture<'a, Result<Answer>>> {
        Some(match endpoint {
            Endpoint::Users(handler) => handler(self.users.as_ref()?, call),
            Endpoint::Profiles(handler) => handler(self.profiles.as_ref()?, call),
            Endpoint::Articles(handler) => handler(self.articles.as_ref()?, call),
            Endpoint::Comments(handler) => handler(self.comments.as_ref()?, call),
            Endpoint::System(handler) => handler(&self.system, call),
        })
    }

    fn has(&self, endpoint: Endpoint) -> bool {
        match endpoint {
            Endpoint::Users(_) => self.users.is_some(),
            Endpoint::Profiles(_) => self.profiles.is_some(),
            Endpoint::Articles(_) => self.articles.is_some(),
            Endpoint::Comments(_) => self.comments.is_some(),
            Endpoint::System(_) => true,
        }
    }
}

/// What no proxy would pass (contract 1.1, 1.2).
fn refuse_malformed(request: &HttpRequest) -> Result<()> {
    if request.uri().path().contains("%00") || token::is_ambiguous(request.headers()) {
        return Err(Error::RequestMalformed);
    }
    Ok(())
}

fn asked<'r>(route: &Route, request: &'r HttpRequest) -> Result<(Query<'r>, Option<conduit_domain::Page>)> {
    let Some(rules) = route.paging else {
        return Ok((Query::default(), None));
    };
    let query = Query::parse(request.uri().query().unwrap_or_default());
    let page = query.page(rules)?;
    Ok((query, Some(page)))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a handler panicked: {}", text.unwrap_or("no message"))
}

#[cfg(test)]
mod tests;
