//! The constraints that `error.rs` knows by name are those of the migrations.

use std::collections::BTreeSet;

use conduit_testkit::TestDatabase;

const ERRORS: &str = include_str!("../../src/error.rs");

/// Rows of one transaction refer to each other by it, so nobody can break it.
const NEVER_BROKEN: &str = "article_tags_article_fkey";

#[tokio::test]
async fn every_key_that_a_race_can_break_is_known_by_its_name() {
    let database = TestDatabase::new().await;
    let keys: Vec<String> = sqlx::query_scalar(
        "select conname::text
         from pg_constraint
         where contype in ('f', 'u')
           and connamespace::regnamespace::text in ('users', 'profiles', 'articles', 'comments')",
    )
    .fetch_all(&mut database.admin().await)
    .await
    .unwrap();
    let mut keys: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
    assert!(keys.remove(NEVER_BROKEN));
    let texts = ERRORS.split('"').skip(1).step_by(2);
    let known: BTreeSet<&str> = texts
        .filter(|text| text.ends_with("_key") || text.ends_with("_fkey"))
        .collect();
    assert_eq!(keys, known);
}
