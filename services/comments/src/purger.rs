//! Removes the comments of deleted articles, which no foreign key does where each service has its own tables.
//!
//! The articles service keeps a list of deletions, in an order that no late commit can slip into. Here the list is read from a
//! cursor in this service's own schema; a deletion is worked off in one transaction with the move of the cursor, so it happens
//! whole or not at all, whatever stops in between, and copies of the service do not disturb each other. Since a comment may be on
//! its way while its article goes, each article is purged once more after a grace period. Nothing that a client sees depends on
//! any of this: a deleted article's slug is gone at once, and its id is never used again.
//!
//! The list reaches back 30 days. If this service was away for longer, deletions that have been forgotten meanwhile are not worked
//! off: the comments stay in their table, where nobody can see them, and take up room. `sql/README.md` says how to remove them by
//! hand.

use std::sync::Arc;
use std::time::Duration;

use conduit_domain::{Clock, Error, Result, Timestamp};
use conduit_rpc::{ArticlesApi, Deletion, DeletionCursor};
use conduit_store::{CommentStore, DeletionsRead};
use tokio::time::{MissedTickBehavior, interval};

/// Articles purged in one transaction, which must end well within the database's limit for a statement.
const MOST_AT_ONCE: u32 = 100;

/// Works off deletions, tick by tick.
pub struct Purger {
    articles: Arc<dyn ArticlesApi>,
    comments: CommentStore,
    clock: Arc<dyn Clock>,
    grace: Duration,
    at_once: u32,
    failing: bool,
}

impl Purger {
    /// Reads the list of this peer and removes these comments, a second time after `grace`.
    pub fn new(
        articles: Arc<dyn ArticlesApi>,
        comments: CommentStore,
        clock: Arc<dyn Clock>,
        grace: Duration,
    ) -> Self {
        Self {
            articles,
            comments,
            clock,
            grace,
            at_once: MOST_AT_ONCE,
            failing: false,
        }
    }

    /// Works off what there is at every tick, for ever. What fails is logged and tried again with the next tick.
    pub async fn run(mut self, every: Duration) {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let outcome = self.work_off_all().await;
            self.note(outcome);
        }
    }

    /// Works off every deletion that is known now and every purge that is due. The purges come first: they need no peer.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Internal`]; what was done before stays done.
    pub async fn work_off_all(&self) -> Result<()> {
        while self.purge_due().await? > 0 {}
        while self.work_off_some().await? {}
        Ok(())
    }

    /// One transaction's worth of purges; returns how many.
    async fn purge_due(&self) -> Result<u64> {
        self.comments
            .purge_due(self.clock.now(), self.at_once.into())
            .await
    }

    /// One transaction's worth of deletions; `false` when nothing is left, or another copy is at it.
    async fn work_off_some(&self) -> Result<bool> {
        let from = self.comments.deletions_read().await?;
        let cursor = DeletionCursor {
            transaction: from.transaction,
            article: from.article,
        };
        let deletions = self.articles.deleted_since(cursor, self.at_once).await?;
        let Some(last) = deletions.last() else {
            return Ok(false);
        };
        let to = DeletionsRead {
            transaction: last.cursor.transaction,
            article: last.cursor.article,
        };
        if to <= from {
            return Err(Error::Unavailable(
                "the list of deletions does not go on from the cursor".into(),
            ));
        }
        let articles: Vec<_> = deletions
            .iter()
            .map(|Deletion { article, .. }| *article)
            .collect();
        self.comments
            .work_off_deletions(from, to, &articles, self.due_at())
            .await
    }

    fn due_at(&self) -> Timestamp {
        let grace = i64::try_from(self.grace.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.clock.now().millis().saturating_add(grace))
    }

    /// A peer that is down for an hour is worth two lines, not 3 600. After a failure less is done at once, for it may have been
    /// too much for the time that a statement has.
    fn note(&mut self, outcome: Result<()>) {
        match outcome {
            Err(error) => {
                self.at_once = (self.at_once / 2).max(1);
                if !self.failing {
                    tracing::warn!(%error, cause = source(&error), "cannot remove the comments of deleted articles; trying on");
                }
                self.failing = true;
            }
            Ok(()) => {
                self.at_once = MOST_AT_ONCE;
                if self.failing {
                    tracing::info!("removing the comments of deleted articles again");
                }
                self.failing = false;
            }
        }
    }
}

/// Everything that caused an error, on one line.
fn source(error: &Error) -> String {
    let mut text = String::new();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
