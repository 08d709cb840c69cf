//! Trace contexts in and out.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

use conduit_trace::{TARGET, adopt, traceparent};
use opentelemetry::trace::{SpanId, TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing_subscriber::layer::SubscriberExt;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// The spans of a request with this header, and what it would send to a peer.
fn request(header: &str) -> (Vec<SpanData>, Option<String>) {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("test"))
        .with_context_activation(false);
    let subscriber = tracing_subscriber::registry().with(layer);
    let sent = tracing::subscriber::with_default(subscriber, || {
        let span = tracing::info_span!(target: TARGET, "request");
        adopt(&span, header);
        traceparent(&span)
    });
    (exporter.get_finished_spans().unwrap(), sent)
}

#[test]
fn a_request_goes_on_with_its_callers_trace_and_hands_it_on() {
    let (spans, sent) = request(PARENT);
    assert_eq!(spans.len(), 1);
    let here = &spans[0];
    assert_eq!(here.span_context.trace_id().to_string(), TRACE);
    assert_eq!(here.parent_span_id.to_string(), "00f067aa0ba902b7");
    let expected = format!("00-{TRACE}-{}-01", here.span_context.span_id());
    assert_eq!(sent, Some(expected));
}

#[test]
fn a_later_version_may_say_more() {
    let (spans, _) = request(&format!("01{}-more", &PARENT[2..]));
    assert_eq!(spans[0].span_context.trace_id().to_string(), TRACE);
}

#[test]
fn what_is_no_context_begins_a_trace() {
    for header in [
        "",
        "x",
        "00-1-2-01",
        "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        &"00-".repeat(10_000),
    ] {
        let (spans, _) = request(header);
        assert_eq!(spans.len(), 1, "{header}");
        assert_eq!(spans[0].parent_span_id, SpanId::INVALID, "{header}");
        assert_ne!(spans[0].span_context.trace_id().to_string(), TRACE, "{header}");
    }
}

#[test]
fn a_caller_that_does_not_record_is_not_recorded_and_the_next_is_told_so() {
    let (spans, sent) = request(&format!("{}00", &PARENT[..PARENT.len() - 2]));
    assert_eq!(spans.len(), 0);
    let sent = sent.unwrap();
    assert!(
        sent.starts_with(&format!("00-{TRACE}-")) && sent.ends_with("-00"),
        "{sent}"
    );
}
