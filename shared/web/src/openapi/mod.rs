//! The description of the API as OpenAPI 3.1 (contract 4.7), made from the table of routes and the types of the views. It is the
//! same in every deployment, whatever areas a process has.

mod bodies;
mod operation;

use std::sync::LazyLock;

use conduit_domain::{Error, Result};
use utoipa::openapi::path::{HttpMethod, PathItem, Paths};
use utoipa::openapi::schema::{Components, Schema};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{Info, OpenApi, OpenApiBuilder, OpenApiVersion, RefOr, Tag};
use utoipa::{PartialSchema, ToSchema};

pub(crate) use operation::{About, Answers, Sends};

use crate::route::{Route, Verb};
use crate::routes::PUBLIC;

/// What the security scheme is called.
const TOKEN: &str = "Token";

static DOCUMENT: LazyLock<Result<String, String>> =
    LazyLock::new(|| described().to_json().map_err(|error| error.to_string()));

/// The description as compact JSON: what `GET /openapi.json` answers.
///
/// # Errors
/// [`Error::Internal`] if it cannot be written.
pub fn document() -> Result<&'static str> {
    DOCUMENT
        .as_deref()
        .map_err(|error| Error::Internal(error.clone().into()))
}

fn described() -> OpenApi {
    OpenApiBuilder::new()
        .openapi(OpenApiVersion::Version31)
        .info(info())
        .paths(paths())
        .components(Some(components()))
        .tags(Some(tags()))
        .build()
}

fn info() -> Info {
    let mut info = Info::new("Conduit", "2.0.0");
    info.description = Some(
        "Articles, feeds, profiles, follows, favorites and comments. Every answer has a body of compact JSON but 204; every \
         failure has the form of `Errors`."
            .to_owned(),
    );
    info
}

fn tags() -> Vec<Tag> {
    let areas = [
        ("users", "Registration, log-in and one's own account"),
        ("profiles", "Accounts as others see them, and who follows whom"),
        ("articles", "Articles, lists, favorites and tags"),
        ("comments", "Comments on articles"),
        ("system", "Health and this description"),
    ];
    areas
        .into_iter()
        .map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build())
        .collect()
}

fn paths() -> Paths {
    let mut paths = Paths::new();
    for (route, about) in described_routes() {
        let item = PathItem::new(http_method(route.verb), operation::operation(route, about));
        match paths.paths.get_mut(route.pattern) {
            Some(known) => known.merge_operations(item),
            None => drop(paths.paths.insert(route.pattern.to_owned(), item)),
        }
    }
    paths
}

fn described_routes() -> impl Iterator<Item = (&'static Route, &'static About)> {
    PUBLIC
        .iter()
        .filter_map(|route| Some((route, route.about.as_ref()?)))
}

fn http_method(verb: Verb) -> HttpMethod {
    match verb {
        Verb::Get => HttpMethod::Get,
        Verb::Post => HttpMethod::Post,
        Verb::Put => HttpMethod::Put,
        Verb::Delete => HttpMethod::Delete,
    }
}

fn components() -> Components {
    let mut schemas = Vec::new();
    for (_, about) in described_routes() {
        about.answers.schemas(&mut schemas);
        if let Some(sends) = &about.sends {
            sends.schemas(&mut schemas);
        }
    }
    collect::<bodies::Errors>(&mut schemas);
    let mut components = Components::new();
    components.schemas.extend(schemas);
    let mut token = ApiKeyValue::new("Authorization");
    token.description = Some("The word `Token`, a blank, and the token of a User object.".to_owned());
    components.add_security_scheme(TOKEN, SecurityScheme::ApiKey(ApiKey::Header(token)));
    components
}

type Schemas = Vec<(String, RefOr<Schema>)>;

/// A type's own schema and those it refers to.
fn collect<T: ToSchema>(schemas: &mut Schemas) {
    schemas.push((T::name().into_owned(), <T as PartialSchema>::schema()));
    T::schemas(schemas);
}
