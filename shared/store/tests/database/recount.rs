//! The statements of sql/README.md, taken from there: people will run them when something is wrong.

use conduit_testkit::{Bulk, BulkArticle, TestDatabase};
use futures_util::TryStreamExt;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Either};

const README: &str = include_str!("../../../../sql/README.md");

/// The blocks of statements, in order: the one that finds wrong counts, the one that repairs them; the one that removes comments of
/// articles forgotten, the one that reads deletions again.
pub(crate) fn blocks() -> Vec<&'static str> {
    let parts = README.split("```sql\n").skip(1);
    parts.map(|part| part.split("```").next().unwrap()).collect()
}

/// Runs statements and counts the rows of each that gives any.
async fn faults(admin: &mut PgConnection) -> Vec<usize> {
    let mut answers = sqlx::raw_sql(AssertSqlSafe(blocks()[0])).fetch_many(admin);
    let (mut counts, mut rows) = (Vec::new(), 0);
    while let Some(answer) = answers.try_next().await.unwrap() {
        match answer {
            Either::Right(_) => rows += 1,
            Either::Left(_) => counts.push(std::mem::take(&mut rows)),
        }
    }
    counts
}

#[tokio::test]
async fn what_was_miscounted_is_found_and_repaired() {
    let database = TestDatabase::new().await;
    let seed = database.seed();
    let (ann, ben) = (seed.account("ann").await.id, seed.account("ben").await.id);
    let bread = seed.article(ann, "Bread", &["baking", "rye"]).await;
    let cake = seed.article(ben, "Cake", &["baking"]).await;
    seed.favorite(ann, cake.id).await;
    seed.favorite(ben, bread.id).await;
    let mut admin = database.admin().await;
    assert_eq!(blocks().len(), 4);
    // `begin` and `commit` give no rows either.
    assert_eq!(faults(&mut admin).await, [0; 8]);

    sqlx::raw_sql(
        "update articles.articles set favorites_count = 7 where slug = 'bread';
         delete from articles.tag_totals where tag = 'rye';
         insert into articles.tag_totals values ('never used', 2);
         update articles.author_totals set articles = 3;
         update articles.article_total set articles = 5;",
    )
    .execute(&mut admin)
    .await
    .unwrap();
    assert_eq!(faults(&mut admin).await, [0, 1, 2, 2, 1, 0, 0, 0]);
    sqlx::raw_sql(AssertSqlSafe(blocks()[1]))
        .execute(&mut admin)
        .await
        .unwrap();
    assert_eq!(faults(&mut admin).await, [0; 8]);

    sqlx::raw_sql(
        "update articles.articles set tag_list = '{rye}' where slug = 'bread';
         update articles.favorites set created_at = created_at + interval '1 day' where article_id = 2000000;",
    )
    .execute(&mut admin)
    .await
    .unwrap();
    assert_eq!(faults(&mut admin).await, [0, 0, 0, 0, 0, 1, 1, 0]);
}

#[tokio::test]
async fn what_was_put_in_at_once_is_counted_right_and_can_go_on() {
    let database = TestDatabase::new().await;
    let article = |author, title: &str, tags: &[&'static str]| BulkArticle {
        author,
        title: title.to_owned(),
        tags: tags.to_vec(),
    };
    let bulk = Bulk {
        accounts: vec!["Ann".to_owned(), "B\\en\t\"".to_owned()],
        follows: vec![(1, 0)],
        articles: vec![
            article(0, "Bread", &["a \"b\" \\", "baking"]),
            article(0, "Cake", &["baking"]),
            article(1, "Soup", &[]),
        ],
        favorites: vec![(0, 1), (1, 1), (1, 0)],
        comments: vec![(1, 0)],
    };
    let ids = database.fill(&bulk).await;
    let mut admin = database.admin().await;
    assert_eq!(faults(&mut admin).await, [0; 8]);
    let name = sqlx::query_scalar("select username from users.accounts order by id desc limit 1");
    let name: String = name.fetch_one(&mut admin).await.unwrap();
    assert_eq!(name, bulk.accounts[1]);

    let seed = database.seed();
    let cleo = seed.account("cleo").await.id;
    let bread = seed.article(cleo, "Bread", &["baking"]).await;
    assert!(cleo > ids.accounts[1] && bread.id > ids.articles[2]);
    assert_eq!(bread.slug, "bread-2");
    seed.favorite(cleo, ids.articles[1]).await;
    seed.comment(cleo, ids.articles[1], "Sweet").await;
    assert_eq!(faults(&mut admin).await, [0; 8]);
}
