//! Readers who think between two requests.

use std::rc::Rc;
use std::time::Duration;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep_until};

use super::client::Client;
use super::closed::{one, tidy};
use super::session::Session;
use super::tally::Tally;

/// How long all readers take to have asked once, in times to think.
pub const ARRIVAL: f64 = 1.5;

/// A reader, until nothing becomes due any more. It is met anywhere within a visit and within the time to think, as readers are who have
/// been there for long, so that the mix of requests and their number are those of the whole run from the beginning.
pub(super) async fn run(
    mut session: Session,
    mut client: Client,
    tally: Rc<Tally>,
    think: Duration,
    seed: u64,
) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    session.midway();
    let mut due = Instant::now() + think.mul_f64(left(&mut rng));
    while due < tally.until() {
        sleep_until(due).await;
        // A reader clicks when the page is there and read; being late for that is nobody's waiting.
        one(&mut session, &mut client, &tally, Instant::now()).await;
        due = Instant::now() + think.mul_f64(rng.random_range(0.5..1.5));
    }
    tidy(&mut session, &mut client).await;
}

/// What is left of a time to think between 0.5 and 1.5 at any moment of it: it is met in a long one more likely than in a short one, and
/// anywhere within it.
fn left(rng: &mut impl Rng) -> f64 {
    let whole = (0.25 + 2.0 * rng.random::<f64>()).sqrt();
    whole * rng.random::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_thought_is_even_up_to_its_shortest_and_none_beyond_its_longest() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let left: Vec<f64> = (0..100_000).map(|_| left(&mut rng)).collect();
        // Every thought is longer than 0.5, so that it is even up to there; then fewer and fewer are.
        for (to, expected) in [(0.25, 25_000), (0.5, 50_000), (1.0, 87_500), (1.5, 100_000)] {
            let seen = left.iter().filter(|one| **one < to).count();
            assert!(seen.abs_diff(expected) < 600, "{to}: {seen}");
        }
    }
}
