//! The articles' store against real databases, most of it by many at once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod changes;
mod deletions;
mod favorites;
mod slugs;
mod totals;

use std::time::Duration;

use conduit_domain::{AccountId, ArticleId, Clock, NewArticle, Timestamp};
use conduit_store::articles::{ArticleRecord, ArticleStore};
use conduit_store::db::{Db, DbSettings};
use conduit_testkit::{FixedClock, TestDatabase};
use sqlx::Row;

/// A database with the articles' store on it, as its owner sees it, with enough connections for a crowd.
struct Shelf {
    database: TestDatabase,
    store: ArticleStore,
}

impl Shelf {
    async fn new() -> Self {
        let database = TestDatabase::new().await;
        let settings = DbSettings {
            connections: 16,
            ..database.settings("articles")
        };
        let limit = settings.wait;
        let store = ArticleStore::new(Db::new(settings).with_limit(limit));
        Self { database, store }
    }

    async fn account(&self, name: &str) -> AccountId {
        self.database.seed().account(name).await.id
    }

    async fn accounts(&self, count: usize) -> Vec<AccountId> {
        let seed = self.database.seed();
        let mut accounts = Vec::new();
        for n in 0..count {
            accounts.push(seed.account(&format!("reader{n}")).await.id);
        }
        accounts
    }

    async fn publish(&self, author: AccountId, title: &str, tags: &[&str]) -> ArticleRecord {
        self.store
            .insert(author, &article(title, tags), now())
            .await
            .unwrap()
    }

    /// One number from behind the scenes.
    async fn number(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query)
            .fetch_one(&mut self.database.admin().await)
            .await
            .unwrap()
    }

    async fn favorites(&self, article: ArticleId) -> (i64, i64) {
        let query =
            "select a.favorites_count, (select count(*) from articles.favorites f where f.article_id = a.id)
            from articles.articles a where a.id = $1";
        let row = sqlx::query(query)
            .bind(article.0)
            .fetch_one(&mut self.database.admin().await)
            .await
            .unwrap();
        (row.get(0), row.get(1))
    }

    /// Waits until at least so many sessions wait for others, and none for `not`.
    async fn until_blocked(&self, sessions: i64, not: i32) {
        let mut admin = self.database.admin().await;
        let query =
            "select count(*) >= $1 and not bool_or($2 = any(pg_blocking_pids(pid))) from pg_stat_activity
            where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0";
        for _ in 0..1000 {
            let blocked: Option<bool> = sqlx::query_scalar(query)
                .bind(sessions)
                .bind(not)
                .fetch_one(&mut admin)
                .await
                .unwrap();
            if blocked == Some(true) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{sessions} sessions should wait, none of them for {not}");
    }

    /// Every total as kept and as counted anew.
    async fn assert_totals_are_right(&self) {
        let tags = "select count(*) from (select tag, articles from articles.tag_totals) kept
            full join (select tag, count(*) as articles from articles.article_tags group by tag) counted using (tag)
            where kept.articles is distinct from counted.articles";
        let lists = "select count(*) from articles.articles a
            where a.tag_list <> array(select t.tag from articles.article_tags t where t.article_id = a.id order by t.tag)";
        let authors = "select count(*) from articles.author_totals kept
            full join (select author_id, count(*) as articles from articles.articles group by author_id) counted
              using (author_id)
            where coalesce(kept.articles, 0) <> coalesce(counted.articles, 0)";
        let all =
            "select abs((select articles from articles.article_total) - count(*)) from articles.articles";
        let favorites = "select count(*) from articles.articles a
            where a.favorites_count <> (select count(*) from articles.favorites f where f.article_id = a.id)";
        let copies = "select count(*) from articles.articles a
            join (
              select article_id, author_id, created_at from articles.article_tags
              union all select article_id, author_id, created_at from articles.favorites
            ) copy on copy.article_id = a.id
            where (copy.author_id, copy.created_at) <> (a.author_id, a.created_at)";
        for query in [tags, lists, authors, all, favorites, copies] {
            assert_eq!(self.number(query).await, 0, "{query}");
        }
    }
}

fn now() -> Timestamp {
    FixedClock::default().now()
}

fn later(millis: i64) -> Timestamp {
    Timestamp::from_millis(now().millis() + millis)
}

fn article(title: &str, tags: &[&str]) -> NewArticle {
    NewArticle {
        title: title.to_owned(),
        description: format!("About {title}"),
        body: format!("All of {title}"),
        tag_list: tags.iter().map(|&tag| tag.to_owned()).collect(),
    }
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}
