//! What each step asks for, given what exists.

use super::op::{Op, Query, Spelling, Viewer};
use super::words::{self, object, word};
use super::world::{Remark, World};
use crate::arrange::{article_path, enc, profile_path};

/// A request that is the same on all deployments but for the token and a comment's id.
pub(super) struct Plan {
    pub(super) method: &'static str,
    pub(super) target: Vec<String>,
    pub(super) viewer: Viewer,
    pub(super) body: Option<String>,
    /// Whether strangers' data may be in the answer: then only the program's own is compared.
    pub(super) shared: bool,
}

impl World {
    /// What a step asks for.
    pub(super) fn plan(&self, op: &Op) -> Plan {
        let p = &self.p;
        match op {
            Op::Register {
                name,
                email,
                password,
            } => {
                let members = [
                    ("username", word(words::NAMES, *name, p)),
                    ("email", word(words::EMAILS, *email, p)),
                    ("password", word(words::PASSWORDS, *password, p)),
                ];
                self.same(
                    "POST",
                    "/api/users",
                    Viewer::Anonymous,
                    Some(object("user", &members)),
                )
            }
            Op::Login {
                who,
                password,
                spelling,
            } => self.login(*who, *password, *spelling),
            Op::ReadUser { viewer } => self.same("GET", "/api/user", *viewer, None),
            Op::UpdateUser {
                viewer,
                name,
                email,
                password,
                bio,
                image,
            } => {
                // The rows of a new account have no "unchanged" in front.
                let changed = |row: &[&str], place: usize| match place {
                    0 => String::new(),
                    place => word(row, place - 1, p),
                };
                let members = [
                    ("username", changed(words::NAMES, *name)),
                    ("email", changed(words::EMAILS, *email)),
                    ("password", changed(words::PASSWORDS, *password)),
                    ("bio", word(words::BIOS, *bio, p)),
                    ("image", word(words::IMAGES, *image, p)),
                ];
                self.same("PUT", "/api/user", *viewer, Some(object("user", &members)))
            }
            Op::ReadProfile {
                viewer,
                whom,
                spelling,
            } => self.same("GET", &profile_path(&self.name(*whom, *spelling)), *viewer, None),
            Op::Follow {
                viewer,
                whom,
                spelling,
            } => {
                let path = format!("{}/follow", profile_path(&self.name(*whom, *spelling)));
                self.same("POST", &path, *viewer, None)
            }
            Op::Unfollow {
                viewer,
                whom,
                spelling,
            } => {
                let path = format!("{}/follow", profile_path(&self.name(*whom, *spelling)));
                self.same("DELETE", &path, *viewer, None)
            }
            _ => self.plan_article(op),
        }
    }

    fn plan_article(&self, op: &Op) -> Plan {
        let p = &self.p;
        match op {
            Op::Publish {
                viewer,
                title,
                description,
                body,
                tags,
            } => {
                let members = [
                    ("title", word(words::TITLES, *title, p)),
                    ("description", word(words::DESCRIPTIONS, *description, p)),
                    ("body", word(words::BODIES, *body, p)),
                    ("tagList", word(words::TAG_LISTS, *tags, p)),
                ];
                self.same(
                    "POST",
                    "/api/articles",
                    *viewer,
                    Some(object("article", &members)),
                )
            }
            Op::Edit {
                viewer,
                article,
                title,
                description,
                body,
                tags,
            } => {
                let members = [
                    ("title", word(words::NEW_TITLES, *title, p)),
                    ("description", word(words::NEW_DESCRIPTIONS, *description, p)),
                    ("body", word(words::NEW_BODIES, *body, p)),
                    ("tagList", word(words::NEW_TAG_LISTS, *tags, p)),
                ];
                self.same(
                    "PUT",
                    &self.article(*article),
                    by(*viewer, self.author(*article)),
                    Some(object("article", &members)),
                )
            }
            Op::ReadArticle { viewer, article } => self.same("GET", &self.article(*article), *viewer, None),
            Op::DeleteArticle { viewer, article } => self.same(
                "DELETE",
                &self.article(*article),
                by(*viewer, self.author(*article)),
                None,
            ),
            Op::Favorite { viewer, article } => self.same(
                "POST",
                &format!("{}/favorite", self.article(*article)),
                *viewer,
                None,
            ),
            Op::Unfavorite { viewer, article } => self.same(
                "DELETE",
                &format!("{}/favorite", self.article(*article)),
                *viewer,
                None,
            ),
            _ => self.plan_rest(op),
        }
    }

    fn plan_rest(&self, op: &Op) -> Plan {
        match op {
            Op::Comment {
                viewer,
                article,
                body,
            } => {
                let members = [("body", word(words::COMMENTS, *body, &self.p))];
                let path = format!("{}/comments", self.article(*article));
                self.same("POST", &path, *viewer, Some(object("comment", &members)))
            }
            Op::ReadComments {
                viewer,
                article,
                limit,
                offset,
            } => {
                let path = format!("{}/comments?{}", self.article(*article), page(*limit, *offset));
                self.same("GET", &path, *viewer, None)
            }
            Op::DeleteComment {
                viewer,
                comment,
                elsewhere,
            } => self.uncomment(*viewer, *comment, *elsewhere),
            Op::List { viewer, query } => {
                let unfiltered = query.tag.is_none() && query.author.is_none() && query.favorited.is_none();
                let path = format!("/api/articles?{}", self.query(query));
                Plan {
                    shared: unfiltered,
                    ..self.same("GET", &path, *viewer, None)
                }
            }
            Op::Feed {
                viewer,
                limit,
                offset,
            } => self.same(
                "GET",
                &format!("/api/articles/feed?{}", page(*limit, *offset)),
                *viewer,
                None,
            ),
            Op::Malformed { viewer, route, body } => self.malformed(*viewer, *route, *body),
            _ => Plan {
                shared: true,
                ..self.same("GET", "/api/tags", Viewer::Anonymous, None)
            },
        }
    }

    fn malformed(&self, viewer: Viewer, route: usize, body: usize) -> Plan {
        let body = word(words::WHOLES, body, &self.p);
        let (method, path) = match route {
            0 => ("POST", "/api/articles".to_owned()),
            1 => ("PUT", self.article(body.len())),
            2 => ("POST", format!("{}/comments", self.article(body.len()))),
            _ => ("PUT", "/api/user".to_owned()),
        };
        self.same(method, &path, viewer, Some(body))
    }

    fn login(&self, who: usize, password: usize, spelling: Spelling) -> Plan {
        let Some(actor) = self.actor(who) else {
            return self.same("GET", "/api/tags", Viewer::Anonymous, None);
        };
        let email = spelled(&actor.email, spelling);
        let password = word(words::LOGINS, password, &self.p).replace("{secret}", &actor.password);
        let members = [
            ("email", serde_json::Value::from(email).to_string()),
            ("password", password),
        ];
        self.same(
            "POST",
            "/api/users/login",
            Viewer::Anonymous,
            Some(object("user", &members)),
        )
    }

    fn uncomment(&self, viewer: Viewer, comment: usize, elsewhere: bool) -> Plan {
        let found = self.comments.get(comment % self.comments.len().max(1));
        let Some(Remark { slug, author, ids }) = found else {
            return self.same(
                "DELETE",
                &format!("{}/comments/1", self.article(comment)),
                viewer,
                None,
            );
        };
        let path = if elsewhere {
            self.article(comment)
        } else {
            article_path(slug)
        };
        let target = ids.iter().map(|id| format!("{path}/comments/{id}")).collect();
        Plan {
            target,
            ..self.same("DELETE", "", by(viewer, Some(*author)), None)
        }
    }

    /// The same target everywhere, nothing of strangers in the answer.
    pub(super) fn same(
        &self,
        method: &'static str,
        target: &str,
        viewer: Viewer,
        body: Option<String>,
    ) -> Plan {
        Plan {
            method,
            target: vec![target.to_owned()],
            viewer,
            body,
            shared: false,
        }
    }

    fn article(&self, article: usize) -> String {
        let slug = self.slugs.get(article % self.slugs.len().max(1));
        article_path(slug.map_or("no-such-article", |(slug, _)| slug))
    }

    fn author(&self, article: usize) -> Option<usize> {
        self.slugs
            .get(article % self.slugs.len().max(1))
            .map(|(_, author)| *author)
    }

    fn name(&self, whom: usize, spelling: Spelling) -> String {
        let name = self
            .actor(whom)
            .map_or_else(|| format!("{}{whom}", self.p), |actor| actor.name.clone());
        spelled(&name, spelling)
    }

    fn query(&self, query: &Query) -> String {
        let tag = query
            .tag
            .map(|tag| format!("tag={}", enc(&word(words::TAGS, tag, &self.p))));
        let name = |key: &str, who: Option<(usize, Spelling)>| {
            who.map(|(who, spelling)| format!("{key}={}", enc(&self.name(who, spelling))))
        };
        let filters = [
            tag,
            name("author", query.author),
            name("favorited", query.favorited),
        ];
        let page = [page(query.limit, query.offset)];
        filters
            .into_iter()
            .flatten()
            .chain(page)
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("&")
    }
}

/// Who that is, once it is known who the author is.
fn by(viewer: Viewer, author: Option<usize>) -> Viewer {
    match (viewer, author) {
        (Viewer::Author, Some(author)) => Viewer::Account(author),
        (viewer, _) => viewer,
    }
}

fn spelled(text: &str, spelling: Spelling) -> String {
    match spelling {
        Spelling::AsIs => text.to_owned(),
        Spelling::OtherCase => text.to_uppercase(),
        Spelling::Unknown => format!("{text}-unknown"),
    }
}

fn page(limit: usize, offset: usize) -> String {
    let parts = [word(words::LIMITS, limit, ""), word(words::OFFSETS, offset, "")];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("&")
}
