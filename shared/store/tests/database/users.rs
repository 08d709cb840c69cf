use conduit_domain::account::{AccountUpdate, NewAccount};
use conduit_domain::error::{Error, Taken};
use conduit_domain::{AccountId, Clock, NameKey, Timestamp};
use conduit_store::users::{UserRecord, UserStore};
use conduit_testkit::{FixedClock, TestDatabase};
use futures_util::future::join_all;

const RACERS: usize = 20;

fn new_account(username: &str, email: &str) -> NewAccount {
    NewAccount {
        username: username.to_owned(),
        email: email.to_owned(),
        password_hash: format!("hash of {username}"),
        created_at: FixedClock::default().now(),
    }
}

fn no_change() -> AccountUpdate {
    AccountUpdate {
        username: None,
        email: None,
        password_hash: None,
        bio: None,
        image: None,
        updated_at: Timestamp::from_millis(5),
    }
}

fn key(text: &str) -> NameKey {
    NameKey::of(text).unwrap()
}

fn taken(error: Error) -> Taken {
    match error {
        Error::Taken(taken) => taken,
        error => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn an_account_is_found_by_id_and_by_address_in_any_case() {
    let database = TestDatabase::new().await;
    let users = UserStore::new(database.db("users"));
    let ann = users
        .insert(&new_account("Änn", "Ann@Example.com"))
        .await
        .unwrap();
    assert_eq!(
        (ann.username.as_str(), ann.email.as_str()),
        ("Änn", "Ann@Example.com")
    );
    assert_eq!(ann.id, AccountId(1_000_000));
    assert_eq!(users.by_id(ann.id).await.unwrap(), Some(ann.clone()));
    let (found, hash) = users.credentials(&key("aNN@example.COM")).await.unwrap().unwrap();
    assert_eq!((found, hash.as_str()), (ann, "hash of Änn"));
    assert_eq!(users.by_id(AccountId(2_000_000)).await.unwrap(), None);
    assert_eq!(users.credentials(&key("Änn")).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_registrations_with_one_address_one_wins() {
    let database = TestDatabase::new().await;
    let users = UserStore::new(database.db("users"));
    let registrations = (0..RACERS).map(|n| {
        let users = users.clone();
        tokio::spawn(async move {
            users
                .insert(&new_account(&format!("racer{n}"), "One@example.com"))
                .await
        })
    });
    let outcomes: Vec<_> = join_all(registrations)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let (winners, losers): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(winners.len(), 1);
    for loser in losers {
        assert_eq!(
            taken(loser.unwrap_err()),
            Taken {
                username: false,
                email: true
            }
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_losers_of_a_race_for_both_keys_are_told_about_both() {
    let database = TestDatabase::new().await;
    let users = UserStore::new(database.db("users"));
    let registrations = (0..RACERS).map(|_| {
        let users = users.clone();
        tokio::spawn(async move { users.insert(&new_account("Same", "same@example.com")).await })
    });
    let outcomes: Vec<_> = join_all(registrations)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let (winners, losers): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(winners.len(), 1);
    for loser in losers {
        assert_eq!(
            taken(loser.unwrap_err()),
            Taken {
                username: true,
                email: true
            }
        );
    }
}

#[tokio::test]
async fn keys_of_two_other_accounts_are_both_taken() {
    let database = TestDatabase::new().await;
    let users = UserStore::new(database.db("users"));
    users
        .insert(&new_account("Ann", "ann@example.com"))
        .await
        .unwrap();
    let ben = users
        .insert(&new_account("Ben", "ben@example.com"))
        .await
        .unwrap();
    let both = Taken {
        username: true,
        email: true,
    };
    let outcome = users.insert(&new_account("aNN", "BEN@example.com")).await;
    assert_eq!(taken(outcome.unwrap_err()), both);
    let (ann_key, ben_key) = (key("ANN"), key("Ben@Example.com"));
    assert_eq!(
        users.taken(Some(&ann_key), Some(&ben_key), None).await.unwrap(),
        both
    );
    let but_ben = users
        .taken(Some(&ann_key), Some(&ben_key), Some(ben.id))
        .await
        .unwrap();
    assert_eq!(
        but_ben,
        Taken {
            username: true,
            email: false
        }
    );
    let of_names_only = users.taken(Some(&ben_key), None, None).await.unwrap();
    assert_eq!(
        of_names_only,
        Taken {
            username: false,
            email: false
        }
    );
}

#[tokio::test]
async fn a_change_of_everything_changes_everything() {
    let database = TestDatabase::new().await;
    let users = UserStore::new(database.db("users"));
    let ann = users
        .insert(&new_account("Ann", "ann@example.com"))
        .await
        .unwrap();
    let ben = users
        .insert(&new_account("Ben", "ben@example.com"))
        .await
        .unwrap();
    let update = AccountUpdate {
        username: Some("Zoë".to_owned()),
        email: Some("Zoe@example.com".to_owned()),
        password_hash: Some("another hash".to_owned()),
        bio: Some(Some("a bio".to_owned())),
        image: Some(Some("an image".to_owned())),
        updated_at: Timestamp::from_millis(5),
    };
    let zoe = users.update(ann.id, &update).await.unwrap().unwrap();
    assert_eq!(
        (zoe.id, zoe.username.as_str(), zoe.email.as_str()),
        (ann.id, "Zoë", "Zoe@example.com")
    );
    assert_eq!(
        (zoe.bio.as_deref(), zoe.image.as_deref()),
        (Some("a bio"), Some("an image"))
    );
    let (found, hash) = users.credentials(&key("ZOE@example.com")).await.unwrap().unwrap();
    assert_eq!((found, hash.as_str()), (zoe, "another hash"));
    assert_eq!(users.credentials(&key("ann@example.com")).await.unwrap(), None);
    assert!(users.taken(Some(&key("zOË")), None, None).await.unwrap().username);
    assert!(!users.taken(Some(&key("ann")), None, None).await.unwrap().username);
    assert_eq!(users.by_id(ben.id).await.unwrap(), Some(ben));
}

#[tokio::test]
async fn a_change_of_nothing_changes_nothing_and_absence_is_not_removal() {
    let database = TestDatabase::new().await;
    let users = UserStore::new(database.db("users"));
    let ann = users
        .insert(&new_account("Ann", "ann@example.com"))
        .await
        .unwrap();
    let bio = AccountUpdate {
        bio: Some(Some("a bio".to_owned())),
        ..no_change()
    };
    let with_bio = users.update(ann.id, &bio).await.unwrap().unwrap();
    assert_eq!(
        (with_bio.bio.as_deref(), with_bio.image.as_deref()),
        (Some("a bio"), None)
    );
    assert_eq!(
        users.update(ann.id, &no_change()).await.unwrap(),
        Some(with_bio.clone())
    );
    assert_eq!(
        users
            .credentials(&key("ann@example.com"))
            .await
            .unwrap()
            .unwrap()
            .1,
        "hash of Ann"
    );
    let removed = AccountUpdate {
        bio: Some(None),
        ..no_change()
    };
    assert_eq!(users.update(ann.id, &removed).await.unwrap(), Some(ann));
    assert_eq!(users.update(AccountId(7), &no_change()).await.unwrap(), None);
}

#[tokio::test]
async fn a_change_that_takes_a_key_changes_nothing_at_all() {
    let database = TestDatabase::new().await;
    let users = UserStore::new(database.db("users"));
    users
        .insert(&new_account("Ann", "ann@example.com"))
        .await
        .unwrap();
    let ben = users
        .insert(&new_account("Ben", "ben@example.com"))
        .await
        .unwrap();
    let update = AccountUpdate {
        username: Some("BEN".to_owned()),
        email: Some("ANN@example.com".to_owned()),
        bio: Some(Some("a bio".to_owned())),
        ..no_change()
    };
    let outcome = users.update(ben.id, &update).await;
    assert_eq!(
        taken(outcome.unwrap_err()),
        Taken {
            username: false,
            email: true
        }
    );
    assert_eq!(users.by_id(ben.id).await.unwrap(), Some(ben.clone()));
    let own_name = AccountUpdate {
        username: Some("BEN".to_owned()),
        ..no_change()
    };
    assert_eq!(
        users.update(ben.id, &own_name).await.unwrap().unwrap().username,
        "BEN"
    );
}

fn record(account: &conduit_domain::Account) -> UserRecord {
    UserRecord {
        id: account.id,
        username: account.username.clone(),
        bio: account.bio.clone(),
        image: account.image.clone(),
    }
}

#[tokio::test]
async fn accounts_are_found_by_any_mix_of_identifiers_and_names_each_once() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let users = UserStore::new(database.db("users"));
    let (ann, ben, zoe) = (
        seed.account("Ann").await,
        seed.account("ben").await,
        seed.account("ZOË").await,
    );
    let described = AccountUpdate {
        bio: Some(Some("a bio".to_owned())),
        image: Some(Some("an image".to_owned())),
        ..no_change()
    };
    let ben = users.update(ben.id, &described).await.unwrap().unwrap();
    let nobody = AccountId(7);
    for (ids, names, expected) in [
        (vec![], vec![], vec![]),
        (vec![ben.id], vec![], vec![&ben]),
        (vec![nobody], vec![], vec![]),
        (vec![], vec!["aNN"], vec![&ann]),
        (vec![], vec!["nobody"], vec![]),
        (vec![zoe.id, nobody, ann.id, ann.id], vec![], vec![&ann, &zoe]),
        (vec![], vec!["zoë", "nobody", "ben", "ben"], vec![&ben, &zoe]),
        (vec![ann.id, ben.id], vec!["BEN", "zoë"], vec![&ann, &ben, &zoe]),
        (vec![nobody], vec!["ben"], vec![&ben]),
    ] {
        let keys: Vec<_> = names.iter().map(|name| key(name)).collect();
        let mut found = users.find(&ids, &keys).await.unwrap();
        found.sort_by_key(|record| record.id);
        let expected: Vec<_> = expected.into_iter().map(record).collect();
        assert_eq!(found, expected, "{ids:?} {names:?}");
    }
}
