//! A small random world in one database, and small random changes of it.

use std::collections::BTreeSet;

use conduit_domain::account::{AccountUpdate, NewAccount};
use conduit_domain::{
    Account, AccountId, ArticleChanges, ArticleId, CommentId, NewArticle, NewComment, Timestamp,
};
use conduit_store::{ArticleRecord, ArticleStore, CommentStore, ProfileStore, UserStore};
use conduit_testkit::TestDatabase;
use rand::rngs::StdRng;
use rand::seq::{IndexedMutRandom, IndexedRandom};
use rand::{RngExt, SeedableRng};

pub(crate) const TAGS: [&str; 4] = ["a", "b", "Rust", "web dev"];

/// No account has this identifier.
pub(crate) const NOBODY: AccountId = AccountId(77);

pub(crate) struct World {
    pub(crate) database: TestDatabase,
    pub(crate) dice: StdRng,
    pub(crate) accounts: Vec<Account>,
    pub(crate) articles: Vec<ArticleRecord>,
    pub(crate) former_names: Vec<String>,
    pub(crate) former_slugs: Vec<String>,
    comments: Vec<CommentId>,
    stores: Stores,
    changes: usize,
}

struct Stores {
    users: UserStore,
    profiles: ProfileStore,
    articles: ArticleStore,
    comments: CommentStore,
}

impl World {
    pub(crate) async fn random(seed: u64, accounts: usize, articles: usize) -> Self {
        let database = TestDatabase::new().await;
        let db = database.db("monolith");
        let stores = Stores {
            users: UserStore::new(db.clone()),
            profiles: ProfileStore::new(db.clone()),
            articles: ArticleStore::new(db.clone()),
            comments: CommentStore::new(db),
        };
        let mut world = Self {
            database,
            dice: StdRng::seed_from_u64(seed),
            accounts: Vec::new(),
            articles: Vec::new(),
            former_names: Vec::new(),
            former_slugs: Vec::new(),
            comments: Vec::new(),
            stores,
            changes: 0,
        };
        for n in 0..accounts {
            world.add_account(n).await;
        }
        for _ in 0..articles {
            world.publish().await;
        }
        for _ in 0..accounts * accounts / 2 {
            world.follow_or_not().await;
        }
        for _ in 0..articles * 2 {
            world.favorite_or_not().await;
            world.comment().await;
        }
        world
    }

    async fn add_account(&mut self, n: usize) {
        let account = NewAccount {
            username: format!("Ünï Ann {n}"),
            email: format!("{n}@example.com"),
            password_hash: "none".to_owned(),
            created_at: self.moment(),
        };
        self.accounts
            .push(self.stores.users.insert(&account).await.unwrap());
        if n.is_multiple_of(2) {
            self.rewrite_an_account().await;
        }
    }

    /// One of so few that most things share theirs with others.
    fn moment(&mut self) -> Timestamp {
        Timestamp::from_millis(1_767_323_045_000 + self.dice.random_range(0..6))
    }

    fn anybody(&mut self) -> Option<AccountId> {
        self.accounts.choose(&mut self.dice).map(|account| account.id)
    }

    fn any_article(&mut self) -> Option<ArticleId> {
        self.articles.choose(&mut self.dice).map(|article| article.id)
    }

    fn tags(&mut self) -> Vec<String> {
        let count = self.dice.random_range(0..3);
        let tags: BTreeSet<_> = (0..count)
            .map(|_| *TAGS.choose(&mut self.dice).unwrap())
            .collect();
        tags.into_iter().map(str::to_owned).collect()
    }

    fn title(&mut self) -> String {
        format!("Title {}", self.dice.random_range(0..5))
    }

    /// The first account writes half of all.
    async fn publish(&mut self) {
        let first = self.accounts.first().map(|account| account.id);
        let author = if self.dice.random_bool(0.5) {
            first
        } else {
            self.anybody()
        };
        let Some(author) = author else { return };
        let n = self.articles.len();
        let article = NewArticle {
            title: self.title(),
            description: format!("Description {n}"),
            body: format!("Body {n}"),
            tag_list: self.tags(),
        };
        let now = self.moment();
        self.articles
            .push(self.stores.articles.insert(author, &article, now).await.unwrap());
    }

    async fn follow_or_not(&mut self) {
        let (Some(follower), Some(followee)) = (self.anybody(), self.anybody()) else {
            return;
        };
        if follower == followee {
            return;
        }
        let outcome = if self.dice.random_bool(0.8) {
            self.stores.profiles.follow(follower, followee).await
        } else {
            self.stores.profiles.unfollow(follower, followee).await
        };
        outcome.unwrap();
    }

    async fn favorite_or_not(&mut self) {
        let (Some(account), Some(article)) = (self.anybody(), self.any_article()) else {
            return;
        };
        let outcome = if self.dice.random_bool(0.8) {
            self.stores.articles.favorite(article, account).await
        } else {
            self.stores.articles.unfavorite(article, account).await
        };
        assert!(outcome.unwrap().is_some());
    }

    async fn comment(&mut self) {
        let (Some(author), Some(article)) = (self.anybody(), self.any_article()) else {
            return;
        };
        let comment = NewComment {
            body: format!("Comment {}", self.comments.len()),
        };
        let now = self.moment();
        self.comments.push(
            self.stores
                .comments
                .insert(article, author, &comment, now)
                .await
                .unwrap(),
        );
    }

    /// One of everything that a client can change, and of what an administrator can. Every kind comes in its turn.
    pub(crate) async fn change(&mut self) {
        self.changes += 1;
        match self.changes % 10 {
            1 => self.rename_an_account().await,
            2 => self.retitle_an_article().await,
            3 => self.delete_an_article().await,
            4 => self.delete_a_comment().await,
            5 => self.remove_an_account().await,
            6 => self.follow_or_not().await,
            7 => self.favorite_or_not().await,
            8 => self.publish().await,
            9 => self.comment().await,
            _ => self.rewrite_an_account().await,
        }
    }

    async fn rename_an_account(&mut self) {
        let username = format!("Renamed {}", self.changes);
        let update = AccountUpdate {
            username: Some(username),
            ..self.no_update()
        };
        self.update_an_account(update).await;
    }

    async fn rewrite_an_account(&mut self) {
        let bio = self
            .dice
            .random_bool(0.8)
            .then(|| format!("Bio\n{}", self.changes));
        let image = self
            .dice
            .random_bool(0.5)
            .then(|| "https://example.com/ü.png".to_owned());
        let update = AccountUpdate {
            bio: Some(bio),
            image: Some(image),
            ..self.no_update()
        };
        self.update_an_account(update).await;
    }

    fn no_update(&mut self) -> AccountUpdate {
        AccountUpdate {
            username: None,
            email: None,
            password_hash: None,
            bio: None,
            image: None,
            updated_at: self.moment(),
        }
    }

    async fn update_an_account(&mut self, update: AccountUpdate) {
        let Some(account) = self.accounts.choose_mut(&mut self.dice) else {
            return;
        };
        let updated = self
            .stores
            .users
            .update(account.id, &update)
            .await
            .unwrap()
            .unwrap();
        let former = std::mem::replace(account, updated);
        if former.username != account.username {
            self.former_names.push(former.username);
        }
    }

    async fn retitle_an_article(&mut self) {
        let changes = ArticleChanges {
            title: Some(self.title()),
            tag_list: Some(self.tags()),
            ..ArticleChanges::default()
        };
        let now = self.moment();
        let Some(article) = self.articles.choose_mut(&mut self.dice) else {
            return;
        };
        let updated = self
            .stores
            .articles
            .update(article.id, &changes, now, article.author)
            .await
            .unwrap();
        let former = std::mem::replace(article, updated.unwrap());
        self.former_slugs.push(former.slug);
    }

    async fn delete_an_article(&mut self) {
        if self.articles.is_empty() {
            return;
        }
        let article = self
            .articles
            .swap_remove(self.dice.random_range(0..self.articles.len()));
        let now = self.moment();
        // It may have gone with its author.
        self.stores.articles.delete(article.id, now).await.unwrap();
        self.former_slugs.push(article.slug);
    }

    async fn delete_a_comment(&mut self) {
        if self.comments.is_empty() {
            return;
        }
        let comment = self
            .comments
            .swap_remove(self.dice.random_range(0..self.comments.len()));
        // It may have gone with its article.
        self.stores.comments.delete(comment).await.unwrap();
    }

    /// No route does that; somebody with the administrator's rights may. The keys take along all that is the account's.
    async fn remove_an_account(&mut self) {
        if self.accounts.len() < 4 {
            return;
        }
        let account = self
            .accounts
            .swap_remove(self.dice.random_range(0..self.accounts.len()));
        sqlx::query("delete from users.accounts where id = $1")
            .bind(account.id.0)
            .execute(&mut self.database.admin().await)
            .await
            .unwrap();
        self.former_names.push(account.username);
        let (gone, left) = self
            .articles
            .drain(..)
            .partition(|article| article.author == account.id);
        self.articles = left;
        self.former_slugs
            .extend(Vec::<ArticleRecord>::into_iter(gone).map(|article| article.slug));
    }
}
