//! Deletions as the articles' own store tells of them, worked off here.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use conduit_comments::purger::Purger;
use conduit_domain::{AccountId, ArticleId, Clock, Timestamp};
use conduit_rpc::{ArticlesApi, CallError, Deletion, DeletionCursor};
use conduit_store::{ArticleStore, CommentStore, DeletionsRead};
use conduit_testkit::{FixedClock, Seed, TestDatabase};
use futures_util::future::join_all;

const GRACE: Duration = Duration::from_secs(30);
/// Against a test that hangs; everything here takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The articles service, as far as deletions go.
struct Articles {
    store: ArticleStore,
    /// So many calls fail first.
    failures: AtomicUsize,
}

#[async_trait]
impl ArticlesApi for Articles {
    async fn ids_by_slugs(&self, _slugs: Vec<String>) -> Result<Vec<(String, ArticleId)>, CallError> {
        panic!("a purger never asks for slugs");
    }

    async fn deleted_since(&self, cursor: DeletionCursor, limit: u32) -> Result<Vec<Deletion>, CallError> {
        let fails = self
            .failures
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if fails.is_ok() {
            return Err(CallError::TimedOut);
        }
        let found = self
            .store
            .deleted_since(cursor.transaction, cursor.article, limit.into())
            .await?;
        let deletions = found.into_iter().map(|found| Deletion {
            article: found.article,
            cursor: DeletionCursor {
                transaction: found.transaction,
                article: found.article,
            },
        });
        Ok(deletions.collect())
    }
}

struct Setting {
    seed: Seed,
    articles: ArticleStore,
    comments: CommentStore,
    database: TestDatabase,
    author: AccountId,
    now: Timestamp,
}

impl Setting {
    async fn new(database: TestDatabase) -> Self {
        let seed = database.seed();
        let author = seed.account("ann").await.id;
        let now = FixedClock::default().now();
        Self {
            seed,
            articles: ArticleStore::new(database.db("articles")),
            comments: CommentStore::new(database.db("comments")),
            database,
            author,
            now,
        }
    }

    async fn split() -> Self {
        Self::new(TestDatabase::without_shared_keys().await).await
    }

    /// Articles with two comments each.
    async fn publish(&self, count: usize) -> Vec<ArticleId> {
        let mut articles = Vec::new();
        for n in 0..count {
            let article = self
                .seed
                .article(self.author, &format!("Bread {n}"), &[])
                .await
                .id;
            articles.push(article);
            self.comment(article).await;
            self.comment(article).await;
        }
        articles
    }

    async fn comment(&self, article: ArticleId) {
        self.seed.comment(self.author, article, "Well done").await;
    }

    async fn delete(&self, article: ArticleId) {
        assert!(self.articles.delete(article, self.now).await.unwrap());
    }

    /// The articles that have comments.
    async fn commented(&self) -> BTreeSet<ArticleId> {
        let statement = "select article_id from comments.comments";
        let rows = self.database.session().await.numbers(statement).await;
        rows.into_iter().map(ArticleId).collect()
    }

    async fn purges(&self) -> i64 {
        let statement = "select count(*) from comments.purges";
        self.database.session().await.numbers(statement).await[0]
    }

    /// A purger as it starts, so many milliseconds after the beginning.
    fn purger(&self, later: i64) -> Purger {
        self.failing_purger(later, 0)
    }

    fn failing_purger(&self, later: i64, failures: usize) -> Purger {
        let articles = Articles {
            store: self.articles.clone(),
            failures: AtomicUsize::new(failures),
        };
        let now = Timestamp::from_millis(self.now.millis() + later);
        Purger::new(
            Arc::new(articles),
            self.comments.clone(),
            Arc::new(FixedClock::at(now)),
            GRACE,
        )
    }

    /// Other tests of this cluster have transactions too, and a deletion is told of when the older ones have ended.
    async fn purge_until_only(&self, purger: &Purger, left: &[ArticleId]) {
        let left: BTreeSet<_> = left.iter().copied().collect();
        let purging = async {
            while self.commented().await != left {
                purger.work_off_all().await.unwrap();
            }
        };
        tokio::time::timeout(PATIENCE, purging)
            .await
            .expect("comments of deleted articles are left");
    }
}

#[tokio::test]
async fn comments_go_with_their_article_and_those_that_were_under_way_after_the_grace_period() {
    let setting = Setting::split().await;
    let articles = setting.publish(2).await;
    setting.delete(articles[0]).await;
    setting.purge_until_only(&setting.purger(0), &articles[1..]).await;

    setting.comment(articles[0]).await;
    setting.purger(29_999).work_off_all().await.unwrap();
    assert_eq!(setting.commented().await, articles.iter().copied().collect());
    setting.purger(30_000).work_off_all().await.unwrap();
    assert_eq!(setting.commented().await, [articles[1]].into());
    assert_eq!(setting.purges().await, 0);
}

#[tokio::test]
async fn a_deletion_that_commits_late_is_not_missed() {
    let setting = Setting::split().await;
    let articles = setting.publish(3).await;
    let mut late = setting.database.session().await;
    let insert = "insert into articles.deletions (article_id, deleted_at)";
    late.run(&format!("begin; {insert} values ({}, now())", articles[0]))
        .await;
    // Commits first and is later in the order.
    setting.delete(articles[1]).await;
    let purger = setting.purger(0);
    purger.work_off_all().await.unwrap();
    assert_eq!(
        setting.comments.deletions_read().await.unwrap(),
        DeletionsRead::default()
    );
    assert_eq!(setting.commented().await.len(), 3);

    late.run("commit").await;
    setting.purge_until_only(&purger, &articles[2..]).await;
}

#[tokio::test]
async fn what_stops_half_way_goes_on_after_a_restart() {
    let setting = Setting::split().await;
    // More than are purged in one transaction.
    let articles = setting.publish(103).await;
    for article in &articles[..102] {
        setting.delete(*article).await;
    }
    let mut session = setting.database.session().await;
    let last = articles[101];
    // The second transaction fails at its last step, whatever the first one was.
    let cursor = "alter table comments.deletions_cursor";
    session
        .run(&format!(
            "{cursor} add constraint test_stuck check (article_id <> {last})"
        ))
        .await;
    let purger = setting.purger(0);
    let failing = async { while purger.work_off_all().await.is_ok() {} };
    tokio::time::timeout(PATIENCE, failing)
        .await
        .expect("nothing fails");
    let left = setting.commented().await;
    assert!(left.contains(&articles[101]) && left.contains(&articles[102]));
    assert!(left.len() < articles.len(), "the first transaction has happened");
    drop(purger);

    session.run(&format!("{cursor} drop constraint test_stuck")).await;
    setting
        .purge_until_only(&setting.purger(0), &articles[102..])
        .await;
    assert_eq!(setting.purges().await, 102);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_do_not_disturb_each_other() {
    let setting = Arc::new(Setting::split().await);
    let articles = setting.publish(12).await;
    for article in &articles[..11] {
        setting.delete(*article).await;
    }
    let copies = (0..4).map(|_| {
        let setting = Arc::clone(&setting);
        let left = articles[11..].to_vec();
        tokio::spawn(async move { setting.purge_until_only(&setting.purger(0), &left).await })
    });
    for copy in join_all(copies).await {
        copy.unwrap();
    }
    assert_eq!(setting.purges().await, 11);
    let copies = (0..4).map(|_| {
        let setting = Arc::clone(&setting);
        tokio::spawn(async move { setting.purger(30_000).work_off_all().await.unwrap() })
    });
    for copy in join_all(copies).await {
        copy.unwrap();
    }
    assert_eq!(setting.purges().await, 0);
    assert_eq!(setting.commented().await, [articles[11]].into());
}

#[tokio::test]
async fn where_keys_have_removed_the_comments_there_is_nothing_left_to_do() {
    let setting = Setting::new(TestDatabase::new().await).await;
    let articles = setting.publish(2).await;
    setting.delete(articles[0]).await;
    assert_eq!(setting.commented().await, [articles[1]].into());
    let purger = setting.purger(0);
    let reading = async {
        while setting.comments.deletions_read().await.unwrap().article != articles[0] {
            purger.work_off_all().await.unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, reading)
        .await
        .expect("the deletion is not worked off");
    setting.purger(30_000).work_off_all().await.unwrap();
    assert_eq!(setting.purges().await, 0);
    assert_eq!(setting.commented().await, [articles[1]].into());
}

#[tokio::test]
async fn failures_do_not_end_it() {
    let setting = Setting::split().await;
    let articles = setting.publish(2).await;
    setting.delete(articles[0]).await;
    let running = setting.failing_purger(0, 3).run(Duration::from_millis(1));
    let done = async { while setting.commented().await.contains(&articles[0]) {} };
    tokio::select! {
        () = running => panic!("it has ended"),
        outcome = tokio::time::timeout(PATIENCE, done) => outcome.expect("the comments are left"),
    }
    assert_eq!(setting.commented().await, [articles[1]].into());
}

/// A peer that tells of one and the same deletion again and again.
struct Stuck(Deletion);

#[async_trait]
impl ArticlesApi for Stuck {
    async fn ids_by_slugs(&self, _slugs: Vec<String>) -> Result<Vec<(String, ArticleId)>, CallError> {
        panic!("a purger never asks for slugs");
    }

    async fn deleted_since(&self, _cursor: DeletionCursor, _limit: u32) -> Result<Vec<Deletion>, CallError> {
        Ok(vec![self.0])
    }
}

#[tokio::test]
async fn a_list_that_does_not_go_on_is_an_error_and_no_endless_loop() {
    let setting = Setting::split().await;
    let article = ArticleId(5);
    let cursor = DeletionCursor {
        transaction: 9,
        article,
    };
    let peer = Arc::new(Stuck(Deletion { article, cursor }));
    let clock = Arc::new(FixedClock::default());
    let purger = Purger::new(peer, setting.comments.clone(), clock, GRACE);
    assert!(purger.work_off_all().await.is_err());
    let read = setting.comments.deletions_read().await.unwrap();
    assert_eq!((read.transaction, read.article), (9, article));
}
