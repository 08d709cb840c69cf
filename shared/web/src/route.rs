//! What a route is, and how a path finds one.
//!
//! Paths are matched on the raw target (contract 1.1): segments are split before anything is decoded, so `%2F` stays inside a
//! name, `.` and `..` are names, and an empty segment is no route. actix's own router matches a path that is already half
//! decoded, which is why it is not asked.

use actix_web::http::Method;
use conduit_app::{Articles, Comments, Profiles, Users};
use conduit_domain::Result;
use conduit_domain::page::PageRules;
use futures_util::future::LocalBoxFuture;

use crate::answer::Answer;
use crate::api::System;
use crate::call::Call;
use crate::openapi::About;

/// The methods that routes have. `HEAD` is the `GET` route without the body; `OPTIONS` never gets as far as a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

impl Verb {
    const ALL: [Self; 4] = [Self::Get, Self::Post, Self::Put, Self::Delete];

    /// The verb whose route answers a method.
    pub(crate) fn answering(method: &Method) -> Option<Self> {
        match *method {
            Method::GET | Method::HEAD => Some(Self::Get),
            Method::POST => Some(Self::Post),
            Method::PUT => Some(Self::Put),
            Method::DELETE => Some(Self::Delete),
            _ => None,
        }
    }

    /// As a request line has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }

    /// As the `Allow` header lists it.
    pub(crate) fn allowed(self) -> &'static str {
        if self == Self::Get {
            "GET, HEAD"
        } else {
            self.name()
        }
    }
}

/// Whether a route looks at the token (contract 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The header is not looked at.
    Open,
    /// Served to anonymous viewers too; a bad token is refused all the same.
    Optional,
    /// 401 without a good token.
    Required,
}

/// What a route does with a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Ignores it up to the size limit (contract 1.3).
    Nothing,
    /// Reads it as JSON.
    Json,
}

type Handled<'a> = LocalBoxFuture<'a, Result<Answer>>;

/// The handler of a route, by the area whose use cases it calls. A process that lacks the area lacks the route.
#[derive(Clone, Copy)]
pub(crate) enum Endpoint {
    Users(for<'a> fn(&'a Users, Call<'a>) -> Handled<'a>),
    Profiles(for<'a> fn(&'a Profiles, Call<'a>) -> Handled<'a>),
    Articles(for<'a> fn(&'a Articles, Call<'a>) -> Handled<'a>),
    Comments(for<'a> fn(&'a Comments, Call<'a>) -> Handled<'a>),
    System(for<'a> fn(&'a System, Call<'a>) -> Handled<'a>),
}

impl Endpoint {
    /// The area's name, as OpenAPI groups by it.
    pub(crate) fn area(&self) -> &'static str {
        match self {
            Self::Users(_) => "users",
            Self::Profiles(_) => "profiles",
            Self::Articles(_) => "articles",
            Self::Comments(_) => "comments",
            Self::System(_) => "system",
        }
    }
}

/// One row of the table.
pub(crate) struct Route {
    pub(crate) verb: Verb,
    pub(crate) pattern: &'static str,
    pub(crate) access: Access,
    /// The bounds of `limit` and `offset`, for lists.
    pub(crate) paging: Option<PageRules>,
    pub(crate) input: Input,
    pub(crate) endpoint: Endpoint,
    /// How OpenAPI describes it; `None` for pages that are no part of the API.
    pub(crate) about: Option<About>,
}

impl Route {
    /// A route that is open, unpaged and without input.
    pub(crate) const fn new(verb: Verb, pattern: &'static str, endpoint: Endpoint) -> Self {
        Self {
            verb,
            pattern,
            access: Access::Open,
            paging: None,
            input: Input::Nothing,
            endpoint,
            about: None,
        }
    }

    pub(crate) const fn optional(self) -> Self {
        Self {
            access: Access::Optional,
            ..self
        }
    }

    pub(crate) const fn required(self) -> Self {
        Self {
            access: Access::Required,
            ..self
        }
    }

    pub(crate) const fn paged(self, rules: PageRules) -> Self {
        Self {
            paging: Some(rules),
            ..self
        }
    }

    pub(crate) const fn json(self) -> Self {
        Self {
            input: Input::Json,
            ..self
        }
    }

    pub(crate) const fn about(self, about: About) -> Self {
        Self {
            about: Some(about),
            ..self
        }
    }
}

/// All routes of one path.
pub(crate) struct Place {
    /// As in the table, `/api/articles/{slug}`.
    pub(crate) pattern: &'static str,
    segments: Vec<Option<&'static str>>,
    routes: Vec<&'static Route>,
    /// What the `Allow` header of a 405 says.
    pub(crate) allow: String,
}

impl Place {
    fn new(pattern: &'static str, table: &'static [Route]) -> Self {
        let routes: Vec<_> = table.iter().filter(|route| route.pattern == pattern).collect();
        let verbs = Verb::ALL
            .into_iter()
            .filter(|verb| routes.iter().any(|route| route.verb == *verb));
        let allow = verbs.map(Verb::allowed).collect::<Vec<_>>().join(", ");
        let fixed = |segment: &'static str| (!segment.starts_with('{')).then_some(segment);
        let segments = pattern.split('/').skip(1).map(fixed).collect();
        Self {
            pattern,
            segments,
            routes,
            allow,
        }
    }

    /// The route that answers a method here.
    pub(crate) fn route(&self, method: &Method) -> Option<&'static Route> {
        let verb = Verb::answering(method)?;
        self.routes.iter().copied().find(|route| route.verb == verb)
    }

    /// Any of its routes; they all belong to one area.
    pub(crate) fn endpoint(&self) -> Option<Endpoint> {
        self.routes.first().map(|route| route.endpoint)
    }

    fn names<'p>(&self, path: &'p str) -> Option<Names<'p>> {
        let mut names = Names::default();
        let mut free = names.0.iter_mut();
        let mut parts = path.strip_prefix('/')?.split('/');
        for segment in &self.segments {
            let part = parts.next()?;
            match segment {
                Some(fixed) if *fixed == part => {}
                None if !part.is_empty() => *free.next()? = Some(part),
                _ => return None,
            }
        }
        parts.next().is_none().then_some(names)
    }
}

/// The raw segments of a path that stand where its pattern has names, in order; no path has more than two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names<'p>(pub(crate) [Option<&'p str>; 2]);

/// The table by path. The first pattern that fits wins, so `/api/articles/feed` stands before `/api/articles/{slug}`.
pub(crate) struct Table(Vec<Place>);

impl Table {
    pub(crate) fn new(routes: &'static [Route]) -> Self {
        let mut places: Vec<Place> = Vec::new();
        for route in routes {
            if !places.iter().any(|place| place.pattern == route.pattern) {
                places.push(Place::new(route.pattern, routes));
            }
        }
        Self(places)
    }

    /// The place of a raw path.
    pub(crate) fn find<'p>(&'static self, path: &'p str) -> Option<(&'static Place, Names<'p>)> {
        self.0.iter().find_map(|place| Some((place, place.names(path)?)))
    }

    #[cfg(test)]
    pub(crate) fn places(&self) -> &[Place] {
        &self.0
    }
}
