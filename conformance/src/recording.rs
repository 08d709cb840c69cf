//! A run kept in a file: one JSON line at the head, then one line per check with every request and answer.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::http::{self, Headers, Request, Response, Trouble};
use crate::log::{Certainty, Exchange, Step};

const FORMAT: u32 = 1;

/// The head of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Version of the file's form.
    format: u32,
    /// The seed of all random texts.
    pub seed: u64,
    /// What was recorded.
    pub target: String,
}

/// One check of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The check's id, or [`STORE`].
    pub id: String,
    /// How it ended: `ok`, or the failure.
    pub outcome: String,
    /// What was asked and answered.
    pub steps: Vec<Step>,
}

/// The id under which the store's state before the first check is kept.
pub const STORE: &str = "store";

/// Writes a recording as it grows.
#[derive(Debug)]
pub struct Writer(BufWriter<std::fs::File>);

impl Writer {
    /// Begins a file.
    ///
    /// # Errors
    /// What the file system says.
    pub fn create(path: &Path, seed: u64, target: &str) -> Result<Self> {
        let file = std::fs::File::create(path).with_context(|| format!("creating {}", path.display()))?;
        let mut writer = Self(BufWriter::new(file));
        writer.line(&Head {
            format: FORMAT,
            seed,
            target: target.to_owned(),
        })?;
        Ok(writer)
    }

    /// Adds a check.
    ///
    /// # Errors
    /// What the file system says.
    pub fn add(&mut self, recorded: &Recorded) -> Result<()> {
        let steps = recorded.steps.iter().map(StoredStep::from).collect();
        self.line(&Line {
            id: recorded.id.clone(),
            outcome: recorded.outcome.clone(),
            steps,
        })
    }

    /// Brings everything to the file.
    ///
    /// # Errors
    /// What the file system says.
    pub fn finish(mut self) -> Result<()> {
        self.0.flush().context("writing the recording")
    }

    fn line(&mut self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.0, value).context("writing the recording")?;
        self.0.write_all(b"\n").context("writing the recording")
    }
}

/// Reads a recording.
///
/// # Errors
/// The file cannot be read, or is no recording of this form.
pub fn read(path: &Path) -> Result<(Head, Vec<Recorded>)> {
    let name = path.display();
    let file = std::fs::File::open(path).with_context(|| format!("opening {name}"))?;
    let mut lines = BufReader::new(file).lines();
    let first = lines.next().with_context(|| format!("{name} is empty"))??;
    let head: Head = serde_json::from_str(&first).with_context(|| format!("{name} is no recording"))?;
    ensure!(
        head.format == FORMAT,
        "{name} has format {}, this program reads {FORMAT}",
        head.format
    );
    let mut checks = Vec::new();
    for (number, line) in lines.enumerate() {
        let line: Line =
            serde_json::from_str(&line?).with_context(|| format!("{name}, line {}", number + 2))?;
        let steps = line.steps.into_iter().map(Step::from).collect();
        checks.push(Recorded {
            id: line.id,
            outcome: line.outcome,
            steps,
        });
    }
    Ok((head, checks))
}

#[derive(Serialize, Deserialize)]
struct Line {
    id: String,
    outcome: String,
    steps: Vec<StoredStep>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredStep {
    One(Box<StoredExchange>),
    Together(Vec<StoredExchange>),
}

#[derive(Serialize, Deserialize)]
struct StoredExchange {
    address: String,
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    body: Option<Bytes>,
    certainty: StoredCertainty,
    outcome: StoredOutcome,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredCertainty {
    Certain,
    Raced,
    Open,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredOutcome {
    Answer {
        status: u16,
        headers: Vec<(String, Bytes)>,
        body: Bytes,
        extra: Bytes,
        keep: bool,
    },
    Trouble {
        step: StoredPart,
        cause: String,
        received: Bytes,
        closed_before_answer: bool,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredPart {
    Connecting,
    Sending,
    Head,
    Body,
}

/// Text where the bytes are text, so that a recording can be read and searched.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Bytes {
    Text(String),
    Base64 { base64: String },
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64 {
                base64: STANDARD.encode(bytes),
            },
        }
    }
}

impl From<Bytes> for Vec<u8> {
    fn from(bytes: Bytes) -> Self {
        match bytes {
            Bytes::Text(text) => text.into_bytes(),
            Bytes::Base64 { base64 } => STANDARD.decode(base64).unwrap_or_default(),
        }
    }
}

impl From<&Step> for StoredStep {
    fn from(step: &Step) -> Self {
        match step {
            Step::One(exchange) => Self::One(Box::new(StoredExchange::from(exchange.as_ref()))),
            Step::Together(group) => {
                Self::Together(group.iter().map(|e| StoredExchange::from(e.as_ref())).collect())
            }
        }
    }
}

impl From<StoredStep> for Step {
    fn from(step: StoredStep) -> Self {
        match step {
            StoredStep::One(exchange) => Self::One(Arc::new(Exchange::from(*exchange))),
            StoredStep::Together(group) => {
                Self::Together(group.into_iter().map(|e| Arc::new(Exchange::from(e))).collect())
            }
        }
    }
}

impl From<&Exchange> for StoredExchange {
    fn from(exchange: &Exchange) -> Self {
        Self {
            address: exchange.address.clone(),
            method: exchange.request.method.clone(),
            target: exchange.request.target.clone(),
            headers: exchange.request.headers.clone(),
            body: exchange.request.body.as_deref().map(Bytes::from),
            certainty: match exchange.certainty {
                Certainty::Certain => StoredCertainty::Certain,
                Certainty::Raced => StoredCertainty::Raced,
                Certainty::Open => StoredCertainty::Open,
            },
            outcome: stored_outcome(&exchange.outcome),
        }
    }
}

fn stored_outcome(outcome: &Result<Response, Trouble>) -> StoredOutcome {
    match outcome {
        Ok(response) => StoredOutcome::Answer {
            status: response.status,
            headers: response
                .headers
                .0
                .iter()
                .map(|(n, v)| (n.clone(), Bytes::from(v.as_slice())))
                .collect(),
            body: Bytes::from(response.body.as_slice()),
            extra: Bytes::from(response.extra.as_slice()),
            keep: response.keep,
        },
        Err(trouble) => StoredOutcome::Trouble {
            step: match trouble.step {
                http::Step::Connecting => StoredPart::Connecting,
                http::Step::Sending => StoredPart::Sending,
                http::Step::AwaitingHead => StoredPart::Head,
                http::Step::ReadingBody => StoredPart::Body,
            },
            cause: trouble.cause.clone(),
            received: Bytes::from(trouble.received.as_slice()),
            closed_before_answer: trouble.closed_before_answer,
        },
    }
}

impl From<StoredExchange> for Exchange {
    fn from(stored: StoredExchange) -> Self {
        let outcome = match stored.outcome {
            StoredOutcome::Answer {
                status,
                headers,
                body,
                extra,
                keep,
            } => Ok(Response {
                status,
                headers: Headers(headers.into_iter().map(|(n, v)| (n, v.into())).collect()),
                body: body.into(),
                extra: extra.into(),
                keep,
            }),
            StoredOutcome::Trouble {
                step,
                cause,
                received,
                closed_before_answer,
            } => Err(Trouble {
                address: stored.address.clone(),
                step: match step {
                    StoredPart::Connecting => http::Step::Connecting,
                    StoredPart::Sending => http::Step::Sending,
                    StoredPart::Head => http::Step::AwaitingHead,
                    StoredPart::Body => http::Step::ReadingBody,
                },
                cause,
                received: received.into(),
                closed_before_answer,
            }),
        };
        Self {
            address: stored.address,
            request: Request {
                method: stored.method,
                target: stored.target,
                headers: stored.headers,
                body: stored.body.map(Vec::from),
            },
            outcome,
            certainty: match stored.certainty {
                StoredCertainty::Certain => Certainty::Certain,
                StoredCertainty::Raced => Certainty::Raced,
                StoredCertainty::Open => Certainty::Open,
            },
        }
    }
}
