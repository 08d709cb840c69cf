use conduit_domain::ArticleId;
use futures_util::future::join_all;

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
