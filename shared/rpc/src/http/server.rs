//! The answering end: a thin shell over [`Served`]. Errors have a status for the calling end and no body.

use std::fmt;
use std::time::Duration;

use actix_web::http::{StatusCode, header};
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse, guard};

use crate::error::CallError;
use crate::http::DEADLINE_HEADER;
use crate::limits::REQUEST_BYTES;
use crate::methods::{DeletedSince, Find, FollowedBy, FollowedByEach, Follows, IdsBySlugs, Method};
use crate::serve::{SECRET_HEADER, Served, Terms};
use crate::trace;

/// Adds `/internal/v1/…` for what is served; everything else is 404 with an empty body. Meant for an application of its own, behind
/// no public listener.
pub fn configure(config: &mut web::ServiceConfig, served: Served) {
    if served.users.is_some() {
        config.service(resource::<Find>());
    }
    if served.profiles.is_some() {
        config
            .service(resource::<Follows>())
            .service(resource::<FollowedBy>())
            .service(resource::<FollowedByEach>());
    }
    if served.articles.is_some() {
        config
            .service(resource::<IdsBySlugs>())
            .service(resource::<DeletedSince>());
    }
    config
        .app_data(web::Data::new(served))
        .default_service(web::to(HttpResponse::NotFound));
}

fn resource<M: Method>() -> actix_web::Resource {
    web::resource(M::HTTP).guard(guard::Post()).to(handle::<M>)
}

async fn handle<M: Method>(
    request: HttpRequest,
    body: web::Payload,
    served: web::Data<Served>,
) -> HttpResponse {
    let secret = request
        .headers()
        .get(SECRET_HEADER)
        .map(header::HeaderValue::as_bytes);
    if !served.admits(secret, &Caller(&request)) {
        return refused(StatusCode::UNAUTHORIZED);
    }
    let (left, asked) = match read::<M>(&request, body).await {
        Ok(read) => read,
        Err((status, error)) => {
            let _logged = served.judged::<M, ()>(Err(error));
            return refused(status);
        }
    };
    let trace = request
        .headers()
        .get(trace::HEADER)
        .and_then(|value| value.to_str().ok());
    let answer = served.answer::<M>(Terms { left, trace }, asked).await;
    answer.map_or_else(
        |error| HttpResponse::new(status(&error)),
        |answer| encoded(&answer),
    )
}

type Unreadable = (StatusCode, CallError);

async fn read<M: Method>(
    request: &HttpRequest,
    body: web::Payload,
) -> Result<(Option<Duration>, M::Request), Unreadable> {
    let malformed = |error| (StatusCode::BAD_REQUEST, error);
    let left = time_left(request).map_err(malformed)?;
    let body = whole(body).await?;
    let asked = serde_json::from_slice(&body).map_err(|error| malformed(CallError::nonsense(error)))?;
    Ok((left, asked))
}

fn time_left(request: &HttpRequest) -> Result<Option<Duration>, CallError> {
    let Some(value) = request.headers().get(DEADLINE_HEADER) else {
        return Ok(None);
    };
    let milliseconds = value.to_str().ok().and_then(|text| text.parse().ok());
    let left = milliseconds.map(Duration::from_millis);
    left.map(Some)
        .ok_or_else(|| CallError::nonsense("the deadline is no number of milliseconds"))
}

async fn whole(body: web::Payload) -> Result<Bytes, Unreadable> {
    match body.to_bytes_limited(REQUEST_BYTES).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) => Err((StatusCode::BAD_REQUEST, CallError::nonsense(error.to_string()))),
        Err(error) => Err((
            StatusCode::PAYLOAD_TOO_LARGE,
            CallError::nonsense(error.to_string()),
        )),
    }
}

fn encoded(answer: &impl serde::Serialize) -> HttpResponse {
    match serde_json::to_vec(answer) {
        Ok(body) => HttpResponse::Ok()
            .content_type(header::ContentType::json())
            .body(body),
        Err(_) => HttpResponse::new(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// The body may be unread, so nothing else can come over this connection.
fn refused(status: StatusCode) -> HttpResponse {
    HttpResponse::build(status).force_close().finish()
}

fn status(error: &CallError) -> StatusCode {
    match error {
        CallError::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        CallError::Nonsense(_) => StatusCode::BAD_REQUEST,
        // Refused: by a peer that this one asks in turn.
        CallError::Failed(_) | CallError::Unreachable(_) | CallError::Refused => {
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}

/// Where a request comes from.
struct Caller<'a>(&'a HttpRequest);

impl fmt::Display for Caller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.peer_addr() {
            Some(address) => address.fmt(f),
            None => f.write_str("unix socket"),
        }
    }
}
