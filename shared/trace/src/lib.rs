//! How one request stays one trace on its way through several processes: the target that spans are opened under, and the W3C
//! `traceparent`, read from what comes in and written to what goes out. Its companion `tracestate` is not passed on: nobody here
//! adds to it, and clients could make it as long as they like.
//!
//! It must not know an exporter, a route or a peer. Spans exist only where a layer listens to [`TARGET`], which a process adds when it
//! has somewhere to export to (performance page, rule 19); without it opening one costs the look at a flag. Start reading at
//! [`adopt`] and [`traceparent`], which are all there is.

use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::{Level, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The target of every span that is exported, and of nothing else. The log leaves it out.
pub const TARGET: &str = "conduit::trace";

/// The header or metadata that names a trace and the parent in it.
pub const HEADER: &str = "traceparent";

/// Of a `traceparent` of version 00.
const LENGTH: usize = 55;

/// Whether spans are recorded. Ask before opening one that has fields: where a crate turns on the `log` feature of tracing, as
/// actix-web does, they may be made for a span that nobody wants.
pub fn is_on() -> bool {
    tracing::span_enabled!(target: TARGET, Level::INFO)
}

/// The span of the work at hand, to be given to a task of its own; none where nothing is recorded.
pub fn current() -> Span {
    if is_on() { Span::current() } else { Span::none() }
}

/// Makes a span, which was never entered, a child of the one that `traceparent` names. Text that W3C would not write leaves it as
/// it is.
pub fn adopt(span: &Span, traceparent: &str) {
    if span.is_disabled() || !is_well_formed(traceparent) {
        return;
    }
    let caller = TraceContextPropagator::new().extract_with_context(&Context::new(), &Incoming(traceparent));
    // Fails only where no layer exports the span, and then there is no trace to belong to.
    let _not_exported = span.set_parent(caller);
}

/// What makes the span of whoever answers a request a child of this one; `None` if it is not part of a trace.
pub fn traceparent(span: &Span) -> Option<String> {
    if span.is_disabled() {
        return None;
    }
    let mut outgoing = Outgoing(None);
    TraceContextPropagator::new().inject_context(&span.context(), &mut outgoing);
    outgoing.0
}

/// The propagator reads ids of any length, and numbers with a sign. Later versions may add to what version 00 has.
fn is_well_formed(traceparent: &str) -> bool {
    let Some(known) = traceparent.get(..LENGTH) else {
        return false;
    };
    let written = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
    known.bytes().all(written)
        && known.split('-').map(str::len).eq([2, 32, 16, 2])
        && (traceparent.len() == LENGTH || !known.starts_with("00"))
}

struct Incoming<'h>(&'h str);

impl Extractor for Incoming<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        (name == HEADER).then_some(self.0)
    }

    fn keys(&self) -> Vec<&str> {
        vec![HEADER]
    }
}

struct Outgoing(Option<String>);

impl Injector for Outgoing {
    fn set(&mut self, name: &str, value: String) {
        if name == HEADER {
            self.0 = Some(value);
        }
    }
}
