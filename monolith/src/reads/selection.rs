//! The articles of a list as the store selects them, with accounts that the statement itself looks up by name.

use conduit_domain::{AccountId, ArticleFilter, NameKey, Result};
use conduit_store::articles::selection::{Conditions, PushAccount, Selection, Sizes};
use sqlx::{Postgres, QueryBuilder};

use super::Joined;

/// An account in a filter.
#[derive(Clone, Copy)]
pub(super) enum Account<'f> {
    /// Looked up by the statement itself; nobody has no articles.
    Named(&'f NameKey),
    /// Looked up already.
    Known(AccountId),
}

/// The accounts that a filter names, as far as they exist, and how many entries each index has for it.
struct Known {
    author: Option<AccountId>,
    fan: Option<AccountId>,
    sizes: Sizes,
}

impl PushAccount for Account<'_> {
    fn push(self, statement: &mut QueryBuilder<Postgres>) {
        match self {
            Self::Known(id) => id.push(statement),
            Self::Named(name) => {
                statement
                    .push("(select u.id from users.accounts u where u.username_key = ")
                    .push_bind(name.as_str())
                    .push(")");
            }
        }
    }
}

impl Joined {
    /// Prepares a filter; `None` if no article can match.
    pub(super) async fn select<'f>(
        &self,
        filter: &'f ArticleFilter,
    ) -> Result<Option<Selection<'f, Account<'f>>>> {
        let named = Conditions {
            tag: filter.tag.as_deref(),
            author: filter.author.as_ref().map(Account::Named),
            fan: filter.favorited.as_ref().map(Account::Named),
        };
        if let Some(selection) = Selection::only(named) {
            return Ok(Some(selection));
        }
        let known = self.known(filter, named.favorites_per_entry()).await?;
        let found = Conditions {
            author: known.author.map(Account::Known).or(named.author),
            fan: known.fan.map(Account::Known).or(named.fan),
            ..named
        };
        Ok(Selection::narrowest(found, known.sizes))
    }

    async fn known(&self, filter: &ArticleFilter, favorites_per_entry: i64) -> Result<Known> {
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
                    favorites_per_entry,
                )
                .map(|row| Known {
                    author: row.author.map(AccountId),
                    fan: row.fan.map(AccountId),
                    sizes: Sizes {
                        tagged: row.tagged,
                        written: row.written,
                        favorites: row.favorites,
                    },
                })
            })
            .await
    }
}
