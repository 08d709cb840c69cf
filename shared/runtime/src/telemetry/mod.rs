//! The log: events to the standard error stream, written by a thread of their own; and, where a collector is set,
//! traces, sent by another.
//!
//! The queue before each of the threads is bounded, and what finds it full is dropped: a terminal, a pipe or a
//! collector that does not keep up must not hold up requests (performance page, rule 19). Without a collector no
//! span exists at all.

#[cfg(feature = "otlp")]
mod otlp;

use std::io::{IsTerminal, stderr};

use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{Directive, EnvFilter};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{fmt, registry};

use crate::settings::{LogArgs, LogFormat};

/// How many events may wait to be written.
const QUEUE: usize = 8192;

/// The running log, and the traces. Keep it until the end: dropping it writes and sends what still waits, the
/// latter for 3 seconds at most.
#[derive(Debug)]
pub struct Telemetry {
    dropped: DroppedEvents,
    // Before the writer of the log, which has to tell of traces that cannot be sent.
    #[cfg(feature = "otlp")]
    _traces: Option<otlp::Traces>,
    _writer: WorkerGuard,
}

/// A counter of events that were dropped because the queue was full.
#[derive(Clone, Debug)]
pub struct DroppedEvents(ErrorCounter);

impl DroppedEvents {
    /// How many since the start.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.dropped_lines()
    }
}

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter cannot be read.
    #[error("RUST_LOG cannot be read: {0}")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// The collector cannot be used as it is set.
    #[cfg(feature = "otlp")]
    #[error(transparent)]
    Traces(#[from] otlp::TracesError),
    /// Something else in this process took the events first.
    #[error("the log is already running: {0}")]
    Running(#[from] TryInitError),
}

impl Telemetry {
    /// Starts the log of this process, and its traces if a collector is set.
    ///
    /// # Errors
    /// [`TelemetryError`] where the filter or the collector's URL cannot be read, or the log already runs. A
    /// collector that does not answer is no error: it is logged, and its traces are dropped.
    pub fn start(args: &LogArgs) -> Result<Self, TelemetryError> {
        let filter = EnvFilter::try_new(&args.log_filter)?.add_directive(no_spans()?);
        let (queue, writer) = NonBlockingBuilder::default()
            .buffered_lines_limit(QUEUE)
            .lossy(true)
            .finish(stderr());
        let dropped = DroppedEvents(queue.error_counter());
        #[cfg(feature = "otlp")]
        let traces = otlp::Traces::start(&args.traces)?;
        #[cfg(feature = "otlp")]
        if let Some(traces) = &traces {
            let log = lines(args.log_format, queue).with_filter(filter);
            registry().with(log).with(traces.layer()).try_init()?;
        } else {
            log_alone(args.log_format, queue, filter)?;
        }
        #[cfg(not(feature = "otlp"))]
        {
            log_alone(args.log_format, queue, filter)?;
            if args.traces.endpoint().is_some() {
                tracing::warn!("this program was built without traces: nothing is sent to the collector");
            }
        }
        Ok(Self {
            dropped,
            #[cfg(feature = "otlp")]
            _traces: traces,
            _writer: writer,
        })
    }

    /// The counter of dropped events, for the metrics.
    #[must_use]
    pub fn dropped(&self) -> DroppedEvents {
        self.dropped.clone()
    }
}

/// The spans of traces are not for the log: it has an event for each request.
fn no_spans() -> Result<Directive, tracing_subscriber::filter::ParseError> {
    format!("{}={}", conduit_trace::TARGET, LevelFilter::OFF).parse()
}

/// A filter for everything costs less than one for each listener.
fn log_alone(format: LogFormat, queue: NonBlocking, filter: EnvFilter) -> Result<(), TryInitError> {
    registry().with(filter).with(lines(format, queue)).try_init()
}

type Lines<S> = Box<dyn Layer<S> + Send + Sync>;

fn lines<S>(format: LogFormat, queue: NonBlocking) -> Lines<S>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
{
    let on_terminal = stderr().is_terminal();
    let layer = fmt::layer().with_writer(queue).with_ansi(on_terminal);
    if is_json(format, on_terminal) {
        return layer.json().flatten_event(true).with_span_list(false).boxed();
    }
    layer.boxed()
}

fn is_json(format: LogFormat, on_terminal: bool) -> bool {
    match format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !on_terminal,
    }
}
