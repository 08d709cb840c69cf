//! Many rows at once, for tests of size: written with COPY, all counts right.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use anyhow::{Result, ensure};
use conduit_domain::slug::SlugBase;
use conduit_domain::{AccountId, ArticleId, Clock, Timestamp};
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnection;

use crate::clock::SteppingClock;

/// What a database without articles is to hold. Accounts and articles are meant by their places in these lists, which begin at 0.
#[derive(Clone, Debug, Default)]
pub struct Bulk {
    /// Usernames, no two alike.
    pub accounts: Vec<String>,
    /// Who follows whom, each pair once.
    pub follows: Vec<(usize, usize)>,
    /// The oldest first, each a second after the one before.
    pub articles: Vec<BulkArticle>,
    /// Who has which article as a favorite, each pair once.
    pub favorites: Vec<(usize, usize)>,
    /// Who comments on which article.
    pub comments: Vec<(usize, usize)>,
}

/// An article of a [`Bulk`], with 600 bytes of text.
#[derive(Clone, Debug)]
pub struct BulkArticle {
    /// The author's place.
    pub author: usize,
    /// No two make the same slug.
    pub title: String,
    /// In ascending order of code points.
    pub tags: Vec<&'static str>,
}

/// The identifiers of what was put in, by their places.
#[derive(Clone, Debug)]
pub struct BulkIds {
    /// The accounts.
    pub accounts: Vec<AccountId>,
    /// The articles.
    pub articles: Vec<ArticleId>,
}

impl Bulk {
    /// Puts all of it in, or nothing.
    pub(crate) async fn fill(&self, admin: &mut PgConnection) -> Result<BulkIds> {
        let accounts = reserved(admin, "users.accounts", self.accounts.len()).await?;
        let articles = reserved(admin, "articles.articles", self.articles.len()).await?;
        let clock = SteppingClock::new(SteppingClock::default().now(), 1000);
        let rows = Rows {
            bulk: self,
            accounts: &accounts,
            articles: &articles,
            times: self.articles.iter().map(|_| clock.now()).collect(),
        };
        // Counting pages of indexes takes rows that are known to be on disk; what is known is also what was waited for.
        run(admin, "begin; set local synchronous_commit = on".to_owned()).await?;
        for (table, lines) in rows.tables() {
            let copied = copy(admin, table, &lines.text).await?;
            ensure!(copied == lines.count, "{copied} of {} rows: {table}", lines.count);
        }
        let total = self.articles.len();
        run(
            admin,
            format!("update articles.article_total set articles = {total}; commit"),
        )
        .await?;
        Ok(BulkIds {
            accounts: accounts.into_iter().map(AccountId).collect(),
            articles: articles.into_iter().map(ArticleId).collect(),
        })
    }
}

/// So many identifiers of a table, as its next rows would have got them.
async fn reserved(admin: &mut PgConnection, table: &str, count: usize) -> Result<Vec<i64>> {
    let statement = "select nextval(pg_get_serial_sequence($1, 'id')) from generate_series(1, $2)";
    let ids = sqlx::query_scalar(statement)
        .bind(table)
        .bind(i64::try_from(count)?);
    Ok(ids.fetch_all(admin).await?)
}

async fn run(admin: &mut PgConnection, statements: String) -> Result<()> {
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(admin).await?;
    Ok(())
}

async fn copy(admin: &mut PgConnection, table: &str, lines: &str) -> Result<u64> {
    let mut copy = admin.copy_in_raw(&format!("copy {table} from stdin")).await?;
    copy.send(lines.as_bytes()).await?;
    Ok(copy.finish().await?)
}

struct Rows<'b> {
    bulk: &'b Bulk,
    accounts: &'b [i64],
    articles: &'b [i64],
    times: Vec<Timestamp>,
}

impl Rows<'_> {
    /// Each table with its columns, owners before what refers to them.
    fn tables(&self) -> [(&'static str, Lines); 8] {
        [
            (
                "users.accounts (id, username, username_key, email, email_key, password_hash, created_at, updated_at)",
                self.accounts(),
            ),
            ("profiles.follows (follower_id, followee_id)", self.follows()),
            (
                "articles.articles (id, author_id, slug, slug_base, slug_number, title, description, body, tag_list, favorites_count,
                 created_at, updated_at)",
                self.articles(),
            ),
            ("articles.article_tags (article_id, tag, author_id, created_at)", self.tags()),
            ("articles.favorites (account_id, article_id, author_id, created_at)", self.favorites()),
            ("articles.tag_totals (tag, articles)", self.tag_totals()),
            ("articles.author_totals (author_id, articles)", self.author_totals()),
            ("comments.comments (article_id, author_id, body, created_at)", self.comments()),
        ]
    }

    fn accounts(&self) -> Lines {
        let mut lines = Lines::default();
        let time = SteppingClock::default().now().text();
        let time = time.as_str();
        for (id, name) in self.accounts.iter().zip(&self.bulk.accounts) {
            let (key, email) = (name.to_lowercase(), format!("{name}@example.com"));
            lines.add(&[
                id,
                name,
                &key,
                &email,
                &email.to_lowercase(),
                &"none",
                &time,
                &time,
            ]);
        }
        lines
    }

    fn follows(&self) -> Lines {
        let mut lines = Lines::default();
        for &(follower, followee) in &self.bulk.follows {
            lines.add(&[&self.accounts[follower], &self.accounts[followee]]);
        }
        lines
    }

    fn articles(&self) -> Lines {
        let mut lines = Lines::default();
        let fans = counted(self.bulk.favorites.iter().map(|&(_, article)| article));
        let body = "Text. ".repeat(100);
        for (place, article) in self.bulk.articles.iter().enumerate() {
            let BulkArticle { author, title, tags } = article;
            let (base, time) = (SlugBase::of(title), self.times[place].text());
            let (slug, time) = (base.as_str(), time.as_str());
            let fans = fans.get(&place).unwrap_or(&0);
            lines.add(&[
                &self.articles[place],
                &self.accounts[*author],
                &slug,
                &slug,
                &1,
                title,
                &format!("About {title}"),
                &body,
                &array(tags),
                fans,
                &time,
                &time,
            ]);
        }
        lines
    }

    fn tags(&self) -> Lines {
        let mut lines = Lines::default();
        for (place, article) in self.bulk.articles.iter().enumerate() {
            for tag in &article.tags {
                let time = self.times[place].text();
                let author = self.accounts[article.author];
                lines.add(&[&self.articles[place], tag, &author, &time.as_str()]);
            }
        }
        lines
    }

    fn favorites(&self) -> Lines {
        let mut lines = Lines::default();
        for &(fan, place) in &self.bulk.favorites {
            let author = self.accounts[self.bulk.articles[place].author];
            let time = self.times[place].text();
            lines.add(&[
                &self.accounts[fan],
                &self.articles[place],
                &author,
                &time.as_str(),
            ]);
        }
        lines
    }

    fn tag_totals(&self) -> Lines {
        let mut lines = Lines::default();
        for (tag, count) in counted(self.bulk.articles.iter().flat_map(|article| &article.tags)) {
            lines.add(&[tag, &count]);
        }
        lines
    }

    fn author_totals(&self) -> Lines {
        let mut lines = Lines::default();
        for (author, count) in counted(self.bulk.articles.iter().map(|article| article.author)) {
            lines.add(&[&self.accounts[author], &count]);
        }
        lines
    }

    fn comments(&self) -> Lines {
        let mut lines = Lines::default();
        for &(author, place) in &self.bulk.comments {
            let time = self.times[place].text();
            lines.add(&[
                &self.articles[place],
                &self.accounts[author],
                &"Comment",
                &time.as_str(),
            ]);
        }
        lines
    }
}

fn counted<T: Ord>(things: impl Iterator<Item = T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    for thing in things {
        *counts.entry(thing).or_default() += 1;
    }
    counts
}

/// Lines of COPY's text form.
#[derive(Default)]
struct Lines {
    text: String,
    count: u64,
}

impl Lines {
    fn add(&mut self, fields: &[&dyn Display]) {
        for (place, field) in fields.iter().enumerate() {
            let between = if place == 0 { "" } else { "\t" };
            let _ = write!(self.text, "{between}{}", escaped(&field.to_string()));
        }
        self.text.push('\n');
        self.count += 1;
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\t', "\\t");
    text.replace('\n', "\\n").replace('\r', "\\r")
}

/// The text form of an array of texts.
fn array(texts: &[&str]) -> String {
    let quoted = |text: &&str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let quoted: Vec<String> = texts.iter().map(quoted).collect();
    format!("{{{}}}", quoted.join(","))
}
