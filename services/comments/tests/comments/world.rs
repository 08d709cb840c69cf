//! Peers in memory, and a record of what they were asked.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use conduit_comments::reads::Composed;
use conduit_domain::{AccountId, ArticleId, Comment, NewComment, Profile, Timestamp};
use conduit_rpc::{
    ArticlesApi, CallError, Deletion, DeletionCursor, FindUsers, Follow, ProfilesApi, User, UsersApi,
};
use conduit_store::CommentStore;
use conduit_testkit::TestDatabase;
use tokio::sync::Barrier;

/// Ids far apart by kind, so that swapped ones fail.
pub(crate) const ANN: AccountId = AccountId(1_000_001);
pub(crate) const BEN: AccountId = AccountId(1_000_002);
pub(crate) const CLEO: AccountId = AccountId(1_000_003);
/// No account has this identifier.
pub(crate) const NOBODY: AccountId = AccountId(77);
pub(crate) const BREAD: ArticleId = ArticleId(2_000_001);
pub(crate) const CAKE: ArticleId = ArticleId(2_000_002);

/// ann follows ben, ben follows cleo; ann's bio and image are not of one kind.
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
            follows: [(ANN, BEN), (BEN, CLEO)].into(),
            down: BTreeSet::new(),
            meeting: None,
            asked: Mutex::default(),
        }
    }
}

impl World {
    /// What was asked since the last time, sorted.
    pub(crate) fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.sort_unstable();
        asked
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

fn numbers(ids: impl IntoIterator<Item = AccountId>) -> String {
    let ids: BTreeSet<_> = ids.into_iter().collect();
    ids.iter().map(|id| format!(" {id}")).collect()
}

#[async_trait]
impl UsersApi for World {
    async fn find(&self, wanted: FindUsers) -> Result<Vec<User>, CallError> {
        assert!(wanted.names.is_empty());
        self.is_asked("users", format!("users{}", numbers(wanted.ids.iter().copied())))?;
        self.meet().await;
        // Not in the order of the question.
        let found = self
            .users
            .iter()
            .rev()
            .filter(|user| wanted.ids.contains(&user.id));
        Ok(found.cloned().collect())
    }
}

#[async_trait]
impl ProfilesApi for World {
    async fn follows(&self, pairs: Vec<Follow>) -> Result<Vec<Follow>, CallError> {
        let followers: BTreeSet<_> = pairs.iter().map(|pair| pair.follower).collect();
        assert_eq!(followers.len(), 1, "one viewer");
        let followees = numbers(pairs.iter().map(|pair| pair.followee));
        self.is_asked("profiles", format!("follows{}:{followees}", numbers(followers)))?;
        self.meet().await;
        let mut pairs = pairs;
        pairs.retain(|pair| self.follows.contains(&(pair.follower, pair.followee)));
        Ok(pairs)
    }

    async fn followed_by(&self, _viewer: AccountId) -> Result<Vec<AccountId>, CallError> {
        panic!("comments never ask for all follows");
    }
}

#[async_trait]
impl ArticlesApi for World {
    async fn ids_by_slugs(&self, slugs: Vec<String>) -> Result<Vec<(String, ArticleId)>, CallError> {
        self.is_asked("articles", format!("articles {}", slugs.join(" ")))?;
        let known = [("bread", BREAD), ("cake", CAKE)];
        let found = known
            .into_iter()
            .filter(|(slug, _)| slugs.iter().any(|wanted| wanted == slug));
        Ok(found.map(|(slug, id)| (slug.to_owned(), id)).collect())
    }

    async fn deleted_since(&self, _cursor: DeletionCursor, _limit: u32) -> Result<Vec<Deletion>, CallError> {
        panic!("a read never asks for deletions");
    }
}

/// The port under test, over its own tables and this world.
pub(crate) struct Port {
    pub(crate) world: Arc<World>,
    pub(crate) reads: Composed,
    comments: CommentStore,
    _database: TestDatabase,
}

impl Port {
    pub(crate) async fn over(world: World) -> Self {
        let database = TestDatabase::without_shared_keys().await;
        let comments = CommentStore::new(database.db("comments"));
        let world = Arc::new(world);
        let reads = Composed::new(world.clone(), world.clone(), world.clone(), comments.clone());
        Self {
            world,
            reads,
            comments,
            _database: database,
        }
    }

    /// A comment as a viewer sees it who follows the author or not.
    pub(crate) async fn comment(
        &self,
        article: ArticleId,
        author: AccountId,
        millis: i64,
        following: bool,
    ) -> Comment {
        let (id, created_at, body) = self.write(article, author, millis).await;
        Comment {
            id,
            created_at,
            body,
            author: self.world.profile(author, following),
        }
    }

    /// A comment in the table.
    pub(crate) async fn write(
        &self,
        article: ArticleId,
        author: AccountId,
        millis: i64,
    ) -> (conduit_domain::CommentId, Timestamp, String) {
        let created_at = Timestamp::from_millis(millis);
        let body = format!("By {author} at {millis}");
        let comment = NewComment { body: body.clone() };
        let id = self
            .comments
            .insert(article, author, &comment, created_at)
            .await
            .unwrap();
        (id, created_at, body)
    }
}
