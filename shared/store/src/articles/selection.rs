//! Which articles a list holds (contract 3.6), which index gives them in order, and the parts of statements that read it.
//!
//! Both builds choose and build here. They differ in how a statement names an account ([`PushAccount`]): this store is told who it
//! is, the monolith may let the statement look the name up.

use conduit_domain::{AccountId, Page};
use sqlx::{Postgres, QueryBuilder};

/// What testing one more condition by its key costs, in entries of an index walked in order (measured: 3.4 to 0.18 µs).
const PROBE: i64 = 19;

const AND: &str = "\n          and ";

/// An account as a statement names it.
pub trait PushAccount: Copy {
    /// Adds a scalar: the account's id, or null where there is no such account.
    fn push(self, statement: &mut QueryBuilder<Postgres>);
}

impl PushAccount for AccountId {
    fn push(self, statement: &mut QueryBuilder<Postgres>) {
        statement.push_bind(self.0);
    }
}

/// What an article must have in common with its list; all that is given must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions<'f, A> {
    /// Carries this tag, exactly.
    pub tag: Option<&'f str>,
    /// Written by this account.
    pub author: Option<A>,
    /// A favorite of this account.
    pub fan: Option<A>,
}

/// How many entries each index has for some conditions; zero where nothing is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Articles with the tag.
    pub tagged: i64,
    /// Articles of the author.
    pub written: i64,
    /// Favorites, counted as far as [`Conditions::favorites_per_entry`] says.
    pub favorites: i64,
}

/// The index that is walked, newest first. The entries of all four carry the author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walk {
    Everything,
    Tag,
    Author,
    Favorites,
}

/// Conditions with the index to walk for them: the page and the total are of the same entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection<'f, A> {
    walk: Walk,
    conditions: Conditions<'f, A>,
}

impl<A> Conditions<'_, A> {
    /// Favorites are not counted beforehand. Counting them stops at this many for each entry of the smaller of the other two
    /// indexes, where another walk is cheaper anyway: an entry of another walk costs as much as that many favorites, each of
    /// which is tested for the tag too, if there is one.
    pub fn favorites_per_entry(&self) -> i64 {
        if self.tag.is_some() { 2 } else { 1 + PROBE }
    }
}

impl<'f, A> Selection<'f, A> {
    /// The index for at most one condition. `None` for several: then [`Self::narrowest`] has to know the sizes.
    pub fn only(conditions: Conditions<'f, A>) -> Option<Self> {
        let walk = match conditions {
            Conditions {
                tag: None,
                author: None,
                fan: None,
            } => Walk::Everything,
            Conditions {
                tag: Some(_),
                author: None,
                fan: None,
            } => Walk::Tag,
            Conditions {
                tag: None,
                author: Some(_),
                fan: None,
            } => Walk::Author,
            Conditions {
                tag: None,
                author: None,
                fan: Some(_),
            } => Walk::Favorites,
            _ => return None,
        };
        Some(Self { walk, conditions })
    }

    /// The cheapest walk, chosen here, by what is counted anyway, because the planner cannot: its plan serves every value. `None`
    /// if something asked for has no articles.
    pub fn narrowest(conditions: Conditions<'f, A>, sizes: Sizes) -> Option<Self> {
        let asked = [
            conditions.tag.is_some(),
            conditions.author.is_some(),
            conditions.fan.is_some(),
        ];
        let [tag, author, fan] = asked.map(i64::from);
        // A tag's and a fan's entries carry the author; every other condition is a probe for each entry.
        let walks = [
            (Walk::Tag, tag, sizes.tagged, fan),
            (Walk::Author, author, sizes.written, tag + fan),
            (Walk::Favorites, fan, sizes.favorites, tag),
        ];
        let asked = walks.into_iter().filter(|(_, asked, ..)| *asked == 1);
        let (walk, _, entries, _) =
            asked.min_by_key(|(_, _, entries, probes)| entries.saturating_mul(1 + PROBE * probes))?;
        (entries > 0).then_some(Self { walk, conditions })
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

impl<A: PushAccount> Selection<'_, A> {
    /// Adds a select of the ids and creation times of one page, newest first, from the index alone.
    pub fn push_newest(&self, statement: &mut QueryBuilder<Postgres>, page: Page) {
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

    /// Adds how many articles match, as a scalar: kept where it is kept, else counted from the same entries.
    pub fn push_total(&self, statement: &mut QueryBuilder<Postgres>) {
        match self.conditions {
            Conditions {
                tag: None,
                author: None,
                fan: None,
            } => {
                statement.push("(select t.articles from articles.article_total t)");
            }
            Conditions {
                tag: Some(tag),
                author: None,
                fan: None,
            } => {
                statement
                    .push("coalesce((select t.articles from articles.tag_totals t where t.tag = ")
                    .push_bind(tag)
                    .push("), 0)");
            }
            Conditions {
                tag: None,
                author: Some(author),
                fan: None,
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
        let Conditions { tag, author, fan } = self.conditions;
        statement
            .push("\n        from ")
            .push(self.walk.table())
            .push(" e");
        let mut word = "\n        where ";
        if let Some(author) = author {
            statement.push(word).push("e.author_id = ");
            author.push(statement);
            word = AND;
        }
        if let Some(tag) = tag {
            statement.push(word);
            self.push_tag(statement, tag);
            word = AND;
        }
        if let Some(fan) = fan {
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

    fn push_fan(&self, statement: &mut QueryBuilder<Postgres>, fan: A) {
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
