//! The one table of routes (contract 2 and 4). It drives the server, the `Allow` header and OpenAPI; a test compares the three.

use std::sync::LazyLock;

use conduit_domain::page;

use crate::openapi::{About, Answers, Sends};
use crate::route::Verb::{Delete, Get, Post, Put};
use crate::route::{Access, Endpoint, Route, Table};
use crate::{articles, comments, docs, health, metrics, profiles, users};

macro_rules! handler {
    ($area:ident, $run:path) => {
        Endpoint::$area(|area, call| Box::pin($run(area, call)))
    };
}

/// The public listener's routes. Where two patterns fit a path, the earlier one wins.
pub(crate) static PUBLIC: &[Route] = &[
    Route::new(Post, "/api/users", handler!(Users, users::register))
        .json()
        .about(
            About::new("CreateUser", "Register", Answers::User(201))
                .sends(Sends::NewUser)
                .fails(&[409]),
        ),
    Route::new(Post, "/api/users/login", handler!(Users, users::log_in))
        .json()
        .about(
            About::new("Login", "Log in", Answers::User(200))
                .sends(Sends::LogIn)
                .fails(&[401]),
        ),
    Route::new(Get, "/api/user", handler!(Users, users::current))
        .required()
        .about(About::new(
            "GetCurrentUser",
            "One's own account",
            Answers::User(200),
        )),
    Route::new(Put, "/api/user", handler!(Users, users::update))
        .required()
        .json()
        .about(
            About::new(
                "UpdateCurrentUser",
                "Change one's own account",
                Answers::User(200),
            )
            .sends(Sends::UserChanges)
            .fails(&[409]),
        ),
    Route::new(
        Get,
        "/api/profiles/{username}",
        handler!(Profiles, profiles::show),
    )
    .optional()
    .about(About::new("GetProfileByUsername", "A profile", Answers::Profile)),
    Route::new(
        Post,
        "/api/profiles/{username}/follow",
        handler!(Profiles, profiles::follow),
    )
    .required()
    .about(About::new("FollowUserByUsername", "Follow", Answers::Profile).fails(&[422])),
    Route::new(
        Delete,
        "/api/profiles/{username}/follow",
        handler!(Profiles, profiles::unfollow),
    )
    .required()
    .about(About::new(
        "UnfollowUserByUsername",
        "Stop following",
        Answers::Profile,
    )),
    Route::new(Get, "/api/articles", handler!(Articles, articles::list))
        .optional()
        .paged(page::ARTICLES)
        .about(About::new("GetArticles", "Articles, newest first", Answers::ArticleList).filtered()),
    Route::new(Post, "/api/articles", handler!(Articles, articles::create))
        .required()
        .json()
        .about(
            About::new("CreateArticle", "Publish an article", Answers::Article(201)).sends(Sends::NewArticle),
        ),
    Route::new(Get, "/api/articles/feed", handler!(Articles, articles::feed))
        .required()
        .paged(page::ARTICLES)
        .about(About::new(
            "GetArticlesFeed",
            "Articles of those one follows, newest first",
            Answers::ArticleList,
        )),
    Route::new(Get, "/api/articles/{slug}", handler!(Articles, articles::show))
        .optional()
        .about(About::new("GetArticle", "An article", Answers::Article(200))),
    Route::new(Put, "/api/articles/{slug}", handler!(Articles, articles::update))
        .required()
        .json()
        .about(
            About::new("UpdateArticle", "Change one's own article", Answers::Article(200))
                .sends(Sends::ArticleChanges)
                .fails(&[403]),
        ),
    Route::new(
        Delete,
        "/api/articles/{slug}",
        handler!(Articles, articles::delete),
    )
    .required()
    .about(About::new("DeleteArticle", "Delete one's own article", Answers::Nothing).fails(&[403])),
    Route::new(
        Get,
        "/api/articles/{slug}/comments",
        handler!(Comments, comments::list),
    )
    .optional()
    .paged(page::COMMENTS)
    .about(About::new(
        "GetArticleComments",
        "Comments, newest first",
        Answers::CommentList,
    )),
    Route::new(
        Post,
        "/api/articles/{slug}/comments",
        handler!(Comments, comments::add),
    )
    .required()
    .json()
    .about(
        About::new("CreateArticleComment", "Comment on an article", Answers::Comment)
            .sends(Sends::NewComment),
    ),
    Route::new(
        Delete,
        "/api/articles/{slug}/comments/{id}",
        handler!(Comments, comments::delete),
    )
    .required()
    .about(
        About::new(
            "DeleteArticleComment",
            "Delete one's own comment",
            Answers::Nothing,
        )
        .fails(&[403]),
    ),
    Route::new(
        Post,
        "/api/articles/{slug}/favorite",
        handler!(Articles, articles::favorite),
    )
    .required()
    .about(About::new(
        "CreateArticleFavorite",
        "Make an article a favorite",
        Answers::Article(200),
    )),
    Route::new(
        Delete,
        "/api/articles/{slug}/favorite",
        handler!(Articles, articles::unfavorite),
    )
    .required()
    .about(About::new(
        "DeleteArticleFavorite",
        "Make an article no favorite any more",
        Answers::Article(200),
    )),
    Route::new(Get, "/api/tags", handler!(Articles, articles::tags)).about(About::new(
        "GetTags",
        "Every tag in use, most used first",
        Answers::Tags,
    )),
    Route::new(Get, "/healthz", handler!(System, health::healthz)).about(About::new(
        "Healthz",
        "Whether the process runs",
        Answers::Health,
    )),
    Route::new(Get, "/readyz", handler!(System, health::readyz)).about(About::new(
        "Readyz",
        "Whether requests can be served",
        Answers::Readiness,
    )),
    Route::new(Get, "/openapi.json", handler!(System, docs::openapi)).about(About::new(
        "OpenApi",
        "This description",
        Answers::Description,
    )),
    Route::new(Get, "/docs", handler!(System, docs::page)),
    Route::new(Get, "/docs/{asset}", handler!(System, docs::asset)),
];

/// The operations listener's routes (contract 4.1).
pub(crate) static OPERATIONS: &[Route] = &[
    Route::new(Get, "/healthz", handler!(System, health::healthz)),
    Route::new(Get, "/readyz", handler!(System, health::readyz)),
    Route::new(Get, "/metrics", handler!(System, metrics::show)),
];

pub(crate) static PUBLIC_TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(PUBLIC));
pub(crate) static OPERATIONS_TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(OPERATIONS));

/// What other crates may know of a public route: tests of routing configuration compare it with theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteInfo {
    /// `GET`, `POST`, `PUT` or `DELETE`; `GET` answers `HEAD` too.
    pub method: &'static str,
    /// For instance `/api/articles/{slug}`.
    pub pattern: &'static str,
    /// The service that owns it: `users`, `profiles`, `articles`, `comments`, or `system` for what every process has.
    pub area: &'static str,
    /// Whether it refuses a request without a token.
    pub token_required: bool,
}

/// The public routes, in the order in which they are matched.
pub fn route_infos() -> impl Iterator<Item = RouteInfo> {
    PUBLIC.iter().map(|route| RouteInfo {
        method: route.verb.name(),
        pattern: route.pattern,
        area: route.endpoint.area(),
        token_required: route.access == Access::Required,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use actix_web::http::Method;
    use serde_json::Value;

    use super::*;

    /// The routes of contract 2 and 4, written down once more: a path for each, and its methods.
    const CONTRACT: &[(&str, &str)] = &[
        ("/api/users", "POST"),
        ("/api/users/login", "POST"),
        ("/api/user", "GET PUT"),
        ("/api/profiles/ada", "GET"),
        ("/api/profiles/ada/follow", "POST DELETE"),
        ("/api/articles", "GET POST"),
        ("/api/articles/feed", "GET"),
        ("/api/articles/bread", "GET PUT DELETE"),
        ("/api/articles/bread/comments", "GET POST"),
        ("/api/articles/bread/comments/1", "DELETE"),
        ("/api/articles/bread/favorite", "POST DELETE"),
        ("/api/tags", "GET"),
        ("/healthz", "GET"),
        ("/readyz", "GET"),
        ("/openapi.json", "GET"),
        ("/docs", "GET"),
        ("/docs/swagger-ui.css", "GET"),
    ];

    fn methods(text: &str) -> BTreeSet<&str> {
        text.split([' ', ','])
            .filter(|method| !matches!(*method, "" | "HEAD"))
            .collect()
    }

    fn described() -> BTreeMap<String, BTreeSet<String>> {
        let document: Value = serde_json::from_str(crate::document().unwrap()).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let methods = |item: &Value| {
            item.as_object()
                .unwrap()
                .keys()
                .map(|method| method.to_uppercase())
                .collect()
        };
        paths
            .iter()
            .map(|(path, item)| (path.clone(), methods(item)))
            .collect()
    }

    #[test]
    fn server_allow_and_description_agree_with_the_contract() {
        let described = described();
        let mut seen = BTreeSet::new();
        for (path, expected) in CONTRACT {
            let expected = methods(expected);
            let (place, _) = PUBLIC_TABLE
                .find(path)
                .unwrap_or_else(|| panic!("{path} is no route"));
            assert!(
                seen.insert(place.pattern),
                "{path} is answered as {}",
                place.pattern
            );
            assert_eq!(methods(&place.allow), expected, "Allow of {path}");
            let all = ["GET", "POST", "PUT", "DELETE", "PATCH", "TRACE"];
            let answers = |name: &&str| {
                place
                    .route(&Method::from_bytes(name.as_bytes()).unwrap())
                    .is_some()
            };
            assert_eq!(
                all.into_iter().filter(answers).collect::<BTreeSet<_>>(),
                expected,
                "methods of {path}"
            );
            assert_eq!(
                place.route(&Method::HEAD).is_some(),
                expected.contains("GET"),
                "HEAD of {path}"
            );
            assert_eq!(
                place.allow.contains("HEAD"),
                expected.contains("GET"),
                "Allow of {path}"
            );
            if place.pattern.starts_with("/docs") {
                assert!(!described.contains_key(place.pattern));
            } else {
                let operations: BTreeSet<_> = described[place.pattern].iter().map(String::as_str).collect();
                assert_eq!(operations, expected, "operations of {path}");
            }
        }
        assert_eq!(PUBLIC_TABLE.places().len(), CONTRACT.len());
        assert_eq!(described.len(), CONTRACT.len() - 2);
    }

    #[test]
    fn all_routes_of_a_path_belong_to_one_area() {
        for (route, other) in PUBLIC
            .iter()
            .flat_map(|route| PUBLIC.iter().map(move |other| (route, other)))
        {
            if route.pattern == other.pattern {
                assert_eq!(route.endpoint.area(), other.endpoint.area(), "{}", route.pattern);
            }
        }
    }

    #[test]
    fn tokens_are_asked_for_as_the_contract_says() {
        let kinds = |access| {
            let chosen = PUBLIC
                .iter()
                .filter(|route| route.access == access && route.pattern.starts_with("/api"));
            chosen
                .map(|route| format!("{} {}", route.verb.name(), route.pattern))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            kinds(Access::Open),
            ["POST /api/users", "POST /api/users/login", "GET /api/tags"]
        );
        assert_eq!(
            kinds(Access::Optional),
            [
                "GET /api/profiles/{username}",
                "GET /api/articles",
                "GET /api/articles/{slug}",
                "GET /api/articles/{slug}/comments",
            ]
        );
        assert_eq!(kinds(Access::Required).len(), 12);
    }

    #[test]
    fn a_described_body_is_a_read_one() {
        for route in PUBLIC {
            let sends = route.about.as_ref().is_some_and(About::has_body);
            assert_eq!(
                sends,
                route.input == crate::route::Input::Json,
                "{}",
                route.pattern
            );
        }
    }
}
