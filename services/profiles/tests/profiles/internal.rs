use std::sync::Arc;

use conduit_domain::AccountId;
use conduit_profiles::internal;
use conduit_rpc::{CallSettings, Follow, ProfilesApi};
use conduit_store::ProfileStore;
use conduit_testkit::TestDatabase;
use futures_util::future::{join, join_all};

const ANN: AccountId = AccountId(1);
const BEN: AccountId = AccountId(2);
const CLEO: AccountId = AccountId(3);

fn follow(follower: AccountId, followee: AccountId) -> Follow {
    Follow { follower, followee }
}

/// ann follows ben and cleo, ben follows ann.
async fn offered(database: &TestDatabase, calls: &CallSettings) -> Arc<dyn ProfilesApi> {
    let follows = ProfileStore::new(database.db("profiles"));
    for (follower, followee) in [(ANN, BEN), (ANN, CLEO), (BEN, ANN)] {
        follows.follow(follower, followee).await.unwrap();
    }
    internal::api(follows, calls)
}

fn settings(batching: bool) -> CallSettings {
    CallSettings {
        batching,
        ..CallSettings::new("a secret between services".into())
    }
}

#[tokio::test]
async fn peers_learn_which_follows_hold_and_whom_somebody_follows() {
    let database = TestDatabase::without_shared_keys().await;
    let api = offered(&database, &settings(false)).await;
    let asked = vec![follow(ANN, BEN), follow(ANN, CLEO), follow(BEN, CLEO)];
    let mut held = api.follows(asked).await.unwrap();
    held.sort_unstable();
    assert_eq!(held, [follow(ANN, BEN), follow(ANN, CLEO)]);
    assert_eq!(api.follows(vec![follow(CLEO, ANN)]).await.unwrap(), []);
    assert_eq!(api.follows(Vec::new()).await.unwrap(), []);
    assert_eq!(api.followed_by(ANN).await.unwrap(), [BEN, CLEO]);
    assert_eq!(api.followed_by(CLEO).await.unwrap(), []);
    assert_eq!(api.followed_page(ANN, None, 1).await.unwrap(), [BEN]);
    assert_eq!(api.followed_page(ANN, Some(BEN), 1).await.unwrap(), [CLEO]);
    assert_eq!(api.followed_page(ANN, Some(CLEO), 1).await.unwrap(), []);
    let each = api.followed_by_each(vec![ANN, BEN, CLEO], 1).await.unwrap();
    assert_eq!(each, [(ANN, vec![BEN]), (BEN, vec![ANN])]);
}

#[tokio::test]
async fn look_ups_leave_together_where_batching_is_on_and_everybody_gets_their_own() {
    for batching in [true, false] {
        let database = TestDatabase::without_shared_keys().await;
        let settings = settings(batching);
        let api = offered(&database, &settings).await;
        let pairs = [
            follow(ANN, BEN),
            follow(BEN, CLEO),
            follow(BEN, ANN),
            follow(CLEO, ANN),
        ];
        // The first is under way until all have asked.
        let locked = database.holding("profiles.follows").await;
        let asking = join_all(pairs.map(|pair| api.follows(vec![pair])));
        let (answers, ()) = join(asking, locked.let_go()).await;
        let held: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        assert_eq!(held, [vec![pairs[0]], vec![], vec![pairs[2]], vec![]]);
        let behind_the_first = if batching { 3 } else { 0 };
        assert_eq!(settings.counts.joined("profiles"), behind_the_first);
    }
}
