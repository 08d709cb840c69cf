//! Several generators are one; and none outlives whoever asked for it.

use bench::load::{Generators, Offered, Profile};

use crate::target::{Manner, Target};
use crate::{generator, run, spec};

#[tokio::test]
async fn two_generators_make_the_load_of_one() {
    let target = Target::start(Manner::Good).await;
    let rate = Offered::Rate {
        per_second: 200.0,
        connections: 64,
    };
    let outcome = run(2, &spec(&target.address, Profile::List, rate)).await;
    // One more or less at the edges of each.
    assert!(
        outcome.counts.arrivals().abs_diff(100) <= 2,
        "{:?}",
        outcome.counts
    );
    assert_eq!(
        outcome.latency.histogram().unwrap().len(),
        outcome.counts.completed
    );
}

#[tokio::test]
async fn a_generator_ends_with_whoever_asked_for_it() {
    let target = Target::start(Manner::Good).await;
    let mut endless = spec(&target.address, Profile::List, Offered::Closed { connections: 1 });
    endless.seconds = 3600.0;
    let generators = Generators::start(&[generator()], &endless).await.unwrap();
    let pid = generators.process_ids()[0];
    drop(generators);
    let gone = async {
        while std::path::Path::new(&format!("/proc/{pid}/exe")).exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), gone)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_generator_that_cannot_start_is_told() {
    let spec = spec(
        "http://127.0.0.1:1",
        Profile::List,
        Offered::Closed { connections: 1 },
    );
    let told = Generators::start(&[vec!["/no/such/program".to_owned()]], &spec)
        .await
        .unwrap_err();
    assert!(format!("{told:#}").contains("/no/such/program"), "{told:#}");
}
