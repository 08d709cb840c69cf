//! Peers in memory, and a record of what they were asked.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use conduit_articles::reads::Composed;
use conduit_domain::{
    AccountId, ArticleFilter, ArticleSummary, NameKey, NewArticle, Page, Profile, Timestamp,
};
use conduit_rpc::{CallError, FindUsers, Follow, ProfilesApi, User, UsersApi};
use conduit_store::{ArticleRecord, ArticleStore};
use conduit_testkit::TestDatabase;
use tokio::sync::Barrier;

/// Ids far apart by kind, so that swapped ones fail.
pub(crate) const ANN: AccountId = AccountId(1_000_001);
pub(crate) const BEN: AccountId = AccountId(1_000_002);
pub(crate) const CLEO: AccountId = AccountId(1_000_003);
/// No account has this identifier.
pub(crate) const NOBODY: AccountId = AccountId(77);

pub(crate) const ALL: Page = Page {
    limit: 100,
    offset: 0,
};

/// ann follows ben and cleo, ben follows cleo; ann's bio and image are not of one kind.
pub(crate) struct World {
    pub(crate) users: Vec<User>,
    pub(crate) follows: BTreeSet<(AccountId, AccountId)>,
    /// Peers that cannot answer.
    pub(crate) down: BTreeSet<&'static str>,
    /// Where users and profiles wait for each other, if they do.
    pub(crate) meeting: Option<Barrier>,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Default for World {
    fn default() -> Self {
        let user = |id, username: &str| User {
            id,
            username: username.to_owned(),
            bio: None,
            image: None,
        };
        Self {
            users: vec![
                User {
                    bio: Some("Bio".to_owned()),
                    ..user(ANN, "Ann")
                },
                User {
                    image: Some("image".to_owned()),
                    ..user(BEN, "ben")
                },
                user(CLEO, "Zoë C"),
            ],
            follows: [(ANN, BEN), (ANN, CLEO), (BEN, CLEO)].into(),
            down: BTreeSet::new(),
            meeting: None,
            asked: Mutex::default(),
        }
    }
}

impl World {
    /// What was asked since the last time, in order but for what was asked at the same time.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    /// The account as an author whom the viewer follows or not.
    pub(crate) fn profile(&self, id: AccountId, following: bool) -> Profile {
        let user = self.users.iter().find(|user| user.id == id).unwrap().clone();
        Profile {
            id,
            username: user.username,
            bio: user.bio,
            image: user.image,
            following,
        }
    }

    fn is_asked(&self, peer: &'static str, what: String) -> Result<(), CallError> {
        self.asked.lock().unwrap().push(what);
        if self.down.contains(peer) {
            return Err(CallError::unreachable("it is down"));
        }
        Ok(())
    }

    async fn meet(&self) {
        if let Some(meeting) = &self.meeting {
            meeting.wait().await;
        }
    }
}

/// Each once: whoever asks names nobody twice.
fn numbers(ids: &[AccountId]) -> String {
    let distinct: BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    distinct.iter().map(|id| format!(" {id}")).collect()
}

#[async_trait]
impl UsersApi for World {
    async fn find(&self, FindUsers { ids, names }: FindUsers) -> Result<Vec<User>, CallError> {
        let named: String = names.iter().map(|name| format!(" {}", name.as_str())).collect();
        self.is_asked("users", format!("users{}{named}", numbers(&ids)))?;
        self.meet().await;
        // Not in the order of the question.
        let found = self
            .users
            .iter()
            .rev()
            .filter(|user| ids.contains(&user.id) || names.contains(&NameKey::of_valid(&user.username)));
        Ok(found.cloned().collect())
    }
}

#[async_trait]
impl ProfilesApi for World {
    async fn follows(&self, mut pairs: Vec<Follow>) -> Result<Vec<Follow>, CallError> {
        let followers: BTreeSet<_> = pairs.iter().map(|pair| pair.follower).collect();
        assert_eq!(followers.len(), 1, "one viewer");
        let followees: Vec<_> = pairs.iter().map(|pair| pair.followee).collect();
        self.is_asked(
            "profiles",
            format!("follows {}:{}", pairs[0].follower, numbers(&followees)),
        )?;
        self.meet().await;
        pairs.retain(|pair| self.follows.contains(&(pair.follower, pair.followee)));
        pairs.reverse();
        Ok(pairs)
    }

    async fn followed_by(&self, viewer: AccountId) -> Result<Vec<AccountId>, CallError> {
        self.is_asked("profiles", format!("followed by {viewer}"))?;
        self.meet().await;
        let pairs = self.follows.iter().filter(|(follower, _)| *follower == viewer);
        Ok(pairs.map(|(_, followee)| *followee).collect())
    }
}

/// The port under test, over its own tables and this world.
pub(crate) struct Port {
    pub(crate) world: Arc<World>,
    pub(crate) reads: Composed,
    pub(crate) articles: ArticleStore,
    pub(crate) database: TestDatabase,
}

impl Port {
    pub(crate) async fn over(world: World) -> Self {
        let database = TestDatabase::without_shared_keys().await;
        let articles = ArticleStore::new(database.db("articles"));
        let world = Arc::new(world);
        let reads = Composed::new(world.clone(), world.clone(), articles.clone());
        Self {
            world,
            reads,
            articles,
            database,
        }
    }

    /// Publishes at this moment.
    pub(crate) async fn publish(
        &self,
        author: AccountId,
        title: &str,
        tag: &str,
        millis: i64,
    ) -> ArticleRecord {
        let article = NewArticle {
            title: title.to_owned(),
            description: format!("About {title}"),
            body: format!("All of {title}"),
            tag_list: vec![tag.to_owned()],
        };
        let now = Timestamp::from_millis(millis);
        self.articles.insert(author, &article, now).await.unwrap()
    }

    /// ann's Bread (1 ms, tag food, a favorite of ben's), ben's Cake (2 ms, tag food, a favorite of ann's and cleo's), cleo's Dogs
    /// (3 ms, tag pets).
    pub(crate) async fn with_articles(world: World) -> (Self, [ArticleRecord; 3]) {
        let port = Self::over(world).await;
        let mut bread = port.publish(ANN, "Bread", "food", 1).await;
        let mut cake = port.publish(BEN, "Cake", "food", 2).await;
        let dogs = port.publish(CLEO, "Dogs", "pets", 3).await;
        for (record, fans) in [(&mut bread, &[BEN][..]), (&mut cake, &[ANN, CLEO])] {
            for fan in fans {
                record.favorites_count = port.articles.favorite(record.id, *fan).await.unwrap().unwrap();
            }
        }
        (port, [bread, cake, dogs])
    }

    /// The article as a viewer sees it who has it as a favorite or not, and follows its author or not.
    pub(crate) fn seen(&self, record: &ArticleRecord, favorited: bool, following: bool) -> ArticleSummary {
        let author = self.world.profile(record.author, following);
        ArticleSummary {
            favorited,
            ..record.clone().by(author).summary
        }
    }
}

pub(crate) fn filter(tag: Option<&str>, author: Option<&str>, favorited: Option<&str>) -> ArticleFilter {
    ArticleFilter::read(tag, author, favorited).unwrap()
}
