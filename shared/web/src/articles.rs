//! Articles, lists, favorites and tags (contract 2.8 to 2.13, 2.17 to 2.19).

use conduit_app::Articles;
use conduit_domain::{Article, ArticlePage, ArticleSummary, Result, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::Call;
use crate::view::{ProfileView, View, moment};

pub(crate) async fn list(articles: &Articles, mut call: Call<'_>) -> Result<Answer> {
    let page = articles.list(call.viewer(), call.list_query()?).await?;
    Answer::ok(&ArticleList::from(&page))
}

pub(crate) async fn feed(articles: &Articles, call: Call<'_>) -> Result<Answer> {
    let page = articles.feed(call.caller()?, call.page()?).await?;
    Answer::ok(&ArticleList::from(&page))
}

pub(crate) async fn show(articles: &Articles, call: Call<'_>) -> Result<Answer> {
    let article = articles.show(call.viewer(), &call.slug()?).await?;
    Answer::ok(&OneArticle::from(&article))
}

pub(crate) async fn create(articles: &Articles, mut call: Call<'_>) -> Result<Answer> {
    let article = articles.create(call.caller()?, call.body()?).await?;
    Answer::created(&OneArticle::from(&article))
}

pub(crate) async fn update(articles: &Articles, mut call: Call<'_>) -> Result<Answer> {
    let article = articles
        .update(call.caller()?, &call.slug()?, call.body()?)
        .await?;
    Answer::ok(&OneArticle::from(&article))
}

pub(crate) async fn delete(articles: &Articles, call: Call<'_>) -> Result<Answer> {
    articles.delete(call.caller()?, &call.slug()?).await?;
    Ok(Answer::no_content())
}

pub(crate) async fn favorite(articles: &Articles, call: Call<'_>) -> Result<Answer> {
    let article = articles.favorite(call.caller()?, &call.slug()?).await?;
    Answer::ok(&OneArticle::from(&article))
}

pub(crate) async fn unfavorite(articles: &Articles, call: Call<'_>) -> Result<Answer> {
    let article = articles.unfavorite(call.caller()?, &call.slug()?).await?;
    Answer::ok(&OneArticle::from(&article))
}

pub(crate) async fn tags(articles: &Articles, _: Call<'_>) -> Result<Answer> {
    let tags = articles.tags().await?;
    Answer::ok(&Tags { tags: &tags })
}

/// An article as its own page shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Article)]
struct ArticleView<'a> {
    slug: &'a str,
    title: &'a str,
    description: &'a str,
    body: &'a str,
    #[schema(value_type = Vec<String>)]
    tag_list: &'a [String],
    #[serde(serialize_with = "moment")]
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[serde(serialize_with = "moment")]
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    favorited: bool,
    favorites_count: i64,
    author: ProfileView<'a>,
}

/// An article as lists show it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ArticleSummary)]
struct SummaryView<'a> {
    slug: &'a str,
    title: &'a str,
    description: &'a str,
    #[schema(value_type = Vec<String>)]
    tag_list: &'a [String],
    #[serde(serialize_with = "moment")]
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[serde(serialize_with = "moment")]
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    favorited: bool,
    favorites_count: i64,
    author: ProfileView<'a>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ArticleResponse)]
pub(crate) struct OneArticle<'a> {
    article: ArticleView<'a>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ArticleListResponse)]
pub(crate) struct ArticleList<'a> {
    articles: Vec<SummaryView<'a>>,
    /// All matches, before `limit` and `offset`.
    articles_count: i64,
}

#[derive(Serialize, ToSchema)]
#[schema(as = TagsResponse)]
pub(crate) struct Tags<'a> {
    #[schema(value_type = Vec<String>)]
    tags: &'a [String],
}

impl<'a> From<&'a Article> for OneArticle<'a> {
    fn from(article: &'a Article) -> Self {
        let Article { summary, body } = article;
        Self {
            article: ArticleView {
                slug: &summary.slug,
                title: &summary.title,
                description: &summary.description,
                body,
                tag_list: &summary.tag_list,
                created_at: summary.created_at,
                updated_at: summary.updated_at,
                favorited: summary.favorited,
                favorites_count: summary.favorites_count,
                author: (&summary.author).into(),
            },
        }
    }
}

impl<'a> From<&'a ArticleSummary> for SummaryView<'a> {
    fn from(summary: &'a ArticleSummary) -> Self {
        Self {
            slug: &summary.slug,
            title: &summary.title,
            description: &summary.description,
            tag_list: &summary.tag_list,
            created_at: summary.created_at,
            updated_at: summary.updated_at,
            favorited: summary.favorited,
            favorites_count: summary.favorites_count,
            author: (&summary.author).into(),
        }
    }
}

impl<'a> From<&'a ArticlePage> for ArticleList<'a> {
    fn from(page: &'a ArticlePage) -> Self {
        Self {
            articles: page.articles.iter().map(SummaryView::from).collect(),
            articles_count: page.total,
        }
    }
}

/// Member names, quotes, times and numbers of an article.
const FRAME: usize = 230;

impl View for OneArticle<'_> {
    fn roughly(&self) -> usize {
        let ArticleView {
            slug,
            title,
            description,
            body,
            tag_list,
            author,
            ..
        } = &self.article;
        let texts = slug.len() + title.len() + description.len() + body.len();
        FRAME + texts + texts / 16 + tags_roughly(tag_list) + author.roughly()
    }
}

impl View for SummaryView<'_> {
    fn roughly(&self) -> usize {
        let texts = self.slug.len() + self.title.len() + self.description.len();
        FRAME + texts + texts / 16 + tags_roughly(self.tag_list) + self.author.roughly()
    }
}

impl View for ArticleList<'_> {
    fn roughly(&self) -> usize {
        50 + self.articles.iter().map(SummaryView::roughly).sum::<usize>()
    }
}

impl View for Tags<'_> {
    fn roughly(&self) -> usize {
        16 + tags_roughly(self.tags)
    }
}

fn tags_roughly(tags: &[String]) -> usize {
    tags.iter().map(|tag| tag.len() + 3).sum()
}

#[cfg(test)]
mod tests {
    use conduit_domain::{AccountId, ArticleId, Profile};

    use super::*;

    fn article() -> Article {
        let moment = Timestamp::from_millis(1_786_613_400_125);
        let author = Profile {
            id: AccountId(1),
            username: "ada".to_owned(),
            bio: None,
            image: None,
            following: false,
        };
        let summary = ArticleSummary {
            id: ArticleId(9),
            slug: "bread-notes".to_owned(),
            title: "Bread notes".to_owned(),
            description: "What worked".to_owned(),
            tag_list: vec!["baking".to_owned(), "food".to_owned()],
            created_at: moment,
            updated_at: moment,
            favorited: false,
            favorites_count: 0,
            author,
        };
        Article {
            summary,
            body: "Flour first.".to_owned(),
        }
    }

    #[test]
    fn an_article_has_its_members_in_order() {
        assert_eq!(
            serde_json::to_string(&OneArticle::from(&article())).unwrap(),
            r#"{"article":{"slug":"bread-notes","title":"Bread notes","description":"What worked","body":"Flour first.","tagList":["baking","food"],"createdAt":"2026-08-13T09:30:00.125Z","updatedAt":"2026-08-13T09:30:00.125Z","favorited":false,"favoritesCount":0,"author":{"username":"ada","bio":null,"image":null,"following":false}}}"#
        );
    }

    #[test]
    fn a_list_shows_no_bodies() {
        let page = ArticlePage {
            articles: vec![article().summary],
            total: 21,
        };
        assert_eq!(
            serde_json::to_string(&ArticleList::from(&page)).unwrap(),
            r#"{"articles":[{"slug":"bread-notes","title":"Bread notes","description":"What worked","tagList":["baking","food"],"createdAt":"2026-08-13T09:30:00.125Z","updatedAt":"2026-08-13T09:30:00.125Z","favorited":false,"favoritesCount":0,"author":{"username":"ada","bio":null,"image":null,"following":false}}],"articlesCount":21}"#
        );
        let empty = ArticlePage::default();
        assert_eq!(
            serde_json::to_string(&ArticleList::from(&empty)).unwrap(),
            r#"{"articles":[],"articlesCount":0}"#
        );
    }

    #[test]
    fn buffers_need_not_grow() {
        let mut article = article();
        article.summary.author.bio = Some("x".repeat(2000));
        let one = OneArticle::from(&article);
        assert!(serde_json::to_string(&one).unwrap().len() <= one.roughly());
        let page = ArticlePage {
            articles: vec![article.summary.clone(); 20],
            total: 20,
        };
        let list = ArticleList::from(&page);
        let written = serde_json::to_string(&list).unwrap().len();
        assert!(written <= list.roughly() && list.roughly() < written + written / 4);
    }
}
