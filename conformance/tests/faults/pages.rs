//! However much is asked for, a page has its bound (fault B027).

use std::sync::Arc;

use conduit_testkit::{Bulk, BulkArticle, TestDatabase, get};
use serde_json::Value;

use super::both::Both;

const ARTICLES: usize = 3000;
/// A hundred articles without their bodies.
const MOST_BYTES: usize = 100 * 1000;

fn site() -> Bulk {
    let article = |n: usize| BulkArticle {
        author: n % 10,
        title: format!("Article {n}"),
        tags: vec!["all"],
    };
    Bulk {
        accounts: (0..10).map(|n| format!("author{n}")).collect(),
        articles: (0..ARTICLES).map(article).collect(),
        ..Bulk::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_three_thousand_articles_a_page_shows_a_hundred_and_counts_all() {
    let database = TestDatabase::new().await;
    database.fill(&site()).await;
    let both = Both::on(Arc::new(database), &[]).await;
    for (query, shown, counted) in [
        ("limit=1000000", 100, ARTICLES),
        ("limit=1000000&tag=all", 100, ARTICLES),
        ("limit=1000000&author=author3", 100, ARTICLES / 10),
        ("limit=1000000&offset=2950", 50, ARTICLES),
        ("limit=9223372036854775808&offset=2999", 1, ARTICLES),
        ("offset=1000000", 0, ARTICLES),
    ] {
        let target = format!("/api/articles?{query}");
        let mut bodies = Vec::new();
        for address in both.addresses("articles") {
            let (status, body) = get(&address, &target).await;
            assert_eq!(status, 200, "{target}: {body}");
            bodies.push(body);
        }
        let list: Value = serde_json::from_str(&bodies[0]).unwrap();
        let articles = list["articles"].as_array().unwrap().len();
        assert_eq!(
            (articles, &list["articlesCount"]),
            (shown, &counted.into()),
            "{target}"
        );
        assert!(bodies[0].len() < MOST_BYTES, "{target}: {}", bodies[0].len());
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{target}");
    }
    let refused = r#"{"errors":{"limit":["must be greater than or equal to 1"]}}"#;
    for address in both.addresses("articles") {
        let answer = get(&address, "/api/articles?limit=0").await;
        assert_eq!(answer, (422, refused.to_owned()));
    }
}
