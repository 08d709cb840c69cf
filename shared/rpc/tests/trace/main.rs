//! One request through the split is one trace. A program of its own, because the exporter listens to all of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

#[path = "../rpc/server.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod server;
#[path = "../rpc/world.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod world;

use std::sync::Arc;
use std::time::Duration;

use conduit_domain::AccountId;
use conduit_rpc::{CallSettings, FindUsers, Peers, UsersApi};
use opentelemetry::trace::{SpanId, SpanKind, Status, TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing::{Instrument, Span, info_span};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::server::{Server, Socket, TRANSPORTS, settings};
use crate::world::{Mood, World, small};

/// No test waits for this long; it only ends one that would hang.
async fn in_time<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("the test hangs")
}

fn request(name: &'static str) -> Span {
    info_span!(target: conduit_trace::TARGET, "request", otel.name = name)
}

async fn ask(peers: &Peers, span: Span) -> bool {
    let wanted = FindUsers {
        ids: vec![AccountId(1_000_001)],
        names: Vec::new(),
    };
    let users: Arc<dyn UsersApi> = Arc::clone(&peers.users);
    async move { users.find(wanted).await.is_ok() }
        .instrument(span)
        .await
}

/// The span of a request, of the call that it made, and of the peer's answer.
struct Trace {
    request: SpanData,
    call: SpanData,
    answer: SpanData,
}

fn trace(spans: &[SpanData], name: &str) -> Trace {
    let request = spans.iter().find(|span| span.name == name).unwrap();
    let of = |kind: SpanKind| {
        let trace = request.span_context.trace_id();
        let mut found = spans
            .iter()
            .filter(|span| span.span_context.trace_id() == trace && span.span_kind == kind);
        let span = found.next().unwrap_or_else(|| panic!("{name}: no {kind:?}"));
        assert!(found.next().is_none(), "{name}: two of {kind:?}");
        span.clone()
    };
    Trace {
        request: request.clone(),
        call: of(SpanKind::Client),
        answer: of(SpanKind::Server),
    }
}

fn assert_one_below_the_other(
    Trace {
        request,
        call,
        answer,
    }: &Trace,
) {
    assert_eq!((&*call.name, &*answer.name), ("users/find", "users/find"));
    assert_eq!(request.parent_span_id, SpanId::INVALID);
    assert_eq!(call.parent_span_id, request.span_context.span_id());
    assert_eq!(answer.parent_span_id, call.span_context.span_id());
    assert!(answer.parent_span_is_remote && !call.parent_span_is_remote);
}

/// All in one test: what is exported is one list for the whole program.
#[tokio::test]
async fn a_call_and_its_answer_belong_to_the_trace_of_the_request() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("test"))
        .with_context_activation(false)
        .with_filter(Targets::new().with_target(conduit_trace::TARGET, LevelFilter::INFO));
    tracing_subscriber::registry().with(layer).init();
    for transport in TRANSPORTS {
        exporter.reset();
        let way = (transport, Socket::Tcp);
        let server = Server::start(way, &small());
        let batching = CallSettings {
            batching: true,
            ..settings()
        };
        let peers = server.peers(&batching);
        // The first goes at once, the others queue behind it and leave together.
        let asked = async {
            tokio::join!(
                ask(&peers, request("first")),
                ask(&peers, request("second")),
                ask(&peers, request("third")),
            )
        };
        assert_eq!(in_time(asked).await, (true, true, true));
        // What is asked for outside of a request belongs to nothing.
        assert!(in_time(ask(&peers, Span::none())).await);
        assert_eq!(server.counts.answers("users", "find"), 3);
        drop(server);
        let spans = exporter.get_finished_spans().unwrap();
        for name in ["first", "second"] {
            let trace = trace(&spans, name);
            assert_one_below_the_other(&trace);
            assert_eq!(trace.call.status, Status::Unset);
        }
        assert_eq!(spans.len(), 3 + 2 * 2, "{transport:?}");

        exporter.reset();
        let failing = Arc::new(World {
            mood: Mood::Failing,
            ..World::default()
        });
        let server = Server::start(way, &failing);
        let peers = server.peers(&settings());
        assert!(!in_time(ask(&peers, request("failed"))).await);
        drop(server);
        let trace = trace(&exporter.get_finished_spans().unwrap(), "failed");
        assert_one_below_the_other(&trace);
        assert!(
            matches!(trace.call.status, Status::Error { .. }),
            "{:?}",
            trace.call.status
        );
        assert!(matches!(trace.answer.status, Status::Error { .. }));
    }
}
