//! Two monoliths on one database read the same to the byte.

use std::sync::Arc;

use conformance::reads;
use conformance::runner;

use super::catalogue::area;
use super::deployment::{Deployment, run};
use super::proxy::{self, Fault};

#[tokio::test]
async fn one_database_reads_the_same_through_both_and_a_fault_is_seen() {
    let left = Deployment::start().await;
    let right = Deployment::on(Arc::clone(&left.database));
    let runs = [run(&left.address, 1), run(&right.address, 2)];
    for name in ["cmt", "fav"] {
        runner::run_all(&runs[0], area(name), 4, |_| {}).await;
    }
    let sound = reads::compare(&runs, 1000, |_| {}).await.unwrap();
    assert!(sound.differences.is_empty(), "{}", sound.differences[0]);
    assert!(sound.answers > 400, "{} answers", sound.answers);

    let spoiled = proxy::start(&right.address, Fault::OffByOne).await;
    let runs = [run(&left.address, 3), run(&spoiled, 4)];
    let found = reads::compare(&runs, 1000, |_| {}).await.unwrap();
    assert!(found.differences.iter().all(|d| d.what == "the body") && !found.differences.is_empty());
}

#[tokio::test]
async fn separate_databases_are_told() {
    let (left, right) = (Deployment::start().await, Deployment::start().await);
    let runs = [run(&left.address, 1), run(&right.address, 2)];
    let error = reads::compare(&runs, 10, |_| {}).await.unwrap_err().to_string();
    assert!(error.contains("they share no database"), "{error}");
}
