//! One request through the split is one trace: its W3C trace context (`traceparent`) goes along with every call.
//!
//! Spans are opened only after [`install`] (performance page, rule 19), which belongs to whoever sets up the exporter; this crate knows
//! no exporter. With `tracing-opentelemetry` the hooks are a few lines: `inject` writes `span.context()` with the
//! `TraceContextPropagator`, `adopt` reads it back and calls `span.set_parent`.

use std::sync::OnceLock;

use tracing::Span;

use crate::methods::Method;

/// The header or metadata that carries the context.
pub(crate) const HEADER: &str = "traceparent";

static HOOKS: OnceLock<Hooks> = OnceLock::new();

/// How a trace context gets out of a span and into one.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// The `traceparent` that makes a peer's span a child of this one; `None` outside a trace. Visible ASCII.
    pub inject: fn(&Span) -> Option<String>,
    /// Makes this span, which was never entered, a child of what the caller sent. The text may be anything.
    pub adopt: fn(&Span, &str),
}

/// Turns tracing of calls on, for the process and for good. False if that was done before: the first hooks stay.
pub fn install(hooks: Hooks) -> bool {
    HOOKS.set(hooks).is_ok()
}

/// A span for a call about to be made; none without an exporter.
pub(crate) fn calling<M: Method>() -> Span {
    match HOOKS.get() {
        Some(_) => tracing::info_span!(
            "call",
            otel.kind = "client",
            rpc.service = M::PEER,
            rpc.method = M::NAME
        ),
        None => Span::none(),
    }
}

/// What to send with a call made in the current span.
pub(crate) fn context() -> Option<String> {
    HOOKS.get().and_then(|hooks| (hooks.inject)(&Span::current()))
}

/// A span for a call to be answered, as a child of what came with it; none without an exporter.
pub(crate) fn answering<M: Method>(context: Option<&str>) -> Span {
    let Some(hooks) = HOOKS.get() else {
        return Span::none();
    };
    let (kind, peer, method) = ("server", M::PEER, M::NAME);
    let span = tracing::info_span!(parent: None, "answer", otel.kind = kind, rpc.service = peer, rpc.method = method);
    if let Some(context) = context {
        (hooks.adopt)(&span, context);
    }
    span
}

/// The span at hand, for work that another task does on its behalf; none without an exporter.
pub(crate) fn current() -> Span {
    HOOKS.get().map_or_else(Span::none, |_| Span::current())
}
