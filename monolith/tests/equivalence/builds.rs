//! The read ports of both builds over one database, behind one way to ask them.

use std::sync::Arc;

use conduit_app::reads::{ArticleReads, CommentReads, ProfileReads};
use conduit_domain::{Article, ArticleId, ArticlePage, Comment, CommentTarget, Error, Profile, Result};
use conduit_rpc::CallSettings;
use conduit_store::{ArticleStore, CommentStore, ProfileStore, UserStore};
use conduit_testkit::TestDatabase;
use monolith::reads::Joined;

use crate::questions::Question;

pub(crate) struct Build {
    profiles: Box<dyn ProfileReads>,
    articles: Box<dyn ArticleReads>,
    comments: Box<dyn CommentReads>,
}

/// What a port says.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Profile(Option<Profile>),
    Article(Option<Article>),
    Author(Profile),
    Page(ArticlePage),
    Id(Option<ArticleId>),
    Target(Option<CommentTarget>),
    Comments(Option<Vec<Comment>>),
    CallerGone,
}

impl Build {
    pub(crate) fn joined(database: &TestDatabase) -> Self {
        let joined = Joined::new(database.db("monolith"));
        Self {
            profiles: Box::new(joined.clone()),
            articles: Box::new(joined.clone()),
            comments: Box::new(joined),
        }
    }

    /// Four services, each with the rights of its own role.
    pub(crate) fn composed(database: &TestDatabase, calls: &CallSettings) -> Self {
        let accounts = UserStore::new(database.db("users"));
        let follows = ProfileStore::new(database.db("profiles"));
        let written = ArticleStore::new(database.db("articles"));
        let comments = CommentStore::new(database.db("comments"));
        let users = conduit_users::internal::api(accounts, calls);
        let profiles = conduit_profiles::internal::api(follows.clone(), calls);
        let articles = conduit_articles::internal::api(written.clone(), calls);
        Self {
            profiles: Box::new(conduit_profiles::reads::Composed::new(
                Arc::clone(&users),
                follows,
            )),
            articles: Box::new(conduit_articles::reads::Composed::new(
                Arc::clone(&users),
                Arc::clone(&profiles),
                written,
            )),
            comments: Box::new(conduit_comments::reads::Composed::new(
                users, profiles, articles, comments,
            )),
        }
    }

    pub(crate) async fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Profile(viewer, name) => {
                given(self.profiles.by_username(*viewer, name).await, Answer::Profile)
            }
            Question::Article(viewer, slug) => {
                given(self.articles.by_slug(*viewer, slug).await, Answer::Article)
            }
            Question::Author(caller) => given(self.articles.author(*caller).await, Answer::Author),
            Question::List(viewer, filter, page) => {
                given(self.articles.list(*viewer, filter, *page).await, Answer::Page)
            }
            Question::Feed(caller, page) => given(self.articles.feed(*caller, *page).await, Answer::Page),
            Question::ArticleId(slug) => given(self.comments.article_id(slug).await, Answer::Id),
            Question::Target(caller, slug) => {
                given(self.comments.target(*caller, slug).await, Answer::Target)
            }
            Question::Comments(viewer, slug, page) => {
                given(self.comments.list(*viewer, slug, *page).await, Answer::Comments)
            }
        }
    }
}

fn given<T>(outcome: Result<T>, answer: impl FnOnce(T) -> Answer) -> Answer {
    match outcome {
        Ok(value) => answer(value),
        Err(Error::CallerGone) => Answer::CallerGone,
        Err(error) => panic!("{error:?}"),
    }
}

impl Answer {
    /// Whether it tells of nothing.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Profile(profile) => profile.is_none(),
            Self::Article(article) => article.is_none(),
            Self::Author(_) => false,
            Self::Page(page) => page.articles.is_empty(),
            Self::Id(id) => id.is_none(),
            Self::Target(target) => target.is_none(),
            Self::Comments(comments) => comments.as_ref().is_none_or(Vec::is_empty),
            Self::CallerGone => true,
        }
    }
}
