use conduit_domain::error::Error;
use conduit_domain::{AccountId, ArticleId};
use futures_util::future::join_all;

use sqlx::Executor as _;

use super::{Dice, Shelf, now};

#[tokio::test]
async fn favorites_are_counted_once_however_often_they_are_repeated() {
    let shelf = Shelf::new().await;
    let (ann, ben) = (shelf.account("ann").await, shelf.account("ben").await);
    let article = shelf.publish(ann, "Bread", &[]).await.id;
    for (account, count) in [(ann, 1), (ann, 1), (ben, 2), (ben, 2)] {
        assert_eq!(shelf.store.favorite(article, account).await.unwrap(), Some(count));
    }
    for (account, count) in [(ann, 1), (ann, 1), (ben, 0), (ben, 0)] {
        assert_eq!(
            shelf.store.unfavorite(article, account).await.unwrap(),
            Some(count)
        );
    }
    assert_eq!(shelf.favorites(article).await, (0, 0));
}

#[tokio::test]
async fn what_does_not_exist_is_no_favorite() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    assert_eq!(shelf.store.favorite(ArticleId(7), ann).await.unwrap(), None);
    assert_eq!(shelf.store.unfavorite(ArticleId(7), ann).await.unwrap(), None);
    let article = shelf.publish(ann, "Bread", &[]).await.id;
    let outcome = shelf.store.favorite(article, AccountId(7)).await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
    assert_eq!(shelf.favorites(article).await, (0, 0));
}

#[tokio::test]
async fn a_favorite_leaves_the_time_of_the_change_alone() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let article = shelf.publish(ann, "Bread", &[]).await.id;
    shelf.store.favorite(article, ann).await.unwrap();
    let changed = "select count(*) from articles.articles where updated_at <> created_at";
    assert_eq!(shelf.number(changed).await, 0);
}

#[tokio::test]
async fn thirty_at_once_by_one_account_count_one() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let article = shelf.publish(ann, "Bread", &[]).await.id;
    for _ in 0..10 {
        let counts = join_all((0..30).map(|_| shelf.store.favorite(article, ann))).await;
        assert!(counts.into_iter().all(|count| count.unwrap() == Some(1)));
        assert_eq!(shelf.favorites(article).await, (1, 1));
        let counts = join_all((0..30).map(|_| shelf.store.unfavorite(article, ann))).await;
        assert!(counts.into_iter().all(|count| count.unwrap() == Some(0)));
        assert_eq!(shelf.favorites(article).await, (0, 0));
    }
}

#[tokio::test]
async fn thirty_accounts_at_once_count_thirty() {
    let shelf = Shelf::new().await;
    let readers = shelf.accounts(30).await;
    let article = shelf.publish(readers[0], "Bread", &[]).await.id;
    let added = join_all(
        readers
            .iter()
            .map(|&reader| shelf.store.favorite(article, reader)),
    )
    .await;
    let mut counts: Vec<_> = added.into_iter().map(|count| count.unwrap().unwrap()).collect();
    counts.sort_unstable();
    assert_eq!(
        counts,
        (1..=30).collect::<Vec<_>>(),
        "each answer counts one more"
    );
    assert_eq!(shelf.favorites(article).await, (30, 30));
    let removed = join_all(
        readers
            .iter()
            .map(|&reader| shelf.store.unfavorite(article, reader)),
    )
    .await;
    let mut counts: Vec<_> = removed.into_iter().map(|count| count.unwrap().unwrap()).collect();
    counts.sort_unstable();
    assert_eq!(counts, (0..30).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_count_is_that_of_the_rows_after_any_mixture() {
    let shelf = Shelf::new().await;
    let readers = shelf.accounts(6).await;
    let article = shelf.publish(readers[0], "Bread", &[]).await.id;
    let mut dice = Dice(11);
    for _ in 0..20 {
        let calls: Vec<_> = (0..30)
            .map(|_| (readers[dice.below(6)], dice.below(2) == 0))
            .collect();
        join_all(calls.iter().map(async |&(reader, add)| {
            let call = if add {
                shelf.store.favorite(article, reader).await
            } else {
                shelf.store.unfavorite(article, reader).await
            };
            assert!((0..=6).contains(&call.unwrap().unwrap()));
        }))
        .await;
        let (count, rows) = shelf.favorites(article).await;
        assert_eq!(count, rows);
    }
}

#[tokio::test]
async fn favorites_of_an_article_that_is_being_deleted_find_it_or_do_not() {
    let shelf = Shelf::new().await;
    let readers = shelf.accounts(10).await;
    for _ in 0..10 {
        let article = shelf.publish(readers[0], "Bread", &["a", "b"]).await.id;
        let fans = join_all(
            readers
                .iter()
                .map(|&reader| shelf.store.favorite(article, reader)),
        );
        let (fans, deleted) = tokio::join!(fans, shelf.store.delete(article, now()));
        assert!(deleted.unwrap());
        for fan in fans {
            fan.unwrap();
        }
        assert_eq!(shelf.store.favorite(article, readers[0]).await.unwrap(), None);
        assert_eq!(shelf.number("select count(*) from articles.favorites").await, 0);
    }
    shelf.assert_totals_are_right().await;
}

/// Somebody writes a comment where comments refer to articles, somebody else edits the article, and two make it a favorite meanwhile.
#[tokio::test]
async fn favorites_queue_while_a_comment_holds_the_articles_key() {
    let shelf = Shelf::new().await;
    let readers = shelf.accounts(2).await;
    let article = shelf.publish(readers[0], "Bread", &[]).await.id;
    let (mut comment, mut edit) = (shelf.database.admin().await, shelf.database.admin().await);
    for (session, statement) in [
        (
            &mut comment,
            "select id from articles.articles where id = $1 for key share",
        ),
        (
            &mut edit,
            "update articles.articles set body = 'Rye' where id = $1",
        ),
    ] {
        session.execute("begin").await.unwrap();
        sqlx::query(statement)
            .bind(article.0)
            .execute(session)
            .await
            .unwrap();
    }
    let editing: i32 = sqlx::query_scalar("select pg_backend_pid()")
        .fetch_one(&mut edit)
        .await
        .unwrap();
    let favorites = join_all(
        readers
            .iter()
            .map(|&reader| shelf.store.favorite(article, reader)),
    );
    let others = async {
        shelf.until_blocked(2, 0).await;
        edit.execute("commit").await.unwrap();
        // Neither waits for the edit any more, and nobody can be through before the comment is.
        shelf.until_blocked(1, editing).await;
        comment.execute("commit").await.unwrap();
    };
    let (favorites, ()) = tokio::join!(favorites, others);
    let mut counts: Vec<_> = favorites.into_iter().map(|count| count.unwrap()).collect();
    counts.sort_unstable();
    assert_eq!(counts, [Some(1), Some(2)]);
    let removed = join_all(
        readers
            .iter()
            .map(|&reader| shelf.store.unfavorite(article, reader)),
    );
    assert!(removed.await.into_iter().all(|count| count.is_ok()));
    assert_eq!(shelf.favorites(article).await, (0, 0));
}
