//! The comments of deleted articles, without the keys that would remove them.

use conduit_domain::{AccountId, ArticleId, NewComment, Timestamp};
use conduit_store::articles::ArticleStore;
use conduit_store::comments::{CommentStore, DeletionsRead};
use conduit_testkit::TestDatabase;
use futures_util::future::join_all;
use sqlx::Connection;

use crate::recount::blocks;

const ANN: AccountId = AccountId(1);

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn read(transaction: u64, article: i64) -> DeletionsRead {
    DeletionsRead {
        transaction,
        article: ArticleId(article),
    }
}

async fn comment(comments: &CommentStore, article: i64) {
    let text = NewComment {
        body: "Well done".to_owned(),
    };
    comments
        .insert(ArticleId(article), ANN, &text, at(0))
        .await
        .unwrap();
}

/// The articles that have comments.
async fn commented(database: &TestDatabase) -> Vec<i64> {
    sqlx::query_scalar("select distinct article_id from comments.comments order by article_id")
        .fetch_all(&mut database.admin().await)
        .await
        .unwrap()
}

async fn remembered(database: &TestDatabase) -> Vec<(i64, f64)> {
    let statement = "select article_id, extract(epoch from due_at)::float8 * 1000
        from comments.purges order by article_id";
    sqlx::query_as(statement)
        .fetch_all(&mut database.admin().await)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_deletion_is_worked_off_whole_and_once_more_when_it_is_due() {
    let database = TestDatabase::without_shared_keys().await;
    let comments = CommentStore::new(database.db("comments"));
    for article in [1, 1, 2, 3] {
        comment(&comments, article).await;
    }
    let start = comments.deletions_read().await.unwrap();
    assert_eq!(start, DeletionsRead::default());
    // Above what 63 bits hold, and the type of the column has 64.
    let end = read(u64::MAX - 1, 2);
    let gone = [ArticleId(1), ArticleId(2)];
    assert!(
        comments
            .work_off_deletions(start, end, &gone, at(500))
            .await
            .unwrap()
    );
    assert_eq!(comments.deletions_read().await.unwrap(), end);
    assert_eq!(commented(&database).await, [3]);
    assert_eq!(remembered(&database).await, [(1, 500.0), (2, 500.0)]);

    comment(&comments, 2).await;
    assert_eq!(comments.purge_due(at(499), 10).await.unwrap(), 0);
    assert_eq!(commented(&database).await, [2, 3]);
    assert_eq!(comments.purge_due(at(500), 1).await.unwrap(), 1);
    assert_eq!(comments.purge_due(at(500), 1).await.unwrap(), 1);
    assert_eq!(comments.purge_due(at(500), 1).await.unwrap(), 0);
    assert_eq!(commented(&database).await, [3]);
    assert_eq!(remembered(&database).await, []);
}

#[tokio::test]
async fn a_deletion_that_another_copy_has_worked_off_is_left_alone() {
    let database = TestDatabase::without_shared_keys().await;
    let comments = CommentStore::new(database.db("comments"));
    let (start, end) = (DeletionsRead::default(), read(7, 1));
    assert!(
        comments
            .work_off_deletions(start, end, &[ArticleId(1)], at(1))
            .await
            .unwrap()
    );
    comment(&comments, 2).await;
    assert!(
        !comments
            .work_off_deletions(start, read(8, 2), &[ArticleId(2)], at(1))
            .await
            .unwrap()
    );
    assert_eq!(comments.deletions_read().await.unwrap(), end);
    assert_eq!(commented(&database).await, [2]);
    assert_eq!(remembered(&database).await, [(1, 1.0)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_copies_one_works_off_a_deletion() {
    let database = TestDatabase::without_shared_keys().await;
    let calls = (0..8).map(|_| {
        let comments = CommentStore::new(database.db("comments"));
        tokio::spawn(async move {
            let (start, end) = (DeletionsRead::default(), read(7, 2));
            let gone = [ArticleId(2), ArticleId(1)];
            comments
                .work_off_deletions(start, end, &gone, at(1))
                .await
                .unwrap()
        })
    });
    let outcomes = join_all(calls).await;
    assert_eq!(
        outcomes
            .into_iter()
            .filter(|outcome| *outcome.as_ref().unwrap())
            .count(),
        1
    );
    let purges = (0..8).map(|_| {
        let comments = CommentStore::new(database.db("comments"));
        tokio::spawn(async move { comments.purge_due(at(1), 1).await.unwrap() })
    });
    let purged: u64 = join_all(purges).await.into_iter().map(Result::unwrap).sum();
    assert_eq!(purged, 2);
}

#[tokio::test]
async fn a_deletion_that_fails_half_way_has_not_happened() {
    let database = TestDatabase::without_shared_keys().await;
    let comments = CommentStore::new(database.db("comments"));
    comment(&comments, 1).await;
    let mut admin = database.admin().await;
    // Moving the cursor is the last step, and it is made to fail.
    sqlx::raw_sql(
        "alter table comments.deletions_cursor add constraint test_stuck check (transaction_id = '0')",
    )
    .execute(&mut admin)
    .await
    .unwrap();
    let (start, end) = (DeletionsRead::default(), read(7, 1));
    let outcome = comments
        .work_off_deletions(start, end, &[ArticleId(1)], at(1))
        .await;
    assert!(outcome.is_err(), "{outcome:?}");
    assert_eq!(commented(&database).await, [1]);
    assert_eq!(remembered(&database).await, []);

    sqlx::raw_sql("alter table comments.deletions_cursor drop constraint test_stuck")
        .execute(&mut admin)
        .await
        .unwrap();
    assert!(
        comments
            .work_off_deletions(start, end, &[ArticleId(1)], at(1))
            .await
            .unwrap()
    );
    assert!(commented(&database).await.is_empty());
    admin.close().await.unwrap();
}

#[tokio::test]
async fn the_readme_removes_comments_that_were_never_worked_off() {
    let database = TestDatabase::without_shared_keys().await;
    let seed = database.seed();
    let ann = seed.account("ann").await.id;
    let kept = seed.article(ann, "Bread", &[]).await.id;
    let comments = CommentStore::new(database.db("comments"));
    for article in [kept.0, 1, 2] {
        comment(&comments, article).await;
    }
    database.session().await.run(blocks()[2]).await;
    assert_eq!(commented(&database).await, [kept.0]);
}

#[tokio::test]
async fn the_readme_reads_deletions_again_after_a_move_to_another_cluster() {
    let database = TestDatabase::without_shared_keys().await;
    let seed = database.seed();
    let ann = seed.account("ann").await.id;
    let articles = ArticleStore::new(database.db("articles"));
    let comments = CommentStore::new(database.db("comments"));
    let gone = seed.article(ann, "Bread", &[]).await.id;
    assert!(articles.delete(gone, at(5)).await.unwrap());
    let mut session = database.session().await;
    // As numbered by a cluster that was older.
    session
        .run(
            "update articles.deletions set transaction_id = '9000000000000000000';
             update comments.deletions_cursor set transaction_id = '9000000000000000001'",
        )
        .await;
    session.run(blocks()[3]).await;
    let start = comments.deletions_read().await.unwrap();
    assert_eq!(start, DeletionsRead::default());
    // Told of as soon as older transactions of other tests have ended.
    let told = async {
        loop {
            let found = articles
                .deleted_since(start.transaction, start.article, 5)
                .await
                .unwrap();
            if let [deletion] = found[..] {
                return deletion.article;
            }
        }
    };
    let patience = std::time::Duration::from_secs(60);
    let told = tokio::time::timeout(patience, told).await;
    assert_eq!(told.expect("it is not told of"), gone);
}
