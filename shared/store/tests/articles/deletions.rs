use conduit_domain::ArticleId;
use conduit_store::articles::DeletionRecord;
use futures_util::future::join_all;
use sqlx::{Connection, Row};

use super::{Shelf, later, now};

const DAY: i64 = 24 * 60 * 60 * 1000;

async fn remembered(shelf: &Shelf) -> Vec<i64> {
    sqlx::query_scalar("select article_id from articles.deletions order by transaction_id, article_id")
        .fetch_all(&mut shelf.database.admin().await)
        .await
        .unwrap()
}

#[tokio::test]
async fn all_that_hangs_on_an_article_goes_with_it_and_word_of_it_stays() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let gone = shelf.publish(ann, "Bread", &["a", "b"]).await.id;
    let kept = shelf.publish(ann, "Cake", &["a"]).await.id;
    shelf.store.favorite(gone, ann).await.unwrap();
    shelf.store.favorite(kept, ann).await.unwrap();
    assert!(shelf.store.delete(gone, now()).await.unwrap());
    assert!(!shelf.store.delete(gone, now()).await.unwrap());
    assert!(!shelf.store.delete(ArticleId(5), now()).await.unwrap());
    assert_eq!(remembered(&shelf).await, [gone.0]);
    assert_eq!(shelf.store.owner("bread").await.unwrap(), None);
    assert_eq!(shelf.store.tags().await.unwrap(), ["a"]);
    assert_eq!(shelf.number("select count(*) from articles.favorites").await, 1);
    shelf.assert_totals_are_right().await;
}

#[tokio::test]
async fn one_of_many_who_delete_an_article_has_deleted_it() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let article = shelf.publish(ann, "Bread", &["a"]).await.id;
    let outcomes = join_all((0..10).map(|_| shelf.store.delete(article, now()))).await;
    assert_eq!(
        outcomes
            .into_iter()
            .filter(|outcome| *outcome.as_ref().unwrap())
            .count(),
        1
    );
    assert_eq!(remembered(&shelf).await, [article.0]);
    shelf.assert_totals_are_right().await;
}

#[tokio::test]
async fn deletions_are_forgotten_after_thirty_days() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let mut articles = Vec::new();
    for n in 0..4 {
        articles.push(shelf.publish(ann, &format!("Bread {n}"), &[]).await.id);
    }
    for (article, day) in articles.iter().zip([0, 10, 30, 31]) {
        assert!(shelf.store.delete(*article, later(day * DAY)).await.unwrap());
    }
    assert_eq!(
        remembered(&shelf).await,
        [articles[1].0, articles[2].0, articles[3].0]
    );
}

/// Deletions after a place, once there are as many as expected: other tests' transactions in this cluster hold back those that are
/// younger, for as long as they run.
async fn told(shelf: &Shelf, after: DeletionRecord, count: usize) -> Vec<DeletionRecord> {
    loop {
        let told = shelf
            .store
            .deleted_since(after.transaction, after.article, 100)
            .await
            .unwrap();
        if told.len() >= count {
            return told;
        }
    }
}

#[tokio::test]
async fn a_reader_of_deletions_misses_none_that_commits_late() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let start = DeletionRecord {
        transaction: 0,
        article: ArticleId(0),
    };
    let mut articles = Vec::new();
    for title in ["First", "Late", "Early", "Last"] {
        articles.push(shelf.publish(ann, title, &[]).await.id);
    }
    let [first, late, early, last] = articles[..] else {
        panic!()
    };
    assert!(shelf.store.delete(first, now()).await.unwrap());
    let seen = told(&shelf, start, 1).await;
    assert_eq!(
        seen.iter().map(|record| record.article).collect::<Vec<_>>(),
        [first]
    );
    let after_first = seen[0];

    // The older transaction deletes, the younger one deletes and commits.
    let mut older = shelf.database.admin().await;
    let mut older = older.begin().await.unwrap();
    let delete = "with gone as (delete from articles.articles where id = $1 returning id)
        insert into articles.deletions (article_id, deleted_at) select id, now() from gone
        returning transaction_id::text::bigint";
    let older_id = sqlx::query(delete)
        .bind(late.0)
        .fetch_one(&mut *older)
        .await
        .unwrap();
    let older_id: u64 = older_id.get::<i64, _>(0).try_into().unwrap();
    assert!(shelf.store.delete(early, now()).await.unwrap());
    assert_eq!(
        remembered(&shelf).await,
        [first.0, early.0],
        "the younger one is there to be read"
    );
    let seen = shelf
        .store
        .deleted_since(after_first.transaction, first, 100)
        .await
        .unwrap();
    assert_eq!(seen, [], "a cursor beyond it would never see the older one");

    older.commit().await.unwrap();
    assert!(shelf.store.delete(last, now()).await.unwrap());
    let seen = told(&shelf, after_first, 3).await;
    assert_eq!(
        seen.iter().map(|record| record.article).collect::<Vec<_>>(),
        [late, early, last]
    );
    assert_eq!(seen[0].transaction, older_id);
    assert!(seen.is_sorted_by_key(|record| record.transaction));
    let page = shelf
        .store
        .deleted_since(seen[0].transaction, late, 1)
        .await
        .unwrap();
    assert_eq!(page, [seen[1]]);
    assert_eq!(
        shelf
            .store
            .deleted_since(seen[2].transaction, last, 100)
            .await
            .unwrap(),
        []
    );
}

#[tokio::test]
async fn deletions_of_one_transaction_are_told_in_the_order_of_articles() {
    let shelf = Shelf::new().await;
    let delete =
        "insert into articles.deletions (article_id, deleted_at) values (7, now()), (5, now()), (6, now())";
    sqlx::query(delete)
        .execute(&mut shelf.database.admin().await)
        .await
        .unwrap();
    let all = told(
        &shelf,
        DeletionRecord {
            transaction: 0,
            article: ArticleId(0),
        },
        3,
    )
    .await;
    assert_eq!(
        all.iter().map(|record| record.article.0).collect::<Vec<_>>(),
        [5, 6, 7]
    );
    let transaction = all[0].transaction;
    let rest = shelf
        .store
        .deleted_since(transaction, ArticleId(5), 1)
        .await
        .unwrap();
    assert_eq!(
        rest,
        [DeletionRecord {
            transaction,
            article: ArticleId(6)
        }]
    );
    for cursor in [u64::MAX, transaction + 1] {
        assert_eq!(
            shelf
                .store
                .deleted_since(cursor, ArticleId(0), 100)
                .await
                .unwrap(),
            []
        );
    }
}
