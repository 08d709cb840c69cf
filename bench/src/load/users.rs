//! Readers who think between two requests.

use std::rc::Rc;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep_until};

use super::client::Client;
use super::closed::{one, tidy};
use super::session::{Session, VISIT};
use super::tally::Tally;

/// A reader, until nothing becomes due any more. They come one after the other over the time that a visit takes, so that from then on
/// some are at the beginning of theirs and others at the end; if all came at once, all would ask for the same at the same time.
pub(super) async fn run(
    mut session: Session,
    mut client: Client,
    tally: Rc<Tally>,
    think: Duration,
    seed: u64,
) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut due = Instant::now() + think.mul_f64(rng.random_range(0.0..VISIT));
    while due < tally.until() {
        sleep_until(due).await;
        // A reader clicks when the page is there and read; being late for that is nobody's waiting.
        one(&mut session, &mut client, &tally, Instant::now()).await;
        due = Instant::now() + think.mul_f64(rng.random_range(0.5..1.5));
    }
    tidy(&mut session, &mut client).await;
}
