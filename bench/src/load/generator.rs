//! The process that makes load: told what to do on its standard input, telling what came of it on its standard output.
//!
//! Lines in: the [`Spec`] as JSON, then `go`. Lines out: [`Said`] as JSON. The end of the input ends the process, so that no load
//! outlives whoever asked for it.

use std::io::Write as _;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{Instant, sleep_until};

use super::client::Client;
use super::rate::{self, Arrivals};
use super::session::{Ground, Session};
use super::spec::{Offered, Spec, seconds};
use super::tally::{Outcome, Tally, Window};
use super::{closed, users};

/// What follows the spec.
pub(super) const GO: &str = "go";

/// What a generator says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Said {
    /// It has understood the spec.
    Ready,
    /// From now on requests count.
    Counting,
    /// What becomes due from now on does not count.
    Counted,
    /// All that counted has ended.
    Done(Box<Outcome>),
}

/// Makes load as it is told; the program's hidden subcommand.
///
/// # Errors
/// A spec that is none, a system that gives no timer; whoever asked has gone.
pub async fn generate() -> Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let spec: Spec =
        serde_json::from_str(&line(&mut lines).await?).context("what a generator is told to do")?;
    raise_file_limit();
    say(&Said::Ready)?;
    anyhow::ensure!(line(&mut lines).await? == GO, "a generator is told to go");
    let gone = async { while let Ok(Some(_)) = lines.next_line().await {} };
    let local = LocalSet::new();
    tokio::select! {
        done = local.run_until(work(&spec)) => say(&Said::Done(Box::new(done?))),
        () = gone => bail!("whoever asked for this load has gone"),
    }
}

async fn work(spec: &Spec) -> Result<Outcome> {
    let from = Instant::now() + seconds(spec.warm_up)?;
    let until = from + seconds(spec.seconds)?;
    let tally = Rc::new(Tally::new(Window { from, until })?);
    let load = load(spec, Rc::clone(&tally));
    let told = async {
        sleep_until(from).await;
        say(&Said::Counting)?;
        sleep_until(until).await;
        say(&Said::Counted)
    };
    tokio::try_join!(load, told)?;
    tally.outcome()
}

async fn load(spec: &Spec, tally: Rc<Tally>) -> Result<()> {
    let ground = Rc::new(Ground::new(spec.world.clone())?);
    let (target, timeout) = (Rc::new(spec.target()?), spec.timeout()?);
    let mut opened = 0;
    let mut open = move || {
        opened += 1;
        let session = Session::new(Rc::clone(&ground), spec.profile, spec.seed, opened);
        (session, Client::new(Rc::clone(&target), timeout))
    };
    let mut sessions = JoinSet::new();
    match spec.offered {
        Offered::Closed { connections } => {
            for _ in 0..connections {
                let (session, client) = open();
                sessions.spawn_local(closed::run(session, client, Rc::clone(&tally)));
            }
        }
        Offered::Users { users, think } => {
            for number in 0..users {
                let (session, client) = open();
                let seed = spec.seed.wrapping_add(u64::from(number));
                let reader = users::run(session, client, Rc::clone(&tally), seconds(think)?, seed);
                sessions.spawn_local(reader);
            }
        }
        Offered::Rate {
            per_second,
            connections,
        } => {
            let arrivals = Arrivals {
                first: Instant::now(),
                distance: distance(per_second)?,
                connections: usize::try_from(connections)?,
                timeout,
            };
            return rate::run(arrivals, tally, open).await;
        }
    }
    while let Some(ended) = sessions.join_next().await {
        ended.context("a session broke")?;
    }
    Ok(())
}

fn distance(per_second: f64) -> Result<Duration> {
    let distance = seconds(per_second.recip())?;
    anyhow::ensure!(!distance.is_zero(), "{per_second} arrivals a second are too many");
    Ok(distance)
}

async fn line(lines: &mut Lines<BufReader<impl AsyncRead + Unpin>>) -> Result<String> {
    lines
        .next_line()
        .await?
        .context("whoever asked for this load has gone")
}

fn say(said: &Said) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(said)?)?;
    Ok(out.flush()?)
}

/// Each reader of a thousand keeps a connection or four. Where the limit cannot be raised, connections that fail are counted.
fn raise_file_limit() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
