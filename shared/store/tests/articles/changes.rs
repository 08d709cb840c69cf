use std::collections::BTreeSet;

use conduit_domain::{ArticleChanges, ArticleId};
use conduit_store::articles::ArticleRecord;
use futures_util::future::join_all;

use super::{Shelf, later, now};

fn tags(tags: &[&str]) -> ArticleChanges {
    ArticleChanges {
        tag_list: Some(tags.iter().map(|&tag| tag.to_owned()).collect()),
        ..ArticleChanges::default()
    }
}

#[tokio::test]
async fn a_new_article_is_as_it_was_sent() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let record = shelf.publish(ann, "Bread notes", &["baking", "food"]).await;
    let expected = ArticleRecord {
        id: ArticleId(2_000_000),
        author: ann,
        slug: "bread-notes".to_owned(),
        title: "Bread notes".to_owned(),
        description: "About Bread notes".to_owned(),
        body: "All of Bread notes".to_owned(),
        tag_list: vec!["baking".to_owned(), "food".to_owned()],
        created_at: now(),
        updated_at: now(),
        favorited: false,
        favorites_count: 0,
    };
    assert_eq!(record, expected);
    assert_eq!(
        shelf.store.owner("bread-notes").await.unwrap(),
        Some((record.id, ann))
    );
    assert_eq!(shelf.store.owner("bread").await.unwrap(), None);
}

#[tokio::test]
async fn what_is_not_named_stays() {
    let shelf = Shelf::new().await;
    let (ann, ben) = (shelf.account("ann").await, shelf.account("ben").await);
    let mut expected = shelf.publish(ann, "Bread", &["a", "b"]).await;
    shelf.store.favorite(expected.id, ben).await.unwrap();
    expected.favorites_count = 1;
    for field in 0..4 {
        let new = format!("New {field}");
        let mut changes = ArticleChanges::default();
        match field {
            0 => changes.title = Some(new.clone()),
            1 => changes.description = Some(new.clone()),
            2 => changes.body = Some(new.clone()),
            _ => changes = tags(&["b", "c"]),
        }
        match field {
            0 => (expected.title, expected.slug) = (new, "new-0".to_owned()),
            1 => expected.description = new,
            2 => expected.body = new,
            _ => expected.tag_list = vec!["b".to_owned(), "c".to_owned()],
        }
        expected.updated_at = later(100 * (field + 1));
        let record = shelf
            .store
            .update(expected.id, &changes, expected.updated_at, ann)
            .await
            .unwrap();
        assert_eq!(record.as_ref(), Some(&expected));
    }
    let record = shelf
        .store
        .update(expected.id, &tags(&["b", "c"]), later(900), ben)
        .await
        .unwrap()
        .unwrap();
    assert!(record.favorited, "the flag is about whom the record is for");
    shelf.assert_totals_are_right().await;
}

#[tokio::test]
async fn every_change_lies_after_the_one_before() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let article = shelf.publish(ann, "Bread", &[]).await.id;
    let body = |text: String| ArticleChanges {
        body: Some(text),
        ..ArticleChanges::default()
    };
    for (clock, shown) in [(0, 1), (0, 2), (50, 50), (10, 51)] {
        let record = shelf
            .store
            .update(article, &body("x".to_owned()), later(clock), ann)
            .await
            .unwrap()
            .unwrap();
        assert_eq!((record.created_at, record.updated_at), (now(), later(shown)));
    }
    let all = (0..10).map(async |n| {
        shelf
            .store
            .update(article, &body(n.to_string()), now(), ann)
            .await
            .unwrap()
            .unwrap()
    });
    let records = join_all(all).await;
    let times: BTreeSet<_> = records.iter().map(|record| record.updated_at).collect();
    assert_eq!(times, (52..62).map(later).collect());
    let last = records.iter().max_by_key(|record| record.updated_at).unwrap();
    let stored = sqlx::query_scalar::<_, String>("select body from articles.articles")
        .fetch_one(&mut shelf.database.admin().await)
        .await
        .unwrap();
    assert_eq!(stored, last.body);
}

#[tokio::test]
async fn nothing_of_a_missing_article_is_changed() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let article = shelf.publish(ann, "Bread", &["a"]).await.id;
    assert!(shelf.store.delete(article, now()).await.unwrap());
    assert_eq!(
        shelf
            .store
            .update(article, &tags(&["b"]), now(), ann)
            .await
            .unwrap(),
        None
    );
    shelf.assert_totals_are_right().await;
}

#[tokio::test]
async fn tags_are_listed_by_use_then_by_code_point_and_only_while_used() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let both = shelf.publish(ann, "One", &["Zoo", "a", "éclair"]).await.id;
    shelf.publish(ann, "Two", &["a"]).await;
    assert_eq!(shelf.store.tags().await.unwrap(), ["a", "Zoo", "éclair"]);
    shelf
        .store
        .update(both, &tags(&["b", "éclair"]), now(), ann)
        .await
        .unwrap();
    assert_eq!(shelf.store.tags().await.unwrap(), ["a", "b", "éclair"]);
    shelf.store.update(both, &tags(&[]), now(), ann).await.unwrap();
    assert_eq!(shelf.store.tags().await.unwrap(), ["a"]);
}
