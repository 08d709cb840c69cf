use conduit_domain::{Account, AccountId, NameKey};
use conduit_rpc::{CallSettings, FindUsers, User, UsersApi};
use conduit_store::UserStore;
use conduit_testkit::TestDatabase;
use conduit_users::internal::{self, Local};
use futures_util::future::{join, join_all};

fn user(account: &Account) -> User {
    User {
        id: account.id,
        username: account.username.clone(),
        bio: account.bio.clone(),
        image: account.image.clone(),
    }
}

fn wanted(ids: &[AccountId], names: &[&str]) -> FindUsers {
    FindUsers {
        ids: ids.to_vec(),
        names: names.iter().map(|name| NameKey::of(name).unwrap()).collect(),
    }
}

#[tokio::test]
async fn peers_find_accounts_by_any_mix_of_identifiers_and_names() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let (ann, zoe) = (seed.account("ann").await, seed.account("ZOË").await);
    let local = Local::new(UserStore::new(database.db("users")));
    let nobody = AccountId(7);
    let both = wanted(&[ann.id, nobody], &["zoë", "nobody"]);
    let mut found = local.find(both).await.unwrap();
    found.sort_by_key(|user| user.id);
    assert_eq!(found, [user(&ann), user(&zoe)]);
    assert_eq!(local.find(wanted(&[], &["ann"])).await.unwrap(), [user(&ann)]);
    assert_eq!(local.find(wanted(&[nobody], &[])).await.unwrap(), []);
    assert_eq!(local.find(FindUsers::default()).await.unwrap(), []);
}

#[tokio::test]
async fn look_ups_leave_together_where_batching_is_on_and_everybody_gets_their_own() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let (ann, zoe) = (seed.account("ann").await, seed.account("ZOË").await);
    for batching in [true, false] {
        let settings = CallSettings {
            batching,
            ..CallSettings::new("a secret between services".into())
        };
        let api = internal::api(UserStore::new(database.db("users")), &settings);
        let questions = [
            wanted(&[ann.id], &[]),
            wanted(&[], &["zoË"]),
            wanted(&[AccountId(7)], &[]),
            wanted(&[zoe.id], &[]),
        ];
        // The first is under way until all have asked.
        let held = database.holding("users.accounts").await;
        let asking = join_all(questions.map(|wanted| api.find(wanted)));
        let (answers, ()) = join(asking, held.let_go()).await;
        let found: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        assert_eq!(
            found,
            [vec![user(&ann)], vec![user(&zoe)], vec![], vec![user(&zoe)]]
        );
        let behind_the_first = if batching { 3 } else { 0 };
        assert_eq!(settings.counts.joined("users"), behind_the_first);
    }
}
