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
    /// indexes, where walking that one is cheaper anyway: with a tag alone each favorite is tested as each of its entries would be.
    pub fn favorites_per_entry(&self) -> i64 {
        if self.author.is_some() { 1 + PROBE } else { 1 }
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
        // A tag's and a fan's entries carry the author, so only the author's are tested further; an author's all are.
        let of_author = |entries: i64| {
            if author == 1 {
                entries.min(sizes.written)
            } else {
                entries
            }
        };
        let walks = [
            (Walk::Tag, tag, sizes.tagged, of_author(sizes.tagged) * fan),
            (Walk::Author, author, sizes.written, sizes.written * (tag + fan)),
            (
                Walk::Favorites,
                fan,
                sizes.favorites,
                of_author(sizes.favorites) * tag,
            ),
        ];
        let asked = walks.into_iter().filter(|(_, asked, ..)| *asked == 1);
        let (walk, _, entries, _) = asked
            .min_by_key(|(_, _, entries, probes)| probes.saturating_mul(PROBE).saturating_add(*entries))?;
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
                // Naming the time, which is never null, keeps the count to the index that is walked: without it the planner may
                // read the whole of another index that happens to be smaller.
                statement.push("(\n        select count(e.created_at)");
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

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: Option<&str> = Some("a");
    const ACCOUNT: Option<AccountId> = Some(AccountId(1));

    fn walk(
        (tag, author, fan): (Option<&str>, Option<AccountId>, Option<AccountId>),
        [tagged, written, favorites]: [i64; 3],
    ) -> Option<Walk> {
        let sizes = Sizes {
            tagged,
            written,
            favorites,
        };
        Selection::narrowest(Conditions { tag, author, fan }, sizes).map(|selection| selection.walk)
    }

    #[test]
    fn the_cheapest_index_is_walked() {
        for (asked, sizes, expected) in [
            ((TAG, ACCOUNT, None), [1000, 40, 0], Walk::Author),
            ((TAG, ACCOUNT, None), [1000, 60, 0], Walk::Tag),
            ((TAG, None, ACCOUNT), [1000, 0, 900], Walk::Favorites),
            ((TAG, None, ACCOUNT), [900, 0, 900], Walk::Tag),
            ((None, ACCOUNT, ACCOUNT), [0, 40, 1000], Walk::Author),
            ((None, ACCOUNT, ACCOUNT), [0, 60, 1000], Walk::Favorites),
            ((TAG, ACCOUNT, ACCOUNT), [13_000, 5_000, 20_000], Walk::Tag),
            ((TAG, ACCOUNT, ACCOUNT), [13_000, 700, 20_000], Walk::Tag),
            ((TAG, ACCOUNT, ACCOUNT), [13_000, 50, 20_000], Walk::Author),
            ((TAG, ACCOUNT, ACCOUNT), [13_000, 5_000, 900], Walk::Favorites),
        ] {
            assert_eq!(walk(asked, sizes), Some(expected), "{asked:?} {sizes:?}");
        }
    }

    #[test]
    fn where_one_index_has_nothing_there_is_nothing() {
        for sizes in [[0, 9, 9], [9, 0, 9], [9, 9, 0]] {
            assert_eq!(walk((TAG, ACCOUNT, ACCOUNT), sizes), None, "{sizes:?}");
        }
        assert_eq!(
            walk((TAG, ACCOUNT, None), [5, 5, 0]),
            Some(Walk::Tag),
            "what is not asked for does not count"
        );
    }
}
