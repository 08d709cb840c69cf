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

#[tokio::test]
async fn of_many_pairs_those_are_found_that_hold() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let (ann, ben, cleo) = (
        seed.account("ann").await.id,
        seed.account("ben").await.id,
        seed.account("cleo").await.id,
    );
    for (follower, followee) in [(ann, ben), (ben, ann), (cleo, ann)] {
        seed.follow(follower, followee).await;
    }
    let profiles = ProfileStore::new(database.db("profiles"));
    for (asked, expected) in [
        (vec![], vec![]),
        (vec![(ann, ben)], vec![(ann, ben)]),
        (vec![(ann, cleo)], vec![]),
        (vec![(ann, ben), (ann, cleo), (NOBODY, ann)], vec![(ann, ben)]),
        (
            vec![(cleo, ann), (cleo, ben), (ann, ben), (ben, ann)],
            vec![(ann, ben), (ben, ann), (cleo, ann)],
        ),
    ] {
        let mut found = profiles.follows(&asked).await.unwrap();
        found.sort_unstable();
        assert_eq!(found, expected, "{asked:?}");
    }
    assert!(profiles.following(cleo, ann).await.unwrap());
    assert!(!profiles.following(ann, cleo).await.unwrap());
}

#[tokio::test]
async fn whom_somebody_follows_comes_in_pages_by_id() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let ann = seed.account("ann").await.id;
    let mut followed = Vec::new();
    for n in 0..5 {
        let other = seed.account(&format!("other {n}")).await.id;
        seed.follow(other, ann).await;
        followed.push(other);
    }
    for other in followed.iter().rev() {
        seed.follow(ann, *other).await;
    }
    let profiles = ProfileStore::new(database.db("profiles"));
    let mut pages = Vec::new();
    let mut last = None;
    loop {
        let page = profiles.followed_by(ann, last, 2).await.unwrap();
        last = page.last().copied();
        if last.is_none() {
            break;
        }
        pages.push(page);
    }
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    assert_eq!(pages.concat(), followed);
    assert_eq!(profiles.followed_by(ann, None, i64::MAX).await.unwrap(), followed);
    assert_eq!(profiles.followed_by(NOBODY, None, 5).await.unwrap(), []);
    let other = followed[4];
    let asked = [other, NOBODY, ann, ann];
    assert_eq!(
        profiles.followed_by_each(&asked, 3).await.unwrap(),
        [(ann, followed[..3].to_vec()), (other, vec![ann])]
    );
    assert_eq!(profiles.followed_by_each(&[], 3).await.unwrap(), []);
}
