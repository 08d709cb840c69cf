use conduit_domain::AccountId;
use conduit_domain::error::{Error, Resource};
use conduit_store::profiles::ProfileStore;
use conduit_testkit::TestDatabase;
use futures_util::future::join_all;

const NOBODY: AccountId = AccountId(7);

async fn follows(database: &TestDatabase) -> Vec<(i64, i64)> {
    sqlx::query_as("select follower_id, followee_id from profiles.follows order by follower_id, followee_id")
        .fetch_all(&mut database.admin().await)
        .await
        .unwrap()
}

#[tokio::test]
async fn following_twice_is_following_once() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    let profiles = ProfileStore::new(database.db("profiles"));
    profiles.follow(ann, ben).await.unwrap();
    profiles.follow(ann, ben).await.unwrap();
    assert_eq!(follows(&database).await, [(ann.0, ben.0)]);
    profiles.follow(ben, ann).await.unwrap();
    profiles.unfollow(ann, ben).await.unwrap();
    profiles.unfollow(ann, ben).await.unwrap();
    assert_eq!(follows(&database).await, [(ben.0, ann.0)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn following_at_once_is_following_once() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    let profiles = ProfileStore::new(database.db("profiles"));
    let calls = (0..20).map(|_| {
        let profiles = profiles.clone();
        tokio::spawn(async move { profiles.follow(ann, ben).await })
    });
    for outcome in join_all(calls).await {
        outcome.unwrap().unwrap();
    }
    assert_eq!(follows(&database).await, [(ann.0, ben.0)]);
}

#[tokio::test]
async fn the_keys_tell_a_missing_caller_from_a_missing_profile() {
    let database = TestDatabase::new().await;
    let ann = database.seed().account("ann").await.id;
    let profiles = ProfileStore::new(database.db("monolith"));
    let outcome = profiles.follow(NOBODY, ann).await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
    let outcome = profiles.follow(ann, NOBODY).await;
    assert!(
        matches!(outcome, Err(Error::NotFound(Resource::Profile))),
        "{outcome:?}"
    );
    assert_eq!(follows(&database).await, []);
}

#[tokio::test]
async fn without_the_keys_the_stores_do_not_look() {
    let database = TestDatabase::without_shared_keys().await;
    let profiles = ProfileStore::new(database.db("profiles"));
    profiles.follow(NOBODY, AccountId(8)).await.unwrap();
    assert_eq!(follows(&database).await, [(7, 8)]);
}
