//! The deadline of the public request, which travels with every call that the request makes.

use std::time::Duration;

use tokio::time::Instant;

tokio::task_local! {
    static DEADLINE: Instant;
}

/// Runs the future under a deadline. Inside another scope the earlier of the two holds. The future is not stopped when the
/// deadline passes; the calls it makes are.
pub async fn scope<F: Future>(deadline: Instant, future: F) -> F::Output {
    let earlier = current().map_or(deadline, |outer| outer.min(deadline));
    DEADLINE.scope(earlier, future).await
}

/// The deadline of the work at hand, if it has one.
pub fn current() -> Option<Instant> {
    DEADLINE.try_with(|deadline| *deadline).ok()
}

/// The time left, at most `longest`; zero when the deadline has passed.
pub(crate) fn left(longest: Duration) -> Duration {
    current().map_or(longest, |deadline| {
        deadline.saturating_duration_since(Instant::now()).min(longest)
    })
}
