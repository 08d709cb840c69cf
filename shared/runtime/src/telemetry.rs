//! The log: events to the standard error stream, written by a thread of their own.
//!
//! The queue before that thread is bounded, and events that find it full are dropped and counted: a terminal or
//! a pipe that does not keep up must not hold up requests (performance page, rule 19).

use std::io::{IsTerminal, stderr};

use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::SubscriberBuilder;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use crate::settings::{LogArgs, LogFormat};

/// How many events may wait to be written.
const QUEUE: usize = 8192;

/// The running log. Keep it until the end: dropping it writes what still waits.
#[derive(Debug)]
pub struct Telemetry {
    dropped: DroppedEvents,
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
    /// Something else in this process took the events first.
    #[error("the log is already running: {0}")]
    Running(#[from] TryInitError),
}

impl Telemetry {
    /// Starts the log of this process.
    ///
    /// # Errors
    /// [`TelemetryError`] where the filter cannot be read, or the log already runs.
    pub fn start(args: &LogArgs) -> Result<Self, TelemetryError> {
        let filter = EnvFilter::try_new(&args.log_filter)?;
        let (queue, writer) = NonBlockingBuilder::default()
            .buffered_lines_limit(QUEUE)
            .lossy(true)
            .finish(stderr());
        let dropped = DroppedEvents(queue.error_counter());
        let on_terminal = stderr().is_terminal();
        let subscriber = SubscriberBuilder::default()
            .with_env_filter(filter)
            .with_writer(queue)
            .with_ansi(on_terminal);
        if is_json(args.log_format, on_terminal) {
            subscriber
                .json()
                .flatten_event(true)
                .with_span_list(false)
                .finish()
                .try_init()?;
        } else {
            subscriber.finish().try_init()?;
        }
        Ok(Self {
            dropped,
            _writer: writer,
        })
    }

    /// The counter of dropped events, for the metrics.
    #[must_use]
    pub fn dropped(&self) -> DroppedEvents {
        self.dropped.clone()
    }
}

fn is_json(format: LogFormat, on_terminal: bool) -> bool {
    match format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !on_terminal,
    }
}
