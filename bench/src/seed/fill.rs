//! Filling a database.

use anyhow::{Context, Result, ensure};
use conduit_runtime::database::{DatabaseSettings, DatabaseUrl, Owner, prepare};
use indicatif::ProgressBar;
use sqlx::{ConnectOptions, Connection, PgConnection};

use super::copy::Rows;
use super::draw::Draw;
use super::indexes::{self, run};
use super::rows::{Per, TABLES, Table};

/// Rows are sent in pieces of about this size.
const PIECE: usize = 1 << 20;

/// No more than COPY and making indexes take; the roles' limits are for requests.
const SESSION: &str = "
set statement_timeout = 0;
set lock_timeout = '30s';
set idle_in_transaction_session_timeout = 0;
set maintenance_work_mem = '256MB';
set client_min_messages = warning;
";

/// Everything but the one-row tables, which stay.
const EMPTY: &str =
    "truncate users.accounts, profiles.follows, articles.articles, articles.article_tags, articles.favorites,
  articles.tag_totals, articles.author_totals, articles.deletions, comments.comments, comments.purges";

/// What is kept beside what it counts (`sql/README.md`), and where the numbers go on.
const TOTALS: &str = "
insert into articles.tag_totals (tag, articles)
select
  tag,
  count(*)
from articles.article_tags
group by tag;

insert into articles.author_totals (author_id, articles)
select
  author_id,
  count(*)
from articles.articles
group by author_id;

update articles.article_total
set articles = (
  select count(*)
  from articles.articles
);

select
  setval(pg_get_serial_sequence('users.accounts', 'id'), (select max(id) from users.accounts)),
  setval(pg_get_serial_sequence('articles.articles', 'id'), (select max(id) from articles.articles)),
  setval(pg_get_serial_sequence('comments.comments', 'id'), (select coalesce(max(id), 1) from comments.comments));
";

/// What to fill a database with.
#[derive(Clone, Copy, Debug)]
pub struct Seeding {
    /// How many articles, 1 or more; accounts are a tenth.
    pub articles: u64,
    /// The same data for the same seed.
    pub seed: u64,
    /// Whether what is there may go.
    pub replace: bool,
}

/// Fills the database, which is made and migrated where it is not: all of it, or nothing. Rows are counted at `progress`. Returns how
/// many rows there are.
///
/// # Errors
/// It holds data already and may not be emptied, it cannot be reached, or it refuses something.
pub async fn fill(url: &DatabaseUrl, seeding: &Seeding, progress: &ProgressBar) -> Result<u64> {
    ensure!(seeding.articles > 0, "there has to be one article at least");
    let draw = Draw::new(seeding.articles, seeding.seed)?;
    let mut connection = open(url).await?;
    ensure!(
        seeding.replace || is_empty(&mut connection).await?,
        "the database {url} holds data already; --replace removes all of them"
    );
    progress.set_length(expected(&draw));
    run(&mut connection, "begin").await?;
    let written = write(&mut connection, &draw, progress).await?;
    run(&mut connection, "commit").await?;
    progress.set_message("vacuum");
    for table in TABLES.iter().map(|table| table.name).chain(TOTALED) {
        run(&mut connection, format!("vacuum (analyze, freeze) {table}")).await?;
    }
    // What was written is written out now rather than under the first load.
    let _ = run(&mut connection, "checkpoint").await;
    connection.close().await?;
    Ok(written)
}

const TOTALED: [&str; 3] = [
    "articles.tag_totals",
    "articles.author_totals",
    "articles.article_total",
];

/// As the superuser that the URL names, or else as the role that may write all four schemas.
async fn open(url: &DatabaseUrl) -> Result<PgConnection> {
    let settings = DatabaseSettings {
        create: true,
        ..DatabaseSettings::new(Owner::Monolith)
    };
    let prepared = prepare(url, &settings).await?;
    let mut connection = url.options()?.connect().await?;
    let superuser: bool =
        sqlx::query_scalar("select rolsuper from pg_catalog.pg_roles where rolname = current_user")
            .fetch_one(&mut connection)
            .await?;
    if superuser {
        // The keys hold by how rows are drawn; checking each of ten million would take longer than writing them.
        run(&mut connection, "set session_replication_role = replica").await?;
    } else {
        connection = prepared.url().options()?.connect().await?;
    }
    run(&mut connection, SESSION).await?;
    Ok(connection)
}

async fn is_empty(connection: &mut PgConnection) -> Result<bool> {
    let found: bool = sqlx::query_scalar("select exists (select from users.accounts)")
        .fetch_one(connection)
        .await
        .context("looking whether the database is empty")?;
    Ok(!found)
}

/// Rows in all, about: for the progress.
fn expected(draw: &Draw) -> u64 {
    draw.accounts * 10 + draw.articles * 14
}

async fn write(connection: &mut PgConnection, draw: &Draw, progress: &ProgressBar) -> Result<u64> {
    run(connection, EMPTY).await?;
    let indexes = indexes::drop_all(connection).await?;
    let mut written = 0;
    for table in &TABLES {
        progress.set_message(table.name);
        written += copy(connection, table, draw, progress).await?;
    }
    progress.set_message("indexes");
    indexes.make(connection).await?;
    progress.set_message("totals");
    run(connection, TOTALS).await?;
    Ok(written)
}

async fn copy(
    connection: &mut PgConnection,
    table: &Table,
    draw: &Draw,
    progress: &ProgressBar,
) -> Result<u64> {
    let failed = || format!("filling {}", table.name);
    let statement = format!("copy {} ({}) from stdin", table.name, table.columns);
    let mut copy = connection.copy_in_raw(&statement).await.with_context(failed)?;
    let things = match table.per {
        Per::Account => draw.accounts,
        Per::Article => draw.articles,
    };
    let mut rows = Rows::default();
    for number in 0..things {
        (table.rows)(draw, number, &mut rows);
        if rows.bytes() >= PIECE || number + 1 == things {
            let (piece, count) = rows.take();
            copy.send(piece).await.with_context(failed)?;
            progress.inc(count);
        }
    }
    copy.finish().await.with_context(failed)
}
