//! A rolling restart under load: no request fails, no write is lost or done twice (fault B128).

use stack::Program;

use crate::load::Load;
use crate::support::{REBALANCED, down, inventory, logged, two_monoliths, up};

/// Rounds of the load, of eight requests each.
const ENOUGH: usize = 10;

async fn restarts_under_load(inventory: &boxes::Inventory, services: &[Program]) {
    let Some(mut deployment) = up(inventory).await else {
        return;
    };
    let before: Vec<_> = deployment.running().keys().cloned().collect();
    let mut load = Load::start(&deployment, 4).await;
    load.more(ENOUGH).await;
    for service in services {
        let restarted = deployment.rolling_restart(*service, false).await;
        restarted.unwrap_or_else(|error| panic!("{error:#}\n{}", logged(&mut deployment)));
        load.more(ENOUGH).await;
    }
    let answered = load.end(&mut deployment).await;
    assert!(answered >= 8 * ENOUGH * (services.len() + 1), "{answered}");
    eprintln!("{answered} requests were answered, none failed");
    assert_eq!(deployment.running().keys().cloned().collect::<Vec<_>>(), before);
    down(deployment).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn monoliths_restart_one_after_the_other() {
    restarts_under_load(&two_monoliths(), &[Program::Monolith, Program::Monolith]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_of_articles_restart_one_after_the_other() {
    restarts_under_load(&inventory(REBALANCED), &[Program::Articles]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_copy_is_restarted_only_where_an_outage_is_allowed() {
    let Some(mut deployment) = up(&inventory(crate::support::MONOLITH_1)).await else {
        return;
    };
    let told = deployment
        .rolling_restart(Program::Monolith, false)
        .await
        .unwrap_err()
        .to_string();
    assert!(told.contains("single copy"), "{told}");
    deployment.rolling_restart(Program::Monolith, true).await.unwrap();
    let told = deployment
        .rolling_restart(Program::Users, true)
        .await
        .unwrap_err()
        .to_string();
    assert!(told.contains("no copy of users"), "{told}");
    down(deployment).await;
}
