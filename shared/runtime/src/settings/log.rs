//! What is logged, and how it looks; where traces go.

use clap::{Args, ValueEnum};

/// Settings of the log, which goes to the standard error stream.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Log")]
pub struct LogArgs {
    /// What is logged: LEVEL or TARGET=LEVEL, separated by commas
    #[arg(
        long,
        env = "RUST_LOG",
        value_name = "FILTER",
        default_value = "info,actix_server=warn,sqlx=warn,reqwest_retry=error"
    )]
    pub log_filter: String,
    /// How it looks: text, json, or auto (text on a terminal, json elsewhere)
    #[arg(
        long,
        env = "CONDUIT_LOG_FORMAT",
        value_name = "FORMAT",
        default_value = "auto"
    )]
    pub log_format: LogFormat,
    /// Where traces go.
    #[command(flatten)]
    pub traces: TraceArgs,
}

/// Settings of traces, under the names that OpenTelemetry gave them. Its other variables hold too.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Traces")]
pub struct TraceArgs {
    /// The collector to send traces to (OTLP, protobuf over HTTP), such as http://127.0.0.1:4318 [default: no traces]
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,
    /// The same with the whole path; stronger than the other
    #[arg(long, env = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", value_name = "URL")]
    pub otlp_traces_endpoint: Option<String>,
    /// The name of this process in traces [default: the program's]
    #[arg(long, env = "OTEL_SERVICE_NAME", value_name = "NAME")]
    pub otel_service_name: Option<String>,
}

impl TraceArgs {
    /// The whole URL that traces are sent to. An empty variable is as good as none.
    pub(crate) fn endpoint(&self) -> Option<String> {
        let given = |url: &Option<String>| url.clone().filter(|url| !url.is_empty());
        given(&self.otlp_traces_endpoint).or_else(|| {
            let base = given(&self.otlp_endpoint)?;
            Some(format!("{}/v1/traces", base.trim_end_matches('/')))
        })
    }
}

/// How an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// A line for people.
    Text,
    /// A JSON object a line.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_of_traces_is_used_as_it_is_and_the_common_one_gets_their_path() {
        for (common, traces, expected) in [
            (None, None, None),
            (Some(""), Some(""), None),
            (Some("http://c:4318"), None, Some("http://c:4318/v1/traces")),
            (
                Some("http://c:4318/otlp/"),
                Some(""),
                Some("http://c:4318/otlp/v1/traces"),
            ),
            (Some("http://c:4318"), Some("http://t/x"), Some("http://t/x")),
        ] {
            let args = TraceArgs {
                otlp_endpoint: common.map(Into::into),
                otlp_traces_endpoint: traces.map(Into::into),
                otel_service_name: None,
            };
            assert_eq!(args.endpoint().as_deref(), expected, "{common:?} {traces:?}");
        }
    }
}
