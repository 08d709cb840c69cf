//! New secrets under load, without a failed request.

use boxes::{Deployment, Inventory, Rotation, Transport};

use crate::load::Load;
use crate::support::{ONE_SERVICE_PER_BOX, Psql, client, down, logged, over, two_monoliths, up};

/// Rounds of the load, of eight requests each.
const ENOUGH: usize = 5;

async fn rotate(deployment: &mut Deployment, inventory: &Inventory, rotation: Rotation) {
    let rotated = deployment.rotate(inventory, rotation, |_| Ok(())).await;
    rotated.unwrap_or_else(|error| panic!("{error:#}\n{}", logged(deployment)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_secret_and_the_databases_passwords_change_under_load() {
    let inventory = two_monoliths();
    let Some(mut deployment) = up(&inventory).await else {
        return;
    };
    let ctx = client(&deployment, "rotations");
    let ann = ctx.register().await.unwrap();
    let old = deployment.secrets().clone();
    let mut load = Load::start(&deployment, 3).await;
    load.more(ENOUGH).await;

    rotate(&mut deployment, &inventory, Rotation::Token).await;
    load.more(ENOUGH).await;
    rotate(&mut deployment, &inventory, Rotation::Database).await;
    load.more(ENOUGH).await;
    load.end(&mut deployment).await;

    // Tokens of before are good until the old secret is forgotten.
    let new = ctx
        .login(&ann.email, &ann.password)
        .expect(200)
        .await
        .unwrap()
        .user()
        .unwrap()
        .token;
    let user = |token: &str| ctx.get("/api/user").token(token);
    user(&ann.token).expect(200).await.unwrap();
    user(&new).expect(200).await.unwrap();
    rotate(&mut deployment, &inventory, Rotation::ForgetToken).await;
    user(&ann.token).expect(401).await.unwrap();
    user(&new).expect(200).await.unwrap();

    let role = |deployment: &Deployment| {
        deployment.secrets().logins[&conduit_runtime::database::Owner::Monolith]
            .role
            .clone()
    };
    assert_eq!(role(&deployment), "conduit_monolith_2");
    let mut psql = Psql::open(&mut deployment);
    let locked = "select count(*) from pg_authid where rolname = 'conduit_monolith' and rolpassword is null";
    assert_eq!(psql.number(locked), 1);
    let sessions = "select count(*) from pg_stat_activity where usename = 'conduit_monolith'";
    assert_eq!(psql.number(sessions), 0);
    assert_ne!(deployment.secrets(), &old);
    // And back to the first login.
    rotate(&mut deployment, &inventory, Rotation::Database).await;
    assert_eq!(role(&deployment), "conduit_monolith");
    user(&new).expect(200).await.unwrap();
    down(deployment).await;
}

/// Every service twice, so that no restart leaves a gap.
#[tokio::test(flavor = "multi_thread")]
async fn the_internal_secret_changes_under_load() {
    let mut inventory = over(Transport::Grpc, ONE_SERVICE_PER_BOX);
    let places = ["two", "three", "four", "one"];
    let moved = inventory
        .copies
        .iter()
        .zip(places)
        .map(|(line, machine)| boxes::inventory::Line {
            machine: machine.to_owned(),
            ..line.clone()
        });
    let further: Vec<_> = moved.collect();
    inventory.copies.extend(further);
    let Some(mut deployment) = up(&inventory).await else {
        return;
    };
    let old = deployment.secrets().internal.first.clone();
    let mut load = Load::start(&deployment, 2).await;
    load.more(ENOUGH).await;
    rotate(&mut deployment, &inventory, Rotation::Internal).await;
    load.more(ENOUGH).await;
    load.end(&mut deployment).await;
    assert_ne!(deployment.secrets().internal.first, old);
    assert!(!deployment.secrets().internal.is_changing());
    down(deployment).await;
}
