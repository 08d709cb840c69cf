//! The span of a request, in a process that exports traces. Elsewhere there is none (performance page, rule 19).

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use conduit_trace::{HEADER, TARGET};
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::metrics::known;

/// A span that goes on with the caller's trace, if the request names one.
pub(crate) fn serving(request: &HttpRequest, pattern: &'static str) -> Span {
    if !conduit_trace::is_on() {
        return Span::none();
    }
    let span = info_span!(
        target: TARGET,
        parent: None,
        "request",
        otel.name = %format_args!("{} {pattern}", known(request.method().as_str())),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = known(request.method().as_str()),
        http.route = pattern,
        http.response.status_code = Empty,
        request_id = Empty,
    );
    let caller = request
        .headers()
        .get(HEADER)
        .and_then(|value| value.to_str().ok());
    if let Some(caller) = caller {
        conduit_trace::adopt(&span, caller);
    }
    span
}

/// What came of the request, under the id that the log has it under.
pub(crate) fn served(span: &Span, status: StatusCode, id: &str) {
    span.record("http.response.status_code", status.as_u16());
    span.record("request_id", id);
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
}
