//! One request through the split is one trace: its W3C trace context (`traceparent`) goes along with every call.
//!
//! Spans are opened only in a process that exports them (performance page, rule 19), and only for calls that belong to a trace: what
//! a service asks for by itself, every few seconds, would drown the rest.

use conduit_trace::{TARGET, is_on};
use tracing::{Span, info_span};

use crate::methods::Method;

pub(crate) use conduit_trace::{HEADER, current};

/// A span for a call about to be made on behalf of the one at hand.
pub(crate) fn calling<M: Method>() -> Span {
    if current().is_none() {
        return Span::none();
    }
    info_span!(
        target: TARGET,
        "call",
        otel.name = %format_args!("{}/{}", M::PEER, M::NAME),
        otel.kind = "client",
        otel.status_code = tracing::field::Empty,
        rpc.service = M::PEER,
        rpc.method = M::NAME,
    )
}

/// What to send with a call made in the current span.
pub(crate) fn context() -> Option<String> {
    conduit_trace::traceparent(&current())
}

/// A span for a call to be answered, as a child of what came with it.
pub(crate) fn answering<M: Method>(context: Option<&str>) -> Span {
    let Some(context) = context.filter(|_| is_on()) else {
        return Span::none();
    };
    let span = info_span!(
        target: TARGET,
        parent: None,
        "answer",
        otel.name = %format_args!("{}/{}", M::PEER, M::NAME),
        otel.kind = "server",
        otel.status_code = tracing::field::Empty,
        rpc.service = M::PEER,
        rpc.method = M::NAME,
    );
    conduit_trace::adopt(&span, context);
    span
}

/// Marks the span of a call that came to nothing.
pub(crate) fn judge<T, E>(span: &Span, result: &Result<T, E>) {
    if result.is_err() {
        span.record("otel.status_code", "ERROR");
    }
}
