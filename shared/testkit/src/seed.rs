//! Accounts, follows, articles, favorites and comments for a test to find, put in through the stores.

use conduit_domain::account::NewAccount;
use conduit_domain::{Account, AccountId, ArticleId, Clock, CommentId, NewArticle, NewComment};
use conduit_store::articles::{ArticleRecord, ArticleStore};
use conduit_store::comments::CommentStore;
use conduit_store::db::Db;
use conduit_store::profiles::ProfileStore;
use conduit_store::users::UserStore;

use crate::clock::SteppingClock;
use crate::or_panic;

/// Puts things in, each a millisecond after the one before. All methods panic where that fails.
pub struct Seed {
    users: UserStore,
    profiles: ProfileStore,
    articles: ArticleStore,
    comments: CommentStore,
    clock: SteppingClock,
}

impl Seed {
    /// Puts things in through this pool, whose role must be the monolith's.
    pub fn new(db: &Db) -> Self {
        Self {
            users: UserStore::new(db.clone()),
            profiles: ProfileStore::new(db.clone()),
            articles: ArticleStore::new(db.clone()),
            comments: CommentStore::new(db.clone()),
            clock: SteppingClock::default(),
        }
    }

    /// An account of this name, at `<name>@example.com`, that nobody can log in to.
    pub async fn account(&self, username: &str) -> Account {
        let account = NewAccount {
            username: username.to_owned(),
            email: format!("{username}@example.com"),
            password_hash: "none".to_owned(),
            created_at: self.clock.now(),
        };
        or_panic(self.users.insert(&account).await.map_err(Into::into))
    }

    /// The one follows the other.
    pub async fn follow(&self, follower: AccountId, followee: AccountId) {
        or_panic(self.profiles.follow(follower, followee).await.map_err(Into::into));
    }

    /// An article; the tags in ascending order of code points.
    pub async fn article(&self, author: AccountId, title: &str, tags: &[&str]) -> ArticleRecord {
        let article = NewArticle {
            title: title.to_owned(),
            description: format!("About {title}"),
            body: format!("All of {title}"),
            tag_list: tags.iter().map(|&tag| tag.to_owned()).collect(),
        };
        or_panic(
            self.articles
                .insert(author, &article, self.clock.now())
                .await
                .map_err(Into::into),
        )
    }

    /// The account has the article as a favorite.
    pub async fn favorite(&self, account: AccountId, article: ArticleId) {
        or_panic(self.articles.favorite(article, account).await.map_err(Into::into));
    }

    /// A comment.
    pub async fn comment(&self, author: AccountId, article: ArticleId, body: &str) -> CommentId {
        let comment = NewComment {
            body: body.to_owned(),
        };
        let now = self.clock.now();
        or_panic(
            self.comments
                .insert(article, author, &comment, now)
                .await
                .map_err(Into::into),
        )
    }
}
