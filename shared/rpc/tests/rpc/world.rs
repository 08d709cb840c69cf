//! A peer in memory: a few accounts, follows and articles, and a record of what it was asked.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use conduit_domain::{AccountId, ArticleId, NameKey};
use conduit_rpc::{
    ArticlesApi, CallError, Deletion, DeletionCursor, FindUsers, Follow, ProfilesApi, User, UsersApi,
    deadline,
};
use tokio::time::Instant;

#[derive(Default)]
pub(crate) struct World {
    pub(crate) users: Vec<User>,
    pub(crate) follows: BTreeSet<(i64, i64)>,
    pub(crate) articles: Vec<(String, ArticleId)>,
    pub(crate) deletions: Vec<Deletion>,
    pub(crate) mood: Mood,
    /// Of the calls it was asked.
    pub(crate) deadlines: Mutex<Vec<Option<Instant>>>,
}

/// How the world answers.
#[derive(Clone, Copy, Default)]
pub(crate) enum Mood {
    #[default]
    Well,
    Failing,
    Silent,
}

impl World {
    async fn is_asked(&self) -> Result<(), CallError> {
        self.deadlines.lock().unwrap().push(deadline::current());
        match self.mood {
            Mood::Well => Ok(()),
            Mood::Failing => Err(CallError::failed("the database of the peer says: secret detail")),
            Mood::Silent => std::future::pending().await,
        }
    }
}

#[async_trait]
impl UsersApi for World {
    async fn find(&self, wanted: FindUsers) -> Result<Vec<User>, CallError> {
        self.is_asked().await?;
        let is_wanted = |user: &&User| {
            wanted.ids.contains(&user.id) || wanted.names.contains(&NameKey::of_valid(&user.username))
        };
        Ok(self.users.iter().filter(is_wanted).cloned().collect())
    }
}

#[async_trait]
impl ProfilesApi for World {
    async fn follows(&self, pairs: Vec<Follow>) -> Result<Vec<Follow>, CallError> {
        self.is_asked().await?;
        Ok(pairs
            .into_iter()
            .filter(|pair| self.follows.contains(&(pair.follower.0, pair.followee.0)))
            .collect())
    }

    async fn followed_by(&self, viewer: AccountId) -> Result<Vec<AccountId>, CallError> {
        self.is_asked().await?;
        let own = self.follows.iter().filter(|(follower, _)| *follower == viewer.0);
        Ok(own.map(|(_, followee)| AccountId(*followee)).collect())
    }
}

#[async_trait]
impl ArticlesApi for World {
    async fn ids_by_slugs(&self, slugs: Vec<String>) -> Result<Vec<(String, ArticleId)>, CallError> {
        self.is_asked().await?;
        Ok(self
            .articles
            .iter()
            .filter(|(slug, _)| slugs.contains(slug))
            .cloned()
            .collect())
    }

    async fn deleted_since(&self, cursor: DeletionCursor, limit: u32) -> Result<Vec<Deletion>, CallError> {
        self.is_asked().await?;
        let after = self.deletions.iter().filter(|deletion| deletion.cursor > cursor);
        Ok(after.take(limit as usize).copied().collect())
    }
}

pub(crate) fn user(id: i64, username: &str) -> User {
    User {
        id: AccountId(id),
        username: username.to_owned(),
        bio: None,
        image: None,
    }
}

pub(crate) fn deletion(transaction: u64, article: i64) -> Deletion {
    let article = ArticleId(article);
    Deletion {
        article,
        cursor: DeletionCursor { transaction, article },
    }
}

/// Ids far apart by kind, so that swapped ones fail.
pub(crate) fn small() -> Arc<World> {
    let bio = Some("Zoë’s bio:\u{1f980}\n\"quoted\"\u{1}".to_owned());
    Arc::new(World {
        users: vec![
            user(1_000_001, "ann"),
            User {
                bio,
                image: Some("https://x/ü.png".to_owned()),
                ..user(1_000_002, "Zoë van\u{a0}X")
            },
            User {
                bio: Some(String::new()),
                ..user(i64::MAX, "max")
            },
        ],
        follows: [(1_000_001, 1_000_002), (1_000_002, i64::MAX)].into(),
        articles: vec![
            ("bread-notes".to_owned(), ArticleId(2_000_001)),
            ("x-2".to_owned(), ArticleId(2_000_002)),
        ],
        deletions: vec![
            deletion(7, 2_000_009),
            deletion(7, 2_000_010),
            deletion(u64::MAX, 2_000_003),
        ],
        ..World::default()
    })
}
