use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use conduit_app::reads::ProfileReads;
use conduit_domain::{AccountId, Error, NameKey, Profile, Viewer};
use conduit_profiles::reads::Composed;
use conduit_rpc::{CallError, FindUsers, User, UsersApi};
use conduit_store::ProfileStore;
use conduit_testkit::TestDatabase;

const ANN: AccountId = AccountId(1_000_001);
const ZOE: AccountId = AccountId(1_000_002);
/// No account has this identifier.
const NOBODY: AccountId = AccountId(77);

/// Two accounts, and a record of what was asked.
#[derive(Default)]
struct Users {
    is_down: bool,
    asked: Mutex<Vec<FindUsers>>,
}

fn users() -> [User; 2] {
    let user = |id, username: &str| User {
        id,
        username: username.to_owned(),
        bio: None,
        image: None,
    };
    [
        User {
            bio: Some("Bio".to_owned()),
            ..user(ANN, "ann")
        },
        User {
            image: Some("image".to_owned()),
            ..user(ZOE, "ZOË")
        },
    ]
}

#[async_trait]
impl UsersApi for Users {
    async fn find(&self, wanted: FindUsers) -> Result<Vec<User>, CallError> {
        let is_wanted = |user: &User| {
            wanted.ids.contains(&user.id) || wanted.names.contains(&NameKey::of_valid(&user.username))
        };
        let found = users().into_iter().filter(is_wanted).collect();
        self.asked.lock().unwrap().push(wanted);
        if self.is_down {
            return Err(CallError::TimedOut);
        }
        Ok(found)
    }
}

struct Port {
    users: Arc<Users>,
    reads: Composed,
    _database: TestDatabase,
}

impl Port {
    /// ann follows zoe.
    async fn over(users: Users) -> Self {
        let database = TestDatabase::without_shared_keys().await;
        let follows = ProfileStore::new(database.db("profiles"));
        follows.follow(ANN, ZOE).await.unwrap();
        let users = Arc::new(users);
        Self {
            reads: Composed::new(users.clone(), follows),
            users,
            _database: database,
        }
    }

    async fn show(&self, viewer: Viewer, name: &str) -> conduit_domain::Result<Option<Profile>> {
        self.reads.by_username(viewer, &NameKey::of(name).unwrap()).await
    }

    /// What was asked in the only call.
    fn only_call(&self) -> (Vec<AccountId>, Vec<String>) {
        let mut asked = std::mem::take(&mut *self.users.asked.lock().unwrap());
        assert_eq!(asked.len(), 1, "{asked:?}");
        let FindUsers { ids, names } = asked.remove(0);
        (ids, names.iter().map(|name| name.as_str().to_owned()).collect())
    }
}

fn profile(id: AccountId, following: bool) -> Option<Profile> {
    let user = users().into_iter().find(|user| user.id == id).unwrap();
    Some(Profile {
        id,
        username: user.username,
        bio: user.bio,
        image: user.image,
        following,
    })
}

#[tokio::test]
async fn an_account_is_shown_as_the_viewer_sees_it() {
    let port = Port::over(Users::default()).await;
    for (viewer, name, expected) in [
        (Viewer::Anonymous, "zoë", profile(ZOE, false)),
        (Viewer::SignedIn(ANN), "Zoë", profile(ZOE, true)),
        (Viewer::Acting(ANN), "zoË", profile(ZOE, true)),
        (Viewer::SignedIn(ZOE), "ann", profile(ANN, false)),
        (Viewer::SignedIn(ZOE), "zoë", profile(ZOE, false)),
        (Viewer::Acting(ZOE), "zoë", profile(ZOE, false)),
        (Viewer::SignedIn(NOBODY), "ann", profile(ANN, false)),
        (Viewer::Acting(ANN), "unknown", None),
        (Viewer::Anonymous, "unknown", None),
    ] {
        assert_eq!(
            port.show(viewer, name).await.unwrap(),
            expected,
            "{viewer:?} {name}"
        );
        port.only_call();
    }
}

#[tokio::test]
async fn the_account_that_acts_is_asked_for_in_the_same_call() {
    let port = Port::over(Users::default()).await;
    port.show(Viewer::Acting(ANN), "ZOË").await.unwrap();
    assert_eq!(port.only_call(), (vec![ANN], vec!["zoë".to_owned()]));
    port.show(Viewer::SignedIn(ANN), "ZOË").await.unwrap();
    assert_eq!(port.only_call(), (vec![], vec!["zoë".to_owned()]));
}

#[tokio::test]
async fn who_acts_must_exist_once_the_profile_does() {
    let port = Port::over(Users::default()).await;
    let outcome = port.show(Viewer::Acting(NOBODY), "ann").await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
    assert_eq!(port.show(Viewer::Acting(NOBODY), "unknown").await.unwrap(), None);
}

#[tokio::test]
async fn a_peer_that_is_down_is_unavailable() {
    let port = Port::over(Users {
        is_down: true,
        ..Users::default()
    })
    .await;
    let outcome = port.show(Viewer::Anonymous, "ann").await;
    assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
}
