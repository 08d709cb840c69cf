//! Articles with their authors, from three owners: this service knows the articles, users and profiles the authors.
//!
//! Whoever is unknown to users was removed by hand; where one database holds all, the articles went along, so here they are left
//! out.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use conduit_app::reads::ArticleReads;
use conduit_domain::{
    AccountId, Article, ArticleFilter, ArticlePage, Error, NameKey, Page, Profile, Result, Viewer,
};
use conduit_rpc::{CallError, FindUsers, ProfilesApi, User, UsersApi};
use conduit_service::{authors, authors_besides};
use conduit_store::ArticleStore;
use conduit_store::articles::RecordPage;
use conduit_store::articles::selection::Conditions;

/// The read port over two peers and the own articles.
#[derive(Clone)]
pub struct Composed {
    users: Arc<dyn UsersApi>,
    profiles: Arc<dyn ProfilesApi>,
    articles: ArticleStore,
}

impl Composed {
    /// Asks these peers, and reads these articles.
    pub fn new(users: Arc<dyn UsersApi>, profiles: Arc<dyn ProfilesApi>, articles: ArticleStore) -> Self {
        Self {
            users,
            profiles,
            articles,
        }
    }

    /// The accounts that a filter names, in one call; none, nothing to ask.
    async fn named(&self, filter: &ArticleFilter) -> Result<Vec<User>, CallError> {
        let mut names: Vec<_> = [&filter.author, &filter.favorited]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        names.dedup();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        self.users
            .find(FindUsers {
                ids: Vec::new(),
                names,
            })
            .await
    }
}

#[async_trait]
impl ArticleReads for Composed {
    async fn by_slug(&self, viewer: Viewer, slug: &str) -> Result<Option<Article>> {
        let Some(record) = self.articles.by_slug(slug, viewer.id()).await? else {
            return Ok(None);
        };
        let acting = match viewer {
            Viewer::Acting(caller) => Some(caller),
            Viewer::Anonymous | Viewer::SignedIn(_) => None,
        };
        let ids = [record.author].into_iter().chain(acting).collect();
        let viewer = Viewer::from(viewer.id());
        let found = authors(&*self.users, &*self.profiles, viewer, ids).await?;
        let Some(author) = found.get(&record.author) else {
            return Ok(None);
        };
        if acting.is_some_and(|caller| !found.contains_key(&caller)) {
            return Err(Error::CallerGone);
        }
        Ok(Some(record.by(author.clone())))
    }

    async fn author(&self, caller: AccountId) -> Result<Profile> {
        let ids = [caller].into();
        let mut found = authors(&*self.users, &*self.profiles, Viewer::Anonymous, ids).await?;
        found.remove(&caller).ok_or(Error::CallerGone)
    }

    async fn list(&self, viewer: Viewer, filter: &ArticleFilter, page: Page) -> Result<ArticlePage> {
        let named = self.named(filter).await?;
        let Some(conditions) = conditions(filter, &named) else {
            return Ok(ArticlePage::default());
        };
        let Some(selection) = self.articles.select(conditions).await? else {
            return Ok(ArticlePage::default());
        };
        // Who merely looks need not exist.
        let viewer = Viewer::from(viewer.id());
        let page = self.articles.page(&selection, viewer.id(), page).await?;
        let ids = page.rows.iter().map(|row| row.author).collect();
        let found = authors_besides(named, &*self.users, &*self.profiles, viewer, ids).await?;
        Ok(with_authors(page, &found))
    }

    async fn feed(&self, caller: AccountId, page: Page) -> Result<ArticlePage> {
        let followed = self.profiles.followed_by(caller).await?;
        let page = self.articles.feed(&followed, caller, page).await?;
        // The caller is asked for along with the authors: a look-up of its own would tell no more.
        let authors_and_caller = page.rows.iter().map(|row| row.author).chain([caller]);
        let (users, profiles) = (&*self.users, &*self.profiles);
        let ids = authors_and_caller.collect();
        let mut found = authors(users, profiles, Viewer::Anonymous, ids).await?;
        if !found.contains_key(&caller) {
            return Err(Error::CallerGone);
        }
        // That is why they are here: no flag has to be asked for.
        found.values_mut().for_each(|author| author.following = true);
        Ok(with_authors(page, &found))
    }
}

/// A filter in the identifiers of accounts; `None` if it names somebody unknown.
fn conditions<'f>(filter: &'f ArticleFilter, named: &[User]) -> Option<Conditions<'f, AccountId>> {
    let id = |name: &Option<NameKey>| match name {
        None => Some(None),
        Some(name) => {
            let mut accounts = named.iter();
            accounts
                .find(|user| NameKey::of_valid(&user.username) == *name)
                .map(|user| Some(user.id))
        }
    };
    Some(Conditions {
        tag: filter.tag.as_deref(),
        author: id(&filter.author)?,
        fan: id(&filter.favorited)?,
    })
}

fn with_authors(page: RecordPage, authors: &HashMap<AccountId, Profile>) -> ArticlePage {
    let articles = page.rows.into_iter().filter_map(|row| {
        let author = authors.get(&row.author)?.clone();
        Some(row.by(author))
    });
    ArticlePage {
        articles: articles.collect(),
        total: page.total,
    }
}
