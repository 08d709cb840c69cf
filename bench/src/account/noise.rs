//! Whether the machine is quiet: equal pieces of work on every core at once take equally long, unless somebody else works there.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use procfs::{Current, LoadAverage};

use crate::results::NoiseGate;

/// Pieces of work on each core.
const PIECES: u32 = 6;

/// Steps of a piece: some ten milliseconds, longer than the scheduler lets one process wait for another.
const STEPS: u64 = 12_000_000;

/// What passes: a clock that speeds up and down makes a tenth.
const LIMIT: f64 = 0.25;

/// How long to wait for a quiet moment before looking again.
const WAIT: Duration = Duration::from_secs(2);

/// Looks at the machine before each load.
#[derive(Clone, Copy, Debug)]
pub struct Quiet {
    /// How often to look before a noisy moment is taken as it is.
    pub looks: u32,
}

impl Quiet {
    /// Waits for a quiet moment, within limits, and says what was seen last.
    pub async fn wait(self) -> NoiseGate {
        let mut gate = look().await;
        for _ in 1..self.looks {
            if gate.passed {
                break;
            }
            tokio::time::sleep(WAIT).await;
            gate = look().await;
        }
        gate
    }
}

/// The one-minute load average.
///
/// # Errors
/// The system does not tell.
pub fn load_average() -> Result<f64> {
    Ok(f64::from(LoadAverage::current()?.one))
}

async fn look() -> NoiseGate {
    let pieces = tokio::task::spawn_blocking(pieces).await.unwrap_or_default();
    judged(&pieces)
}

fn judged(pieces: &[Duration]) -> NoiseGate {
    let fastest = pieces.iter().min().copied().unwrap_or_default();
    let slowest = pieces.iter().max().copied().unwrap_or_default();
    let spread = match fastest.is_zero() {
        true => 0.0,
        false => (slowest - fastest).as_secs_f64() / fastest.as_secs_f64(),
    };
    NoiseGate {
        told: format!(
            "{} equal pieces of work on all cores at once took {:.1} to {:.1} ms",
            pieces.len(),
            fastest.as_secs_f64() * 1e3,
            slowest.as_secs_f64() * 1e3
        ),
        spread,
        limit: LIMIT,
        passed: spread <= LIMIT,
    }
}

/// How long each piece took, on one thread for each core.
fn pieces() -> Vec<Duration> {
    let cores = thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let workers: Vec<_> = (0..cores)
        .map(|_| thread::spawn(|| (0..PIECES).map(|_| piece()).collect::<Vec<_>>()))
        .collect();
    workers
        .into_iter()
        .filter_map(|worker| worker.join().ok())
        .flatten()
        .collect()
}

fn piece() -> Duration {
    let start = Instant::now();
    let mut value = 1_u64;
    for step in 0..STEPS {
        value = value.rotate_left(7) ^ step;
    }
    std::hint::black_box(value);
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uneven_work_is_noise() {
        let millis = |times: &[u64]| {
            times
                .iter()
                .copied()
                .map(Duration::from_millis)
                .collect::<Vec<_>>()
        };
        let quiet = judged(&millis(&[20, 21, 23, 24]));
        assert!(quiet.passed, "{quiet:?}");
        let noisy = judged(&millis(&[20, 21, 38]));
        assert!(!noisy.passed && (noisy.spread - 0.9).abs() < 1e-9, "{noisy:?}");
        assert!(noisy.told.contains("20.0 to 38.0 ms"), "{}", noisy.told);
    }
}
