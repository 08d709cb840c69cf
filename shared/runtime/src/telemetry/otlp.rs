//! Traces to a collector: OTLP, protobuf over HTTP.
//!
//! Finished spans wait in a bounded queue (2048, `OTEL_BSP_MAX_QUEUE_SIZE`) for a thread that sends them in batches; a full
//! queue drops them. The variables of the OpenTelemetry specification for samplers, batches, headers and resources hold.

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use hyper_rustls::HttpsConnectorBuilder;
use opentelemetry::Key;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use rustls::crypto::ring;
use tokio::runtime::{Builder, Runtime};
use tracing::Subscriber;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

use crate::settings::TraceArgs;

/// A collector that takes longer for a batch is given up.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// What still waits at the end has this long.
const STOP_WAIT: Duration = Duration::from_secs(3);

/// The running export. Dropping it sends what still waits.
#[derive(Debug)]
pub(super) struct Traces {
    provider: SdkTracerProvider,
    stop_wait: Duration,
}

/// Why there are no traces.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// A setting that OpenTelemetry cannot use.
    #[error("traces cannot be exported: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// The machine has no certificates to trust.
    #[error("traces cannot be sent over https: {0}")]
    Certificates(#[from] io::Error),
}

impl Traces {
    /// Nothing where no collector is set.
    pub(super) fn start(args: &TraceArgs) -> Result<Option<Self>, TracesError> {
        let Some(endpoint) = args.endpoint() else {
            return Ok(None);
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::at(&endpoint)?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(endpoint)
            .build()?;
        let provider = SdkTracerProvider::builder()
            .with_resource(resource(args.otel_service_name.as_deref()))
            .with_batch_exporter(exporter)
            .build();
        Ok(Some(Self {
            provider,
            stop_wait: STOP_WAIT,
        }))
    }

    /// Listens to the spans that are meant for it, and to no event.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("conduit"))
            .with_context_activation(false)
            .with_tracked_inactivity(false)
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_level(false)
            .with_filter(Targets::new().with_target(conduit_trace::TARGET, LevelFilter::INFO))
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown_with_timeout(self.stop_wait) {
            tracing::warn!(%error, "the last traces may be lost");
        }
    }
}

/// The connection to a collector, with a runtime of its own: the thread that sends has none.
#[derive(Debug)]
struct Collector {
    client: Box<dyn HttpClient>,
    /// Made by that thread, which never drops it: a runtime must not be dropped inside another.
    runtime: OnceLock<io::Result<Runtime>>,
}

impl Collector {
    fn at(endpoint: &str) -> io::Result<Self> {
        let client: Box<dyn HttpClient> = if endpoint.starts_with("https:") {
            let connector = HttpsConnectorBuilder::new()
                .with_provider_and_native_roots(ring::default_provider())?
                .https_only()
                .enable_http1()
                .build();
            Box::new(HyperClient::new(connector, SEND_TIMEOUT, None))
        } else {
            Box::new(HyperClient::with_default_connector(SEND_TIMEOUT, None))
        };
        let runtime = OnceLock::new();
        Ok(Self { client, runtime })
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let make = || Builder::new_current_thread().enable_all().build();
        match self.runtime.get_or_init(make) {
            Ok(runtime) => runtime.block_on(self.client.send_bytes(request)),
            Err(error) => Err(error.to_string().into()),
        }
    }
}

/// Named as set, else as in `OTEL_RESOURCE_ATTRIBUTES`, else by the program.
fn resource(name: Option<&str>) -> Resource {
    let detected = Resource::builder().build();
    let found = detected.get(&Key::from_static_str("service.name"));
    let found = found.map(|name| name.to_string()).unwrap_or_default();
    let name = name.unwrap_or_else(|| found.strip_prefix("unknown_service:").unwrap_or(&found));
    Resource::builder().with_service_name(name.to_owned()).build()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use tracing::info_span;
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::registry;

    use super::*;

    fn traces(collector: &TcpListener) -> Traces {
        let address = collector.local_addr().unwrap();
        let args = TraceArgs {
            otlp_endpoint: Some(format!("http://{address}")),
            otlp_traces_endpoint: None,
            otel_service_name: Some("the name of the service".into()),
        };
        Traces::start(&args).unwrap().unwrap()
    }

    /// The first line of a request and its body, once the request is answered.
    fn answered(stream: &mut TcpStream) -> (String, Vec<u8>) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line == "\r\n" {
                break;
            }
            head.push(line.trim_end().to_lowercase());
        }
        let mut lengths = head
            .iter()
            .filter_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; lengths.next().unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
            .unwrap();
        (head.remove(0), body)
    }

    fn contains(body: &[u8], text: &str) -> bool {
        body.windows(text.len()).any(|part| part == text.as_bytes())
    }

    #[tokio::test]
    async fn spans_reach_the_collector_at_the_latest_when_the_process_ends() {
        let collector = TcpListener::bind("127.0.0.1:0").unwrap();
        let traces = traces(&collector);
        let received = thread::spawn(move || answered(&mut collector.accept().unwrap().0));
        tracing::subscriber::with_default(registry().with(traces.layer()), || {
            info_span!(target: conduit_trace::TARGET, "of a request").in_scope(|| {
                info_span!("of a library").in_scope(|| tracing::error!("an event"));
            });
        });
        drop(traces);
        let (line, body) = received.join().unwrap();
        assert_eq!(line, "post /v1/traces http/1.1");
        assert!(contains(&body, "the name of the service"));
        assert!(contains(&body, "of a request"));
        assert!(!contains(&body, "of a library") && !contains(&body, "an event"));
    }

    #[tokio::test]
    async fn a_collector_that_never_answers_holds_up_neither_requests_nor_the_end() {
        let collector = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut traces = traces(&collector);
        traces.stop_wait = Duration::from_millis(1);
        tracing::subscriber::with_default(registry().with(traces.layer()), || {
            // More than wait in the queue.
            for _ in 0..10_000 {
                drop(info_span!(target: conduit_trace::TARGET, "of a request"));
            }
        });
        drop(traces);
    }

    #[test]
    fn a_collector_that_cannot_be_one_is_told_at_the_start() {
        let args = TraceArgs {
            otlp_endpoint: Some("http://[".into()),
            ..TraceArgs::default()
        };
        let error = Traces::start(&args).unwrap_err().to_string();
        assert!(error.starts_with("traces cannot be exported:"), "{error}");
    }
}
