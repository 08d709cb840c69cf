//! The objects of contract 1.5: exact members in their order, exact types, and times in the form of 1.6.

mod value;

use crate::json::Json;
pub use value::is_time;
use value::{flag, integer, list, members, names, not_empty, nullable, text, texts, time};

/// Why a value is not of the shape, with the path to the place.
pub type Misfit = String;

/// `{"user":{…}}`
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct User {
    pub email: String,
    pub token: String,
    pub username: String,
    pub bio: Option<String>,
    pub image: Option<String>,
}

/// `{"profile":{…}}`, and every `author`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Profile {
    pub username: String,
    pub bio: Option<String>,
    pub image: Option<String>,
    pub following: bool,
}

/// `{"article":{…}}`, and the elements of article lists, which have no `body`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Article {
    pub slug: String,
    pub title: String,
    pub description: String,
    /// Absent in the elements of a list, present everywhere else.
    pub body: Option<String>,
    pub tag_list: Vec<String>,
    pub created_at: String,
    pub updated_at: String,
    pub favorited: bool,
    pub favorites_count: u64,
    pub author: Profile,
}

/// `{"articles":[…],"articlesCount":n}`
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Articles {
    pub articles: Vec<Article>,
    pub count: u64,
}

impl Articles {
    /// The slugs in the order of the list.
    pub fn slugs(&self) -> Vec<&str> {
        self.articles
            .iter()
            .map(|article| article.slug.as_str())
            .collect()
    }

    /// The element with this slug.
    pub fn find(&self, slug: &str) -> Option<&Article> {
        self.articles.iter().find(|article| article.slug == slug)
    }
}

/// `{"comment":{…}}`, and the elements of a comment list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Comment {
    pub id: u64,
    pub created_at: String,
    pub updated_at: String,
    pub body: String,
    pub author: Profile,
}

const ARTICLE: [&str; 10] = [
    "slug",
    "title",
    "description",
    "body",
    "tagList",
    "createdAt",
    "updatedAt",
    "favorited",
    "favoritesCount",
    "author",
];
const ENTRY: [&str; 9] = [
    "slug",
    "title",
    "description",
    "tagList",
    "createdAt",
    "updatedAt",
    "favorited",
    "favoritesCount",
    "author",
];
/// The order of keys inside `errors` (contract 1.7).
const FIELDS: [&str; 11] = [
    "username",
    "email",
    "password",
    "bio",
    "image",
    "title",
    "description",
    "body",
    "tagList",
    "limit",
    "offset",
];

/// Whether the document is one of the shapes, told by its top-level members.
///
/// # Errors
/// How it departs from the shape it looks like, or that it looks like none.
pub fn check(json: &Json) -> Result<(), Misfit> {
    let names = names(json, "the body")?;
    match names.first().copied() {
        Some("user") => user(json).map(drop),
        Some("profile") => profile(json).map(drop),
        Some("article") => article(json).map(drop),
        Some("articles" | "articlesCount") => articles(json).map(drop),
        Some("comment") => comment(json).map(drop),
        Some("comments") => comments(json).map(drop),
        Some("tags") => tags(json).map(drop),
        Some("errors") => errors(json).map(drop),
        Some("status") => status(json).map(drop),
        _ => Err(format!(
            "the body has the members {names:?}, which is no shape of contract 1.5"
        )),
    }
}

/// Reads a User.
///
/// # Errors
/// The first departure from the shape.
pub fn user(json: &Json) -> Result<User, Misfit> {
    let [inner] = members(json, "the body", ["user"])?;
    let [email, token, username, bio, image] =
        members(inner, "user", ["email", "token", "username", "bio", "image"])?;
    Ok(User {
        email: text(email, "user.email")?,
        token: text(token, "user.token").and_then(not_empty("user.token"))?,
        username: text(username, "user.username")?,
        bio: nullable(bio, "user.bio")?,
        image: nullable(image, "user.image")?,
    })
}

/// Reads a Profile.
///
/// # Errors
/// The first departure from the shape.
pub fn profile(json: &Json) -> Result<Profile, Misfit> {
    let [inner] = members(json, "the body", ["profile"])?;
    person(inner, "profile")
}

/// Reads an Article.
///
/// # Errors
/// The first departure from the shape.
pub fn article(json: &Json) -> Result<Article, Misfit> {
    let [inner] = members(json, "the body", ["article"])?;
    let [
        slug,
        title,
        description,
        body,
        tags,
        created,
        updated,
        favorited,
        count,
        author,
    ] = members(inner, "article", ARTICLE)?;
    let rest = [
        slug,
        title,
        description,
        tags,
        created,
        updated,
        favorited,
        count,
        author,
    ];
    let body = text(body, "article.body")?;
    Ok(Article {
        body: Some(body),
        ..entry(rest, "article")?
    })
}

/// Reads an Article list.
///
/// # Errors
/// The first departure from the shape.
pub fn articles(json: &Json) -> Result<Articles, Misfit> {
    let [items, count] = members(json, "the body", ["articles", "articlesCount"])?;
    let read = |(i, item): (usize, &Json)| {
        let path = format!("articles[{i}]");
        entry(members(item, &path, ENTRY)?, &path)
    };
    let articles = list(items, "articles")?
        .iter()
        .enumerate()
        .map(read)
        .collect::<Result<_, _>>()?;
    Ok(Articles {
        articles,
        count: integer(count, "articlesCount")?,
    })
}

/// Reads a Comment.
///
/// # Errors
/// The first departure from the shape.
pub fn comment(json: &Json) -> Result<Comment, Misfit> {
    let [inner] = members(json, "the body", ["comment"])?;
    remark(inner, "comment")
}

/// Reads a Comment list.
///
/// # Errors
/// The first departure from the shape.
pub fn comments(json: &Json) -> Result<Vec<Comment>, Misfit> {
    let [items] = members(json, "the body", ["comments"])?;
    let read = |(i, item): (usize, &Json)| remark(item, &format!("comments[{i}]"));
    list(items, "comments")?.iter().enumerate().map(read).collect()
}

/// Reads the Tags.
///
/// # Errors
/// The first departure from the shape.
pub fn tags(json: &Json) -> Result<Vec<String>, Misfit> {
    let [items] = members(json, "the body", ["tags"])?;
    texts(items, "tags")
}

/// Reads Errors: one message per key, keys in the order of contract 1.7.
///
/// # Errors
/// The first departure from the shape.
pub fn errors(json: &Json) -> Result<Vec<(String, String)>, Misfit> {
    let [inner] = members(json, "the body", ["errors"])?;
    let Json::Object(entries) = inner else {
        return Err(format!("errors is {}, not an object", inner.kind()));
    };
    if entries.is_empty() {
        return Err("errors is empty".to_owned());
    }
    let one = |(key, messages): &(String, Json)| match texts(messages, &format!("errors.{key}"))?.as_slice() {
        [message] => Ok((key.clone(), message.clone())),
        others => Err(format!("errors.{key} has {} messages, not one", others.len())),
    };
    let found: Vec<(String, String)> = entries.iter().map(one).collect::<Result<_, _>>()?;
    let place = |key: &str| FIELDS.iter().position(|field| *field == key);
    let ordered = found
        .iter()
        .map(|(key, _)| place(key))
        .is_sorted_by(|a, b| a.is_some() && a < b);
    if found.len() > 1 && !ordered {
        let keys: Vec<_> = found.iter().map(|(key, _)| key).collect();
        return Err(format!(
            "the keys {keys:?} are not in the order of contract 1.7, or do not occur together"
        ));
    }
    Ok(found)
}

/// Reads the answer of a health route (contract 4.1).
///
/// # Errors
/// The first departure from the shape.
pub fn status(json: &Json) -> Result<String, Misfit> {
    let [status] = members(json, "the body", ["status"])?;
    text(status, "status")
}

fn person(json: &Json, path: &str) -> Result<Profile, Misfit> {
    let [username, bio, image, following] = members(json, path, ["username", "bio", "image", "following"])?;
    Ok(Profile {
        username: text(username, &format!("{path}.username"))?,
        bio: nullable(bio, &format!("{path}.bio"))?,
        image: nullable(image, &format!("{path}.image"))?,
        following: flag(following, &format!("{path}.following"))?,
    })
}

fn entry(values: [&Json; 9], path: &str) -> Result<Article, Misfit> {
    let [
        slug,
        title,
        description,
        tags,
        created,
        updated,
        favorited,
        count,
        author,
    ] = values;
    Ok(Article {
        slug: text(slug, &format!("{path}.slug"))?,
        title: text(title, &format!("{path}.title"))?,
        description: text(description, &format!("{path}.description"))?,
        body: None,
        tag_list: texts(tags, &format!("{path}.tagList"))?,
        created_at: time(created, &format!("{path}.createdAt"))?,
        updated_at: time(updated, &format!("{path}.updatedAt"))?,
        favorited: flag(favorited, &format!("{path}.favorited"))?,
        favorites_count: integer(count, &format!("{path}.favoritesCount"))?,
        author: person(author, &format!("{path}.author"))?,
    })
}

fn remark(json: &Json, path: &str) -> Result<Comment, Misfit> {
    let [id, created, updated, body, author] =
        members(json, path, ["id", "createdAt", "updatedAt", "body", "author"])?;
    let id = integer(id, &format!("{path}.id"))?;
    if id == 0 {
        return Err(format!("{path}.id is 0, not a positive integer"));
    }
    Ok(Comment {
        id,
        created_at: time(created, &format!("{path}.createdAt"))?,
        updated_at: time(updated, &format!("{path}.updatedAt"))?,
        body: text(body, &format!("{path}.body"))?,
        author: person(author, &format!("{path}.author"))?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::json;

    fn misfit(text: &str) -> String {
        check(&json::parse(text.as_bytes()).unwrap().value).unwrap_err()
    }

    #[test]
    fn the_samples_of_the_contract_fit() {
        let rows = [
            r#"{"user":{"email":"ada@example.test","token":"<jwt>","username":"ada","bio":null,"image":null}}"#,
            r#"{"profile":{"username":"ada","bio":"Counts things.","image":null,"following":false}}"#,
            r#"{"article":{"slug":"bread-notes","title":"Bread notes","description":"What worked","body":"Flour first.","tagList":["baking","food"],"createdAt":"2026-08-13T09:30:00.125Z","updatedAt":"2026-08-13T09:30:00.125Z","favorited":false,"favoritesCount":0,"author":{"username":"ada","bio":null,"image":null,"following":false}}}"#,
            r#"{"articles":[],"articlesCount":0}"#,
            r#"{"comments":[]}"#,
            r#"{"tags":["a"]}"#,
            r#"{"errors":{"title":["can't be blank"],"body":["is invalid"]}}"#,
            r#"{"status":"ok"}"#,
        ];
        for text in rows {
            assert_eq!(
                check(&json::parse(text.as_bytes()).unwrap().value),
                Ok(()),
                "{text}"
            );
        }
    }

    #[test]
    fn every_departure_is_named() {
        let rows = [
            (
                r#"{"profile":{"bio":null,"username":"a","image":null,"following":false}}"#,
                "in that order",
            ),
            (
                r#"{"profile":{"username":"a","bio":null,"image":null}}"#,
                "in that order",
            ),
            (
                r#"{"profile":{"username":"a","bio":1,"image":null,"following":false}}"#,
                "profile.bio is a number",
            ),
            (r#"{"articles":[],"articlesCount":1.0}"#, "articlesCount is 1.0"),
            (
                r#"{"articles":[{}],"articlesCount":1}"#,
                "articles[0] has the members []",
            ),
            (
                r#"{"errors":{"body":["x"],"title":["x"]}}"#,
                "order of contract 1.7",
            ),
            (
                r#"{"errors":{"body":["x"],"token":["x"]}}"#,
                "do not occur together",
            ),
            (r#"{"errors":{"body":["x","y"]}}"#, "2 messages"),
            (r#"{"message":"x"}"#, "no shape"),
            (r#"[]"#, "not an object"),
        ];
        for (text, part) in rows {
            assert!(misfit(text).contains(part), "{text}: {}", misfit(text));
        }
    }

    #[test]
    fn times_have_three_decimals_and_a_zone() {
        assert!(is_time("2026-08-13T09:30:00.125Z"));
        for text in [
            "2026-08-13T09:30:00Z",
            "2026-08-13T09:30:00.12Z",
            "2026-08-13T09:30:00.125+00:00",
            "",
        ] {
            assert!(!is_time(text), "{text}");
        }
    }
}
