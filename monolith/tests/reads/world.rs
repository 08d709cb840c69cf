//! A small random world, in a database and in memory: what the database answers must be what the model says.

use std::collections::BTreeSet;

use conduit_domain::account::NewAccount;
use conduit_domain::{
    AccountId, ArticleFilter, ArticlePage, ArticleSummary, NameKey, NewArticle, Page, Profile, Timestamp,
};
use conduit_store::articles::{ArticleRecord, ArticleStore};
use conduit_store::profiles::ProfileStore;
use conduit_store::users::UserStore;
use conduit_testkit::TestDatabase;
use monolith::reads::Joined;

pub(crate) const TAGS: [&str; 6] = ["a", "b", "c", "Rust", "rust", "web dev"];

/// No account has this identifier.
pub(crate) const NOBODY: AccountId = AccountId(77);

/// Numbers that look random and are the same every time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    pub(crate) fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

pub(crate) struct World {
    pub(crate) database: TestDatabase,
    pub(crate) reads: Joined,
    pub(crate) accounts: Vec<Profile>,
    follows: BTreeSet<(AccountId, AccountId)>,
    articles: Vec<ModelArticle>,
}

struct ModelArticle {
    record: ArticleRecord,
    fans: BTreeSet<AccountId>,
}

impl World {
    /// Ten accounts, of which the first writes half of all, the second likes nearly everything, the last two do nothing; times so
    /// few that many articles share one.
    pub(crate) async fn random(seed: u64, articles: usize) -> Self {
        let database = TestDatabase::new().await;
        let reads = Joined::new(database.db("monolith"));
        let mut world = Self {
            database,
            reads,
            accounts: Vec::new(),
            follows: BTreeSet::new(),
            articles: Vec::new(),
        };
        let mut dice = Dice(seed);
        world.add_accounts().await;
        world.add_follows(&mut dice).await;
        for n in 0..articles {
            world.add_article(n, &mut dice).await;
        }
        world
    }

    async fn add_accounts(&mut self) {
        let users = UserStore::new(self.database.db("monolith"));
        for n in 0..10 {
            let account = NewAccount {
                username: format!("Ünï {n}"),
                email: format!("{n}@example.com"),
                password_hash: "none".to_owned(),
                created_at: Timestamp::from_millis(n),
            };
            let account = users.insert(&account).await.unwrap();
            let id = account.id;
            let username = account.username;
            self.accounts.push(Profile {
                id,
                username,
                bio: None,
                image: None,
                following: false,
            });
        }
        let mut admin = self.database.admin().await;
        let described =
            "update users.accounts set bio = 'Bio of ' || username, image = 'Image of ' || username
            where id % 3 = 0 returning id, bio, image";
        let rows: Vec<(i64, String, String)> = sqlx::query_as(described).fetch_all(&mut admin).await.unwrap();
        assert!(!rows.is_empty());
        for (id, bio, image) in rows {
            let account = self
                .accounts
                .iter_mut()
                .find(|account| account.id.0 == id)
                .unwrap();
            (account.bio, account.image) = (Some(bio), Some(image));
        }
    }

    async fn add_follows(&mut self, dice: &mut Dice) {
        let profiles = ProfileStore::new(self.database.db("monolith"));
        for follower in 0..9 {
            for followee in 0..9 {
                if follower != followee && dice.one_in(2) {
                    let pair = (self.accounts[follower].id, self.accounts[followee].id);
                    profiles.follow(pair.0, pair.1).await.unwrap();
                    self.follows.insert(pair);
                }
            }
        }
    }

    async fn add_article(&mut self, n: usize, dice: &mut Dice) {
        let store = ArticleStore::new(self.database.db("monolith"));
        let author = self.accounts[if dice.one_in(2) { 0 } else { dice.below(8) }].id;
        let tags: BTreeSet<_> = (0..dice.below(4))
            .map(|_| TAGS[dice.below(36).min(dice.below(6))])
            .collect();
        let article = NewArticle {
            title: format!("Title {}", n % 7),
            description: format!("Description {n}"),
            body: format!("Body {n}"),
            tag_list: tags.into_iter().map(str::to_owned).collect(),
        };
        let created_at = Timestamp::from_millis(1_767_323_045_000 + i64::try_from(dice.below(9)).unwrap());
        let mut record = store.insert(author, &article, created_at).await.unwrap();
        let mut fans = BTreeSet::new();
        for (n, fan) in self.accounts.iter().enumerate().take(8) {
            if (n == 1 && !dice.one_in(10)) || dice.one_in(5) {
                record.favorites_count = store.favorite(record.id, fan.id).await.unwrap().unwrap();
                fans.insert(fan.id);
            }
        }
        assert_eq!(record.favorites_count, i64::try_from(fans.len()).unwrap());
        self.articles.push(ModelArticle { record, fans });
    }

    pub(crate) fn key(&self, account: usize) -> NameKey {
        NameKey::of(&self.accounts[account].username).unwrap()
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &ArticleRecord> {
        self.articles.iter().map(|article| &article.record)
    }

    /// The account as the viewer sees it.
    pub(crate) fn profile(&self, viewer: Option<AccountId>, id: AccountId) -> Profile {
        let account = self.accounts.iter().find(|account| account.id == id).unwrap();
        let following = viewer.is_some_and(|viewer| self.follows.contains(&(viewer, id)));
        Profile {
            following,
            ..account.clone()
        }
    }

    fn named(&self, name: Option<&NameKey>) -> Option<Option<AccountId>> {
        let Some(name) = name else { return Some(None) };
        let account = self
            .accounts
            .iter()
            .find(|account| NameKey::of(&account.username).as_ref() == Some(name))?;
        Some(Some(account.id))
    }

    pub(crate) fn list(&self, viewer: Option<AccountId>, filter: &ArticleFilter, page: Page) -> ArticlePage {
        let (Some(author), Some(fan)) = (
            self.named(filter.author.as_ref()),
            self.named(filter.favorited.as_ref()),
        ) else {
            return ArticlePage::default();
        };
        self.page(viewer, page, |article| {
            filter
                .tag
                .as_ref()
                .is_none_or(|tag| article.record.tag_list.contains(tag))
                && author.is_none_or(|author| article.record.author == author)
                && fan.is_none_or(|fan| article.fans.contains(&fan))
        })
    }

    pub(crate) fn feed(&self, caller: AccountId, page: Page) -> ArticlePage {
        self.page(Some(caller), page, |article| {
            self.follows.contains(&(caller, article.record.author))
        })
    }

    fn page(
        &self,
        viewer: Option<AccountId>,
        page: Page,
        holds: impl Fn(&ModelArticle) -> bool,
    ) -> ArticlePage {
        let mut found: Vec<_> = self.articles.iter().filter(|article| holds(article)).collect();
        found.sort_by_key(|article| (article.record.created_at, article.record.id));
        found.reverse();
        let total = i64::try_from(found.len()).unwrap();
        let offset = usize::try_from(page.offset).unwrap();
        let shown = found
            .into_iter()
            .skip(offset)
            .take(usize::try_from(page.limit).unwrap());
        ArticlePage {
            articles: shown.map(|article| self.summary(viewer, article)).collect(),
            total,
        }
    }

    pub(crate) fn summary_of(&self, viewer: Option<AccountId>, slug: &str) -> ArticleSummary {
        let article = self
            .articles
            .iter()
            .find(|article| article.record.slug == slug)
            .unwrap();
        self.summary(viewer, article)
    }

    fn summary(
        &self,
        viewer: Option<AccountId>,
        ModelArticle { record, fans }: &ModelArticle,
    ) -> ArticleSummary {
        let record = record.clone();
        ArticleSummary {
            id: record.id,
            slug: record.slug,
            title: record.title,
            description: record.description,
            tag_list: record.tag_list,
            created_at: record.created_at,
            updated_at: record.updated_at,
            favorited: viewer.is_some_and(|viewer| fans.contains(&viewer)),
            favorites_count: record.favorites_count,
            author: self.profile(viewer, record.author),
        }
    }
}
