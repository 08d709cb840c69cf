use std::collections::BTreeSet;

use conduit_domain::error::{Error, Resource};
use conduit_domain::{AccountId, ArticleId, Clock, CommentId, NewComment, Page, Timestamp};
use conduit_store::comments::{CommentRecord, CommentRow, CommentStore};
use conduit_testkit::{FixedClock, TestDatabase};
use futures_util::future::join_all;

fn text(body: &str) -> NewComment {
    NewComment {
        body: body.to_owned(),
    }
}

#[tokio::test]
async fn a_comment_is_found_under_its_id_until_it_is_deleted() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    let article = seed.article(ann, "Bread", &[]).await.id;
    let comments = CommentStore::new(database.db("comments"));
    let now = FixedClock::default().now();
    let id = comments
        .insert(article, ben, &text("Well done"), now)
        .await
        .unwrap();
    assert_eq!((article, id), (ArticleId(2_000_000), CommentId(3_000_000)));
    let record = CommentRecord {
        id,
        article,
        author: ben,
    };
    assert_eq!(comments.by_id(id).await.unwrap(), Some(record));
    assert_eq!(comments.by_id(CommentId(article.0)).await.unwrap(), None);
    assert!(comments.delete(id).await.unwrap());
    assert!(!comments.delete(id).await.unwrap());
    assert_eq!(comments.by_id(id).await.unwrap(), None);
}

#[tokio::test]
async fn ids_grow_and_are_never_used_again() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let ann = seed.account("ann").await.id;
    let articles = [
        seed.article(ann, "One", &[]).await.id,
        seed.article(ann, "Two", &[]).await.id,
    ];
    let comments = CommentStore::new(database.db("comments"));
    let mut last = CommentId(0);
    for n in 0..10 {
        let now = FixedClock::default().now();
        let id = comments
            .insert(articles[n % 2], ann, &text("again"), now)
            .await
            .unwrap();
        assert!(id > last, "{id} after {last}");
        assert!(comments.delete(id).await.unwrap());
        last = id;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_made_at_once_have_ids_of_their_own() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let ann = seed.account("ann").await.id;
    let article = seed.article(ann, "Bread", &[]).await.id;
    let comments = CommentStore::new(database.db("comments"));
    let calls = (0..20).map(|n| {
        let comments = comments.clone();
        let now = FixedClock::default().now();
        tokio::spawn(async move {
            comments
                .insert(article, ann, &text(&n.to_string()), now)
                .await
                .unwrap()
        })
    });
    let ids: BTreeSet<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(ids.len(), 20);
}

#[tokio::test]
async fn the_keys_tell_a_missing_article_from_a_missing_caller() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let ann = seed.account("ann").await.id;
    let article = seed.article(ann, "Bread", &[]).await.id;
    let comments = CommentStore::new(database.db("comments"));
    let now = FixedClock::default().now();
    let outcome = comments.insert(ArticleId(ann.0), ann, &text("x"), now).await;
    assert!(
        matches!(outcome, Err(Error::NotFound(Resource::Article))),
        "{outcome:?}"
    );
    let outcome = comments
        .insert(article, AccountId(article.0), &text("x"), now)
        .await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
}

#[tokio::test]
async fn an_articles_comments_come_newest_first_in_pages() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    let article = seed.article(ann, "Bread", &[]).await.id;
    let other = seed.article(ann, "Cake", &[]).await.id;
    let comments = CommentStore::new(database.db("comments"));
    let mut expected = Vec::new();
    // Times neither in the order of ids nor all different.
    for (n, millis) in [5, 9, 5, 7, 9].into_iter().enumerate() {
        let (author, created_at) = ([ann, ben][n % 2], Timestamp::from_millis(millis));
        let body = format!("Comment {n}");
        let id = comments
            .insert(article, author, &text(&body), created_at)
            .await
            .unwrap();
        comments
            .insert(other, author, &text("elsewhere"), created_at)
            .await
            .unwrap();
        expected.push(CommentRow {
            id,
            author,
            created_at,
            body,
        });
    }
    expected.sort_by_key(|row| (row.created_at, row.id));
    expected.reverse();
    for (limit, offset) in [(1000, 0), (2, 0), (2, 2), (2, 4), (1000, 5), (1, i64::MAX)] {
        let found = comments.list(article, Page { limit, offset }).await.unwrap();
        let skipped = expected.iter().skip(usize::try_from(offset).unwrap());
        let page: Vec<_> = skipped.take(usize::try_from(limit).unwrap()).cloned().collect();
        assert_eq!(found, page, "{limit} {offset}");
    }
    let none = comments
        .list(ArticleId(ann.0), Page { limit: 5, offset: 0 })
        .await
        .unwrap();
    assert_eq!(none, []);
}
