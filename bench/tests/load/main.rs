//! Generators as processes, against a target that counts what it is asked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod kinds;
mod several;
mod target;
mod verdict;

use bench::load::{Event, Generators, Offered, Outcome, Profile, Spec, Viewer, World};

/// What starts a generator.
pub(crate) fn generator() -> Vec<String> {
    vec![env!("CARGO_BIN_EXE_bench").to_owned(), "generate".to_owned()]
}

pub(crate) fn spec(target: &str, profile: Profile, offered: Offered) -> Spec {
    let viewer = Viewer {
        username: "ann".into(),
        email: "ann@example.com".into(),
        token: "token".into(),
    };
    Spec {
        target: target.to_owned(),
        profile,
        offered,
        // Whoever is slow has at least the first requests counted.
        warm_up: 0.0,
        seconds: 0.5,
        timeout: 60.0,
        seed: 1,
        world: World {
            slugs: vec!["one".into(), "two".into()],
            authors: vec!["ben".into()],
            viewers: vec![viewer],
            articles: 2,
        },
    }
}

/// Runs so many generators as one and sees that both events come, in order.
pub(crate) async fn run(generators: usize, spec: &Spec) -> Outcome {
    let commands = vec![generator(); generators];
    let generators = Generators::start(&commands, spec).await.unwrap();
    assert_eq!(generators.process_ids().len(), commands.len());
    let mut events = Vec::new();
    let outcome = generators
        .run(async |event| {
            events.push(event);
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(events, [Event::Counting, Event::Counted]);
    outcome
}
