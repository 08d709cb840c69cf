//! Seeded data are right, whole and the same for the same seed.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::time::Duration;

use bench::seed::{PASSWORD, Seeding, account_name, email_of, fill};
use conduit_app::{PasswordSettings, Passwords};
use conduit_testkit::TestDatabase;
use futures_util::TryStreamExt;
use indicatif::ProgressBar;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Either};

const SEEDING: Seeding = Seeding {
    articles: 400,
    seed: 5,
    replace: false,
};

/// What finds wrong counts, as people would run it.
const RECOUNT: &str = include_str!("../../sql/README.md");

/// Keys between tables that COPY was not asked to look at.
const ORPHANS: &str = "
select (select count(*) from articles.articles a where not exists (select from users.accounts u where u.id = a.author_id))
  + (select count(*) from articles.favorites f where not exists (select from users.accounts u where u.id = f.account_id)
       or not exists (select from articles.articles a where a.id = f.article_id))
  + (select count(*) from articles.article_tags t where not exists (select from articles.articles a where a.id = t.article_id))
  + (select count(*) from comments.comments c where not exists (select from users.accounts u where u.id = c.author_id)
       or not exists (select from articles.articles a where a.id = c.article_id))
  + (select count(*) from profiles.follows f where not exists (select from users.accounts u where u.id = f.follower_id)
       or not exists (select from users.accounts u where u.id = f.followee_id))";

/// All that is in the database, as one text.
const WHOLE: &str = "
select md5(
  (select string_agg(a::text, '|' order by id) from users.accounts a)
  || (select string_agg(f::text, '|' order by f) from profiles.follows f)
  || (select string_agg(a::text, '|' order by id) from articles.articles a)
  || (select string_agg(t::text, '|' order by t) from articles.article_tags t)
  || (select string_agg(f::text, '|' order by f) from articles.favorites f)
  || (select string_agg(c::text, '|' order by id) from comments.comments c))";

async fn seeded(seeding: Seeding) -> (TestDatabase, PgConnection) {
    let database = TestDatabase::new().await;
    fill(database.admin_url(), &seeding, &ProgressBar::hidden())
        .await
        .unwrap();
    let admin = database.admin().await;
    (database, admin)
}

async fn number(admin: &mut PgConnection, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement).fetch_one(admin).await.unwrap()
}

#[tokio::test]
async fn kept_totals_are_what_they_count_and_keys_hold() {
    let (_database, mut admin) = seeded(SEEDING).await;
    let recount = RECOUNT
        .split("```sql\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    assert!(recount.contains("kept.articles <> counted.articles"));
    let wrong: Vec<_> = sqlx::raw_sql(AssertSqlSafe(recount))
        .fetch_many(&mut admin)
        .try_filter_map(async |answer| {
            Ok(match answer {
                Either::Right(row) => Some(row),
                Either::Left(_) => None,
            })
        })
        .try_collect()
        .await
        .unwrap();
    assert_eq!(wrong.len(), 0);
    assert_eq!(number(&mut admin, ORPHANS).await, 0);
    assert_eq!(
        number(&mut admin, "select count(*) from articles.articles").await,
        400
    );
    assert_eq!(
        number(&mut admin, "select articles from articles.article_total").await,
        400
    );
    let indexes =
        "select count(*) from pg_indexes where schemaname in ('users', 'profiles', 'articles', 'comments')
        and indexname like '%\\_idx'";
    assert!(number(&mut admin, indexes).await >= 10);
}

#[tokio::test]
async fn what_is_written_next_gets_the_next_number() {
    let (database, mut admin) = seeded(SEEDING).await;
    let account = database.seed().account("a newcomer").await;
    assert_eq!(account.id.0, 41);
    let article = database.seed().article(account.id, "New", &["bread"]).await;
    assert_eq!(article.id.0, 401);
    let last = number(&mut admin, "select max(id) from comments.comments").await;
    let comment = database.seed().comment(account.id, article.id, "Well").await;
    assert_eq!(comment.0, last + 1);
}

#[tokio::test]
async fn the_same_seed_gives_the_same_data() {
    let whole = async |seed| -> String {
        let (_database, mut admin) = seeded(Seeding { seed, ..SEEDING }).await;
        sqlx::query_scalar(WHOLE).fetch_one(&mut admin).await.unwrap()
    };
    let (one, again, other) = (whole(5).await, whole(5).await, whole(6).await);
    assert_eq!(one, again);
    assert_ne!(one, other);
}

#[tokio::test]
async fn data_are_replaced_only_where_that_is_asked_for() {
    let (database, mut admin) = seeded(SEEDING).await;
    let url = database.admin_url();
    let told = fill(url, &SEEDING, &ProgressBar::hidden()).await.unwrap_err();
    assert!(told.to_string().contains("holds data already"), "{told}");
    let smaller = Seeding {
        articles: 30,
        replace: true,
        ..SEEDING
    };
    fill(url, &smaller, &ProgressBar::hidden()).await.unwrap();
    assert_eq!(
        number(&mut admin, "select count(*) from articles.articles").await,
        30
    );
}

#[tokio::test]
async fn everybody_can_log_in() {
    let (_database, mut admin) = seeded(SEEDING).await;
    let settings = PasswordSettings {
        memory_kib: 19_456,
        passes: 2,
        at_once: 1,
        longest_wait: Duration::from_secs(60),
    };
    let passwords = Passwords::new(settings).unwrap();
    let statement = "select password_hash from users.accounts where email_key = $1";
    let hash: String = sqlx::query_scalar(statement)
        .bind(email_of(&account_name(17)))
        .fetch_one(&mut admin)
        .await
        .unwrap();
    let good = passwords.verify(PASSWORD.to_owned(), Some(hash)).await;
    assert!(good.unwrap());
}
