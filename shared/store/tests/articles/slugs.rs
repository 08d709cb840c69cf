use std::collections::BTreeSet;

use conduit_domain::error::Error;
use conduit_domain::{AccountId, ArticleChanges};
use conduit_store::articles::ArticleStore;
use futures_util::future::join_all;

use super::{Shelf, article, now};

fn title(title: &str) -> ArticleChanges {
    ArticleChanges {
        title: Some(title.to_owned()),
        ..ArticleChanges::default()
    }
}

#[tokio::test]
async fn equal_titles_are_numbered_in_order() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    for (title, slug) in [
        ("Bread", "bread"),
        ("Bread", "bread-2"),
        ("bread!", "bread-3"),
        ("Bread 2", "bread-2-2"),
        ("Bread", "bread-4"),
        ("Feed", "feed-2"),
        ("FEED?", "feed-3"),
        ("!!!", "untitled"),
        ("...", "untitled-2"),
    ] {
        assert_eq!(shelf.publish(ann, title, &[]).await.slug, slug, "{title}");
    }
}

#[tokio::test]
async fn a_number_that_would_give_another_articles_slug_is_passed_over() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    for (title, slug) in [
        ("Milk 2", "milk-2"),
        ("Milk 3", "milk-3"),
        ("Milk", "milk"),
        ("Milk", "milk-4"),
        ("Milk", "milk-5"),
        ("Milk 5", "milk-5-2"),
    ] {
        assert_eq!(shelf.publish(ann, title, &[]).await.slug, slug, "{title}");
    }
}

#[tokio::test]
async fn the_next_number_follows_the_highest_in_use() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let mut articles = Vec::new();
    for _ in 0..3 {
        articles.push(shelf.publish(ann, "Bread", &[]).await.id);
    }
    assert!(shelf.store.delete(articles[1], now()).await.unwrap());
    assert_eq!(
        shelf.publish(ann, "Bread", &[]).await.slug,
        "bread-4",
        "the gap stays"
    );
    assert!(shelf.store.delete(articles[0], now()).await.unwrap());
    assert_eq!(
        shelf.publish(ann, "Bread", &[]).await.slug,
        "bread",
        "a free base is taken first"
    );
    let highest = shelf.store.owner("bread-4").await.unwrap().unwrap().0;
    assert!(shelf.store.delete(highest, now()).await.unwrap());
    assert_eq!(
        shelf.publish(ann, "Bread", &[]).await.slug,
        "bread-4",
        "a highest number that is gone is used again"
    );
}

#[tokio::test]
async fn the_slug_follows_the_title() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let first = shelf.publish(ann, "Bread", &[]).await.id;
    let second = shelf.publish(ann, "Bread", &[]).await.id;
    for (new, slug) in [
        ("Bread", "bread-2"),
        ("BREAD!", "bread-2"),
        ("Cake", "cake"),
        ("Bread", "bread-2"),
        ("Feed", "feed-2"),
        ("Bread 2", "bread-2"),
    ] {
        let record = shelf
            .store
            .update(second, &title(new), now(), ann)
            .await
            .unwrap()
            .unwrap();
        assert_eq!((record.slug.as_str(), record.title.as_str()), (slug, new));
    }
    assert_eq!(
        shelf.store.owner("cake").await.unwrap(),
        None,
        "the old slug is gone at once"
    );
    assert_eq!(shelf.store.owner("bread").await.unwrap(), Some((first, ann)));
    assert_eq!(shelf.store.owner("bread-2").await.unwrap(), Some((second, ann)));
}

#[tokio::test]
async fn an_article_does_not_stand_in_its_own_way() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    shelf.publish(ann, "Bread", &[]).await;
    let second = shelf.publish(ann, "Bread", &[]).await;
    assert_eq!(second.slug, "bread-2");
    let record = shelf
        .store
        .update(second.id, &title("Bread 2"), now(), ann)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(record.slug, "bread-2");
    assert_eq!(
        shelf.publish(ann, "Bread", &[]).await.slug,
        "bread-3",
        "its number is free, its text is not"
    );
}

async fn publish_at_once(store: &ArticleStore, author: AccountId, titles: &[String]) -> BTreeSet<String> {
    let all = titles.iter().map(async |title| {
        store
            .insert(author, &article(title, &[]), now())
            .await
            .unwrap()
            .slug
    });
    join_all(all).await.into_iter().collect()
}

#[tokio::test]
async fn ten_at_once_get_ten_numbers() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let slugs = publish_at_once(&shelf.store, ann, &vec!["Bread".to_owned(); 10]).await;
    let expected: BTreeSet<_> = (1..=10)
        .map(|n| {
            if n == 1 {
                "bread".to_owned()
            } else {
                format!("bread-{n}")
            }
        })
        .collect();
    assert_eq!(slugs, expected);
}

#[tokio::test]
async fn bases_that_give_one_text_at_once_all_get_a_slug() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    for round in 0..20 {
        let titles: Vec<_> = (0..16)
            .map(|n| {
                if n % 2 == 0 {
                    format!("Soup{round}")
                } else {
                    format!("Soup{round} {}", (n + 1) / 2 + 1)
                }
            })
            .collect();
        assert_eq!(publish_at_once(&shelf.store, ann, &titles).await.len(), 16);
    }
    shelf.assert_totals_are_right().await;
}

#[tokio::test]
async fn titles_that_change_to_one_at_once_all_get_a_slug() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    let mut articles = Vec::new();
    for n in 0..12 {
        articles.push(shelf.publish(ann, &format!("Draft {n}"), &[]).await.id);
    }
    for round in 0..10 {
        let titles = [
            format!("Final{round}"),
            format!("Final{round} 2"),
            format!("Final{round} 3"),
        ];
        let all = articles
            .iter()
            .zip(titles.iter().cycle())
            .map(async |(&article, new)| {
                shelf
                    .store
                    .update(article, &title(new), now(), ann)
                    .await
                    .unwrap()
                    .unwrap()
                    .slug
            });
        let slugs: BTreeSet<_> = join_all(all).await.into_iter().collect();
        assert_eq!(slugs.len(), articles.len());
    }
}

/// The index entries that the numbers' index has given, all in all.
const ENTRIES: &str =
    "select idx_tup_read from pg_stat_user_indexes where indexrelname = 'articles_slug_number_key'";

#[tokio::test]
async fn the_three_thousandth_equal_title_costs_what_the_second_did() {
    let shelf = Shelf::new().await;
    let ann = shelf.account("ann").await;
    shelf.publish(ann, "Bread", &[]).await;
    // Far more titles that are like no other: the planner then takes the articles of one base to be few.
    let seed = "insert into articles.articles
          (author_id, slug, slug_base, slug_number, title, description, body, tag_list, created_at, updated_at)
        select
          a.author_id,
          coalesce(base, 'bread') || '-' || n,
          coalesce(base || '-' || n, 'bread'),
          case when base is null then n else 1 end,
          a.title, '', '', '{}', a.created_at, a.updated_at
        from articles.articles a, generate_series(2, 3000) n, unnest(array[null, 'cake', 'soup']) base";
    let mut admin = shelf.database.admin().await;
    sqlx::query(seed).execute(&mut admin).await.unwrap();
    sqlx::query("vacuum analyze articles.articles")
        .execute(&mut admin)
        .await
        .unwrap();

    let db = conduit_store::db::Db::new(conduit_store::db::DbSettings {
        connections: 1,
        ..shelf.database.settings("articles")
    });
    let store = ArticleStore::new(db.clone());
    let before = shelf.number(ENTRIES).await;
    assert_eq!(
        store
            .insert(ann, &article("Bread", &[]), now())
            .await
            .unwrap()
            .slug,
        "bread-3001"
    );
    let flush = "select true from pg_stat_force_next_flush()";
    db.one(|| sqlx::query(flush).map(|_| ())).await.unwrap();
    let read = shelf.number(ENTRIES).await - before;
    assert!((1..=5).contains(&read), "{read} entries read");
}

#[tokio::test]
async fn nobody_cannot_publish() {
    let shelf = Shelf::new().await;
    let outcome = shelf
        .store
        .insert(AccountId(5), &article("Bread", &["x"]), now())
        .await;
    assert!(matches!(outcome, Err(Error::CallerGone)), "{outcome:?}");
    shelf.assert_totals_are_right().await;
    assert_eq!(shelf.store.tags().await.unwrap(), Vec::<String>::new());
}
