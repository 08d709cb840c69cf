use conduit_app::reads::ProfileReads;
use conduit_domain::error::Error;
use conduit_domain::{NameKey, Viewer};

use crate::world::{NOBODY, World};

#[tokio::test]
async fn a_profile_says_whether_the_viewer_follows_it() {
    let world = World::random(10, 0).await;
    let ids: Vec<_> = world.accounts.iter().map(|account| account.id).collect();
    let viewers = ids
        .iter()
        .flat_map(|&id| [Viewer::SignedIn(id), Viewer::Acting(id)]);
    for viewer in viewers.chain([Viewer::Anonymous, Viewer::SignedIn(NOBODY)]) {
        for (n, &id) in ids.iter().enumerate() {
            let found = world.reads.by_username(viewer, &world.key(n)).await.unwrap();
            assert_eq!(found, Some(world.profile(viewer.id(), id)), "{viewer:?}");
        }
    }
}

#[tokio::test]
async fn who_acts_must_exist_once_the_profile_does() {
    let world = World::random(11, 0).await;
    let outcome = world
        .reads
        .by_username(Viewer::Acting(NOBODY), &world.key(0))
        .await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
    let unknown = NameKey::of("unknown").unwrap();
    assert_eq!(
        world
            .reads
            .by_username(Viewer::Acting(NOBODY), &unknown)
            .await
            .unwrap(),
        None
    );
}
