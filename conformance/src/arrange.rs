//! What checks need before they begin: accounts, articles, follows. Each step asserts that it worked.

// Checks write `json!(…)` and fresh texts where they are used.
#![allow(clippy::needless_pass_by_value)]

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::ctx::Ctx;
use crate::failure::Failure;
use crate::shape::{Article, Articles, Comment, Profile, User};

/// A registered account, with what it takes to be it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Account {
    pub username: String,
    pub email: String,
    pub password: String,
    pub token: String,
}

const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Percent-encodes a text for one path segment or one query value.
pub fn enc(text: &str) -> String {
    utf8_percent_encode(text, UNRESERVED).to_string()
}

impl Ctx {
    /// Registers a fresh account.
    ///
    /// # Errors
    /// It did not work.
    pub async fn register(&self) -> Result<Account, Failure> {
        let name = self.x();
        self.register_as(&name).await
    }

    /// Registers an account of this name; its e-mail is made from a fresh text.
    ///
    /// # Errors
    /// It did not work.
    pub async fn register_as(&self, username: &str) -> Result<Account, Failure> {
        let (email, password) = (format!("{}@example.test", self.x()), format!("pass {}", self.x()));
        let user = self
            .registration(username, &email, &password)
            .expect(201)
            .await?
            .user()?;
        Ok(Account {
            username: user.username,
            email: user.email,
            password,
            token: user.token,
        })
    }

    /// The call that registers, not sent yet.
    pub fn registration(&self, username: &str, email: &str, password: &str) -> crate::call::Call {
        let user = json!({"user": {"username": username, "email": email, "password": password}});
        self.post("/api/users").json(&user)
    }

    /// The call that logs in, not sent yet.
    pub fn login(&self, email: &str, password: &str) -> crate::call::Call {
        self.post("/api/users/login")
            .json(&json!({"user": {"email": email, "password": password}}))
    }

    /// Changes members of the caller's account: `{"bio": "…"}`, without the wrapper.
    ///
    /// # Errors
    /// It did not work.
    pub async fn update_user(&self, token: &str, members: Value) -> Result<User, Failure> {
        self.put("/api/user")
            .token(token)
            .json(&json!({"user": members}))
            .expect(200)
            .await?
            .user()
    }

    /// Gives an account another name.
    ///
    /// # Errors
    /// It did not work.
    pub async fn rename(&self, account: &mut Account, name: &str) -> Result<User, Failure> {
        let user = self
            .update_user(&account.token, json!({"username": name}))
            .await?;
        account.username.clone_from(&user.username);
        Ok(user)
    }

    /// Creates an article with fresh texts and these tags.
    ///
    /// # Errors
    /// It did not work.
    pub async fn publish(&self, author: &Account, tags: &[&str]) -> Result<Article, Failure> {
        let title = format!("Title {}", self.x());
        self.publish_titled(author, &title, tags).await
    }

    /// Creates an article of this title, otherwise with fresh texts.
    ///
    /// # Errors
    /// It did not work.
    pub async fn publish_titled(
        &self,
        author: &Account,
        title: &str,
        tags: &[&str],
    ) -> Result<Article, Failure> {
        let (description, body) = (format!("About {}", self.x()), format!("Body {}", self.x()));
        let members = json!({"title": title, "description": description, "body": body, "tagList": tags});
        self.creation(&author.token, members).expect(201).await?.article()
    }

    /// The call that creates an article from these members (without the wrapper), not sent yet.
    pub fn creation(&self, token: &str, members: Value) -> crate::call::Call {
        self.post("/api/articles")
            .token(token)
            .json(&json!({"article": members}))
    }

    /// The call that updates an article from these members (without the wrapper), not sent yet.
    pub fn edit(&self, token: &str, slug: &str, members: Value) -> crate::call::Call {
        self.put(&article_path(slug))
            .token(token)
            .json(&json!({"article": members}))
    }

    /// The article of this slug, as the owner of the token sees it, or as an anonymous viewer.
    ///
    /// # Errors
    /// Anything but 200 with an article.
    pub async fn article(&self, slug: &str, token: Option<&str>) -> Result<Article, Failure> {
        self.as_viewer(&article_path(slug), token).await?.article()
    }

    /// The list that a query (without `?`) gives, as the owner of the token sees it, or as an anonymous viewer.
    ///
    /// # Errors
    /// Anything but 200 with a list.
    pub async fn list(&self, query: &str, token: Option<&str>) -> Result<Articles, Failure> {
        self.as_viewer(&format!("/api/articles?{query}"), token)
            .await?
            .articles()
    }

    /// The caller's feed for a query (without `?`).
    ///
    /// # Errors
    /// Anything but 200 with a list.
    pub async fn feed(&self, token: &str, query: &str) -> Result<Articles, Failure> {
        self.as_viewer(&format!("/api/articles/feed?{query}"), Some(token))
            .await?
            .articles()
    }

    /// The profile of this name, as the owner of the token sees it, or as an anonymous viewer.
    ///
    /// # Errors
    /// Anything but 200 with a profile.
    pub async fn profile(&self, username: &str, token: Option<&str>) -> Result<Profile, Failure> {
        self.as_viewer(&profile_path(username), token).await?.profile()
    }

    /// The comments of an article, as the owner of the token sees them, or as an anonymous viewer.
    ///
    /// # Errors
    /// Anything but 200 with a comment list.
    pub async fn comments(&self, slug: &str, token: Option<&str>) -> Result<Vec<Comment>, Failure> {
        self.as_viewer(&format!("{}/comments", article_path(slug)), token)
            .await?
            .comments()
    }

    /// Deletes an article of the caller's.
    ///
    /// # Errors
    /// Anything but 204.
    pub async fn remove(&self, token: &str, slug: &str) -> Result<Answer, Failure> {
        self.delete(&article_path(slug)).token(token).expect(204).await
    }

    /// Adds a comment.
    ///
    /// # Errors
    /// It did not work.
    pub async fn comment(&self, token: &str, slug: &str, body: &str) -> Result<Comment, Failure> {
        self.commenting(token, slug, json!(body))
            .expect(201)
            .await?
            .comment()
    }

    /// The call that adds a comment with this `body`, not sent yet.
    pub fn commenting(&self, token: &str, slug: &str, body: Value) -> crate::call::Call {
        let members = json!({"comment": {"body": body}});
        self.post(&format!("{}/comments", article_path(slug)))
            .token(token)
            .json(&members)
    }

    /// Follows an account.
    ///
    /// # Errors
    /// Anything but 200 with a profile.
    pub async fn follow(&self, token: &str, username: &str) -> Result<Profile, Failure> {
        let path = format!("{}/follow", profile_path(username));
        self.post(&path).token(token).expect(200).await?.profile()
    }

    /// Unfollows an account.
    ///
    /// # Errors
    /// Anything but 200 with a profile.
    pub async fn unfollow(&self, token: &str, username: &str) -> Result<Profile, Failure> {
        let path = format!("{}/follow", profile_path(username));
        self.delete(&path).token(token).expect(200).await?.profile()
    }

    /// Makes an article a favourite.
    ///
    /// # Errors
    /// Anything but 200 with an article.
    pub async fn favorite(&self, token: &str, slug: &str) -> Result<Article, Failure> {
        let path = format!("{}/favorite", article_path(slug));
        self.post(&path).token(token).expect(200).await?.article()
    }

    /// Takes an article out of the favourites.
    ///
    /// # Errors
    /// Anything but 200 with an article.
    pub async fn unfavorite(&self, token: &str, slug: &str) -> Result<Article, Failure> {
        let path = format!("{}/favorite", article_path(slug));
        self.delete(&path).token(token).expect(200).await?.article()
    }

    async fn as_viewer(&self, path: &str, token: Option<&str>) -> Result<Answer, Failure> {
        let call = self.get(path);
        match token {
            Some(token) => call.token(token).expect(200).await,
            None => call.expect(200).await,
        }
    }
}

/// `/api/articles/<slug>`, encoded.
pub fn article_path(slug: &str) -> String {
    format!("/api/articles/{}", enc(slug))
}

/// `/api/profiles/<username>`, encoded.
pub fn profile_path(username: &str) -> String {
    format!("/api/profiles/{}", enc(username))
}
