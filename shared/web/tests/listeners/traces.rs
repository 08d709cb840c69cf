//! The span of a request, where somebody listens to it.

use conduit_trace::TARGET;
use opentelemetry::trace::{SpanId, SpanKind, Status, TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing_subscriber::layer::SubscriberExt;

use super::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Its work has a span.
struct Traced;

#[async_trait]
impl Readiness for Traced {
    async fn ready(&self) -> bool {
        tracing::info_span!(target: TARGET, "work").in_scope(|| true)
    }
}

/// The spans that a request leaves, inner ones first.
async fn spans(configure: impl FnOnce(&mut ServiceConfig), request: TestRequest) -> Vec<SpanData> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("test"))
        .with_context_activation(false);
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    ask(configure, vec![request]).await;
    exporter.get_finished_spans().unwrap()
}

fn attribute(span: &SpanData, name: &str) -> Option<String> {
    let mut found = span.attributes.iter();
    let found = found.find(|attribute| attribute.key.as_str() == name)?;
    Some(found.value.to_string())
}

#[actix_web::test]
async fn a_request_goes_on_with_its_callers_trace_and_its_work_belongs_to_it() {
    let request = TestRequest::with_uri("/readyz?x=1")
        .insert_header(("traceparent", PARENT))
        .insert_header(("x-request-id", "quoted"));
    let spans = spans(public(Traced), request).await;
    let [work, request] = &spans[..] else {
        panic!("{spans:?}")
    };
    assert_eq!(request.span_context.trace_id().to_string(), TRACE);
    assert_eq!(request.parent_span_id.to_string(), "00f067aa0ba902b7");
    assert_eq!(
        (&*request.name, &request.span_kind),
        ("GET /readyz", &SpanKind::Server)
    );
    for (name, value) in [
        ("http.request.method", "GET"),
        ("http.route", "/readyz"),
        ("http.response.status_code", "200"),
        ("request_id", "quoted"),
    ] {
        assert_eq!(attribute(request, name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(work.parent_span_id, request.span_context.span_id());
    assert_eq!(work.span_context.trace_id(), request.span_context.trace_id());
}

#[actix_web::test]
async fn a_request_that_nobody_traces_begins_a_trace() {
    for header in [
        "",
        "00-1-2-3",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    ] {
        let request = TestRequest::with_uri("/nope").insert_header(("traceparent", header));
        let spans = spans(public(Says(Some(true))), request).await;
        let [request] = &spans[..] else {
            panic!("{spans:?}")
        };
        assert_eq!(request.name, "GET unknown");
        assert_eq!(request.parent_span_id, SpanId::INVALID);
        assert_eq!(request.status, Status::Unset);
    }
}

#[actix_web::test]
async fn a_failure_of_ours_is_one_in_the_trace() {
    let spans = spans(public(Says(None)), TestRequest::with_uri("/readyz")).await;
    let [request] = &spans[..] else {
        panic!("{spans:?}")
    };
    assert!(
        matches!(request.status, Status::Error { .. }),
        "{:?}",
        request.status
    );
    assert_eq!(
        attribute(request, "http.response.status_code").as_deref(),
        Some("503")
    );
}

#[actix_web::test]
async fn probes_are_not_traced() {
    let request = TestRequest::with_uri("/healthz").insert_header(("traceparent", PARENT));
    let spans = spans(operations(Says(Some(true)), Metrics::default()), request).await;
    assert!(spans.is_empty(), "{spans:?}");
}
