//! Random programs, played on several deployments in step and compared answer by answer; a difference is shrunk to a
//! short program.
//!
//! `op` is what a program is made of, `program` how one is generated and shrunk (by proptest), `plan` what a step asks for, `words` the valid
//! and invalid input it draws from, `world` what a running program knows: accounts, slugs, comments.

mod op;
mod plan;
mod program;
mod words;
mod world;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use anyhow::{Result, bail};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;

use crate::ctx::Run;
use crate::curl;
use crate::log::Exchange;
use crate::texts::Texts;
use op::Op;
use program::Programs;
use world::World;

/// Attempts at a shorter program, and milliseconds for all of them.
const ATTEMPTS: u32 = 2000;
const PATIENCE: u32 = 180_000;

/// What a seed's program showed.
#[derive(Debug)]
pub struct Explored {
    /// How many answers were compared, those of shrinking included.
    pub answers: usize,
    /// The shortest program found that shows a difference, if there is one.
    pub difference: Option<Shrunk>,
}

/// A short program after which the deployments differ.
#[derive(Debug)]
pub struct Shrunk {
    /// How many steps the program has.
    pub steps: usize,
    /// What was asked of the first deployment, in order; the last request is the one answered differently.
    pub asked: Vec<Arc<Exchange>>,
    /// What differs.
    pub what: String,
}

impl fmt::Display for Shrunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "a program of {} steps ({} requests) shows it:",
            self.steps,
            self.asked.len()
        )?;
        for (number, exchange) in self.asked.iter().enumerate() {
            let status = exchange
                .outcome
                .as_ref()
                .map_or_else(ToString::to_string, |r| r.status.to_string());
            writeln!(f, "{:>3}. {}\n     → {status}", number + 1, curl::line(exchange))?;
        }
        write!(f, "{}", self.what)
    }
}

/// Plays the program of `steps` steps that the seed stands for. Texts in it are fresh in every attempt (`nonce` must be
/// new in every run), so that nothing an earlier attempt left behind can show up again.
///
/// # Errors
/// A deployment does not answer, or the program cannot be generated.
pub fn seed(runtime: &Runtime, runs: &[Run], seed: u64, steps: usize, nonce: u64) -> Result<Explored> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &Sha256::digest(seed.to_be_bytes()));
    let texts = Texts::new(nonce, &format!("explore {seed}"));
    let (answers, shown) = (Cell::new(0), RefCell::new(None));
    let outcome = TestRunner::new_with_rng(config(), rng).run(&Programs { steps }, |program| {
        let mut world = World::new(runs, texts.draw());
        let found = runtime.block_on(play(&mut world, &program));
        answers.set(answers.get() + world.answers());
        let Some(what) = found else { return Ok(()) };
        *shown.borrow_mut() = Some(Shrunk {
            steps: program.len(),
            asked: world.asked(),
            what,
        });
        Err(TestCaseError::fail("the deployments differ"))
    });
    match outcome {
        Ok(()) => Ok(Explored {
            answers: answers.get(),
            difference: None,
        }),
        Err(TestError::Fail(..)) => Ok(Explored {
            answers: answers.get(),
            difference: shown.take(),
        }),
        Err(error) => bail!("the program of seed {seed} cannot be made: {error}"),
    }
}

fn config() -> Config {
    Config {
        cases: 1,
        failure_persistence: None,
        max_shrink_iters: ATTEMPTS,
        max_shrink_time: PATIENCE,
        ..Config::default()
    }
}

async fn play(world: &mut World, program: &[Op]) -> Option<String> {
    for op in program {
        if let Err(difference) = world.step(op).await {
            return Some(difference);
        }
    }
    None
}
