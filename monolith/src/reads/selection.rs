//! Which articles a list holds (contract 3.6), and which index gives them in order.

use conduit_domain::{AccountId, ArticleFilter, NameKey, Page, Result};
use sqlx::{Postgres, QueryBuilder};

use super::Joined;

/// What testing one more condition by its key costs, in entries of an index walked in order (measured: 3.4 to 0.18 µs).
const PROBE: i64 = 19;

const AND: &str = "\n          and ";

/// An account in a filter.
#[derive(Clone, Copy)]
enum Account<'f> {
    /// Looked up by the statement itself; nobody has no articles.
    Named(&'f NameKey),
    /// Looked up already.
    Known(AccountId),
}

/// The index that is walked, newest first. The entries of all four carry the author.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    Everything,
    Tag,
    Author,
    Favorites,
}

/// A filter with the index to walk for it: the page and the total are of the same entries.
pub(super) struct Selection<'f> {
    walk: Walk,
    tag: Option<&'f str>,
    author: Option<Account<'f>>,
    fan: Option<Account<'f>>,
}

/// How many entries each index has for a filter.
struct Sizes {
    author: Option<AccountId>,
    fan: Option<AccountId>,
    tagged: i64,
    written: i64,
    favorites: i64,
}

impl Joined {
    /// Prepares a filter; `None` if no article can match. One condition has one index. Of several the narrowest walk is chosen
    /// here, by what is counted anyway, because the planner cannot: its plan serves every value.
    pub(super) async fn select<'f>(&self, filter: &'f ArticleFilter) -> Result<Option<Selection<'f>>> {
        let ArticleFilter {
            tag,
            author,
            favorited,
        } = filter;
        let walk = match (tag, author, favorited) {
            (None, None, None) => Walk::Everything,
            (Some(_), None, None) => Walk::Tag,
            (None, Some(_), None) => Walk::Author,
            (None, None, Some(_)) => Walk::Favorites,
            _ => return Ok(self.sizes(filter).await?.narrowest(filter)),
        };
        Ok(Some(Selection {
            walk,
            tag: tag.as_deref(),
            author: author.as_ref().map(Account::Named),
            fan: favorited.as_ref().map(Account::Named),
        }))
    }

    /// Favorites are not counted beforehand, so counting them stops where another walk is cheaper anyway.
    async fn sizes(&self, filter: &ArticleFilter) -> Result<Sizes> {
        self.db
            .one(|| {
                sqlx::query!(
                    r#"
                    select
                      known.author as "author?",
                      known.fan as "fan?",
                      coalesce(known.tagged, 0) as "tagged!",
                      coalesce(known.written, 0) as "written!",
                      (
                        select count(*)
                        from (
                          select
                          from articles.favorites f
                          where f.account_id = known.fan
                          limit coalesce(least(known.tagged, known.written), 0) * $4
                        ) counted
                      ) as "favorites!"
                    from (
                      select
                        accounts.author,
                        accounts.fan,
                        (select t.articles from articles.tag_totals t where t.tag = $1) as tagged,
                        (select t.articles from articles.author_totals t where t.author_id = accounts.author) as written
                      from (
                        select
                          (select u.id from users.accounts u where u.username_key = $2) as author,
                          (select u.id from users.accounts u where u.username_key = $3) as fan
                      ) accounts
                    ) known
                    "#,
                    filter.tag.as_deref(),
                    filter.author.as_ref().map(NameKey::as_str),
                    filter.favorited.as_ref().map(NameKey::as_str),
                    1 + 2 * PROBE,
                )
                .map(|row| Sizes {
                    author: row.author.map(AccountId),
                    fan: row.fan.map(AccountId),
                    tagged: row.tagged,
                    written: row.written,
                    favorites: row.favorites,
                })
            })
            .await
    }
}

impl Sizes {
    /// The cheapest walk; `None` if something asked for is unknown or has no articles.
    fn narrowest(self, filter: &ArticleFilter) -> Option<Selection<'_>> {
        let asked = [
            filter.tag.is_some(),
            filter.author.is_some(),
            filter.favorited.is_some(),
        ];
        let [tag, author, fan] = asked.map(i64::from);
        // A tag's and a fan's entries carry the author; every other condition is a probe for each entry.
        let walks = [
            (Walk::Tag, tag, self.tagged, fan),
            (Walk::Author, author, self.written, tag + fan),
            (Walk::Favorites, fan, self.favorites, tag),
        ];
        let asked = walks.into_iter().filter(|(_, asked, ..)| *asked == 1);
        let (walk, _, entries, _) =
            asked.min_by_key(|(_, _, entries, probes)| entries.saturating_mul(1 + PROBE * probes))?;
        (entries > 0).then(|| Selection {
            walk,
            tag: filter.tag.as_deref(),
            author: self.author.map(Account::Known),
            fan: self.fan.map(Account::Known),
        })
    }
}

impl Walk {
    fn table(self) -> &'static str {
        match self {
            Self::Everything | Self::Author => "articles.articles",
            Self::Tag => "articles.article_tags",
            Self::Favorites => "articles.favorites",
        }
    }

    /// The column that identifies the article.
    fn article(self) -> &'static str {
        match self {
            Self::Everything | Self::Author => "e.id",
            Self::Tag | Self::Favorites => "e.article_id",
        }
    }
}

impl Selection<'_> {
    /// The ids and creation times of one page, newest first, from the index alone.
    pub(super) fn push_newest(&self, statement: &mut QueryBuilder<Postgres>, page: Page) {
        let id = self.walk.article();
        statement
            .push("\n        select ")
            .push(id)
            .push(" as id, e.created_at");
        self.push_entries(statement);
        statement
            .push("\n        order by e.created_at desc, ")
            .push(id)
            .push(" desc\n        limit ")
            .push_bind(page.limit)
            .push(" offset ")
            .push_bind(page.offset);
    }

    /// How many articles match, as a scalar: kept where it is kept, else counted from the same entries.
    pub(super) fn push_total(&self, statement: &mut QueryBuilder<Postgres>) {
        match self {
            Self {
                tag: None,
                author: None,
                fan: None,
                ..
            } => {
                statement.push("(select t.articles from articles.article_total t)");
            }
            Self {
                tag: Some(tag),
                author: None,
                fan: None,
                ..
            } => {
                statement
                    .push("coalesce((select t.articles from articles.tag_totals t where t.tag = ")
                    .push_bind(*tag)
                    .push("), 0)");
            }
            Self {
                tag: None,
                author: Some(author),
                fan: None,
                ..
            } => {
                statement
                    .push("coalesce((select t.articles from articles.author_totals t where t.author_id = ");
                author.push(statement);
                statement.push("), 0)");
            }
            _ => {
                statement.push("(\n        select count(*)");
                self.push_entries(statement);
                statement.push("\n      )");
            }
        }
    }

    /// The entries of the index that is walked, tested for every other condition. A condition is a sub-select with a limit, so
    /// that it stays a test of entries in order and never becomes a join.
    fn push_entries(&self, statement: &mut QueryBuilder<Postgres>) {
        statement
            .push("\n        from ")
            .push(self.walk.table())
            .push(" e");
        let mut word = "\n        where ";
        if let Some(author) = self.author {
            statement.push(word).push("e.author_id = ");
            author.push(statement);
            word = AND;
        }
        if let Some(tag) = self.tag {
            statement.push(word);
            self.push_tag(statement, tag);
            word = AND;
        }
        if let Some(fan) = self.fan {
            statement.push(word);
            self.push_fan(statement, fan);
        }
    }

    fn push_tag(&self, statement: &mut QueryBuilder<Postgres>, tag: &str) {
        if self.walk == Walk::Tag {
            statement.push("e.tag = ").push_bind(tag);
            return;
        }
        statement
            .push("(select true from articles.article_tags t where t.article_id = ")
            .push(self.walk.article())
            .push(" and t.tag = ")
            .push_bind(tag)
            .push(" limit 1)");
    }

    fn push_fan(&self, statement: &mut QueryBuilder<Postgres>, fan: Account<'_>) {
        if self.walk == Walk::Favorites {
            statement.push("e.account_id = ");
            fan.push(statement);
            return;
        }
        statement.push("(select true from articles.favorites f where f.account_id = ");
        fan.push(statement);
        statement
            .push(" and f.article_id = ")
            .push(self.walk.article())
            .push(" limit 1)");
    }
}

impl Account<'_> {
    fn push(self, statement: &mut QueryBuilder<Postgres>) {
        match self {
            Self::Known(id) => statement.push_bind(id.0),
            Self::Named(name) => statement
                .push("(select u.id from users.accounts u where u.username_key = ")
                .push_bind(name.as_str())
                .push(")"),
        };
    }
}
