//! One request through the split is one trace.

use std::collections::BTreeSet;
use std::sync::Mutex;

use conduit_domain::AccountId;
use conduit_rpc::trace::{Hooks, install};
use conduit_rpc::{CallSettings, FindUsers, Transport};
use tracing::{Instrument, Span, info_span};
use tracing_subscriber::Registry;
use tracing_subscriber::registry::LookupSpan;

use crate::in_time;
use crate::server::{Server, Socket, settings};
use crate::world::small;

/// What came with the calls that were answered.
static ADOPTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The names of the span and those around it, outermost first. A context only has to be one line.
fn names(span: &Span) -> Option<String> {
    let names = span.with_subscriber(|(id, dispatch)| {
        let span = dispatch.downcast_ref::<Registry>()?.span(id)?;
        Some(
            span.scope()
                .from_root()
                .map(|span| span.name())
                .collect::<Vec<_>>()
                .join("/"),
        )
    });
    names.flatten()
}

fn adopt(_: &Span, context: &str) {
    ADOPTED.lock().unwrap().push(context.to_owned());
}

#[tokio::test]
async fn a_call_carries_the_trace_of_its_request_also_in_a_batch() {
    // The spans of this thread only; the other tests have none, and so no context.
    let _subscribed = tracing::subscriber::set_default(Registry::default());
    install(Hooks { inject: names, adopt });
    for (transport, first, second) in [
        (
            Transport::Http,
            info_span!("http_first"),
            info_span!("http_second"),
        ),
        (
            Transport::Grpc,
            info_span!("grpc_first"),
            info_span!("grpc_second"),
        ),
    ] {
        let server = Server::start((transport, Socket::Tcp), &small());
        let peers = server.peers(&CallSettings {
            batching: true,
            ..settings()
        });
        let ask = |span: &Span| {
            let wanted = FindUsers {
                ids: vec![AccountId(1_000_001)],
                names: Vec::new(),
            };
            let users = peers.users.clone();
            async move { users.find(wanted).await.unwrap() }.instrument(span.clone())
        };
        // The first goes at once, the others queue behind it and leave together.
        in_time(async { tokio::join!(ask(&first), ask(&second), ask(&first)) }).await;
    }
    let adopted: BTreeSet<_> = ADOPTED.lock().unwrap().drain(..).collect();
    let expected = [
        "http_first/call",
        "http_second/call",
        "grpc_first/call",
        "grpc_second/call",
    ];
    assert_eq!(adopted, expected.map(str::to_owned).into());
}
