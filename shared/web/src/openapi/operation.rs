//! One operation of the description, from one row of the table.

use utoipa::ToSchema;
use utoipa::openapi::Required;
use utoipa::openapi::content::{Content, ContentBuilder};
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder, Responses};
use utoipa::openapi::schema::{Object, ObjectBuilder, Ref, SchemaType, Type};
use utoipa::openapi::security::SecurityRequirement;

use super::{Schemas, TOKEN, bodies, collect};
use crate::route::{Access, Input, Route};
use crate::{articles, comments, profiles, users};

const JSON: &str = "application/json";

/// What the table says of a route beyond how it is served.
pub(crate) struct About {
    /// The operation's id; those of the official description where it has the route.
    id: &'static str,
    summary: &'static str,
    pub(super) answers: Answers,
    pub(super) sends: Option<Sends>,
    /// Failures beyond those that follow from the row.
    fails: &'static [u16],
    filtered: bool,
}

impl About {
    pub(crate) const fn new(id: &'static str, summary: &'static str, answers: Answers) -> Self {
        Self {
            id,
            summary,
            answers,
            sends: None,
            fails: &[],
            filtered: false,
        }
    }

    pub(crate) const fn sends(self, sends: Sends) -> Self {
        Self {
            sends: Some(sends),
            ..self
        }
    }

    pub(crate) const fn fails(self, fails: &'static [u16]) -> Self {
        Self { fails, ..self }
    }

    /// Whether a body is described.
    #[cfg(test)]
    pub(crate) fn has_body(&self) -> bool {
        self.sends.is_some()
    }

    /// Takes `tag`, `author` and `favorited`.
    pub(crate) const fn filtered(self) -> Self {
        Self {
            filtered: true,
            ..self
        }
    }
}

/// What a route answers when all went well.
#[derive(Clone, Copy)]
pub(crate) enum Answers {
    User(u16),
    Profile,
    Article(u16),
    ArticleList,
    Comment,
    CommentList,
    Tags,
    Nothing,
    Health,
    Readiness,
    Description,
}

impl Answers {
    fn status(self) -> u16 {
        match self {
            Self::User(status) | Self::Article(status) => status,
            Self::Comment => 201,
            Self::Nothing => 204,
            Self::Profile
            | Self::ArticleList
            | Self::CommentList
            | Self::Tags
            | Self::Health
            | Self::Readiness
            | Self::Description => 200,
        }
    }

    pub(super) fn schemas(self, schemas: &mut Schemas) {
        match self {
            Self::User(_) => collect::<users::UserView<'_>>(schemas),
            Self::Profile => collect::<profiles::OneProfile<'_>>(schemas),
            Self::Article(_) => collect::<articles::OneArticle<'_>>(schemas),
            Self::ArticleList => collect::<articles::ArticleList<'_>>(schemas),
            Self::Comment => collect::<comments::OneComment<'_>>(schemas),
            Self::CommentList => collect::<comments::CommentList<'_>>(schemas),
            Self::Tags => collect::<articles::Tags<'_>>(schemas),
            Self::Health | Self::Readiness => collect::<bodies::Status>(schemas),
            Self::Nothing | Self::Description => {}
        }
    }

    fn schema(self) -> Option<Content> {
        match self {
            Self::User(_) => Some(reference::<users::UserView<'_>>()),
            Self::Profile => Some(reference::<profiles::OneProfile<'_>>()),
            Self::Article(_) => Some(reference::<articles::OneArticle<'_>>()),
            Self::ArticleList => Some(reference::<articles::ArticleList<'_>>()),
            Self::Comment => Some(reference::<comments::OneComment<'_>>()),
            Self::CommentList => Some(reference::<comments::CommentList<'_>>()),
            Self::Tags => Some(reference::<articles::Tags<'_>>()),
            Self::Health | Self::Readiness => Some(reference::<bodies::Status>()),
            Self::Description => Some(ContentBuilder::new().schema(Some(Object::new())).build()),
            Self::Nothing => None,
        }
    }
}

/// What a route wants in its body.
#[derive(Clone, Copy)]
pub(crate) enum Sends {
    NewUser,
    LogIn,
    UserChanges,
    NewArticle,
    ArticleChanges,
    NewComment,
}

impl Sends {
    pub(super) fn schemas(self, schemas: &mut Schemas) {
        match self {
            Self::NewUser => collect::<bodies::NewUserRequest>(schemas),
            Self::LogIn => collect::<bodies::LogInRequest>(schemas),
            Self::UserChanges => collect::<bodies::UserChangesRequest>(schemas),
            Self::NewArticle => collect::<bodies::NewArticleRequest>(schemas),
            Self::ArticleChanges => collect::<bodies::ArticleChangesRequest>(schemas),
            Self::NewComment => collect::<bodies::NewCommentRequest>(schemas),
        }
    }

    fn body(self) -> RequestBody {
        let content = match self {
            Self::NewUser => reference::<bodies::NewUserRequest>(),
            Self::LogIn => reference::<bodies::LogInRequest>(),
            Self::UserChanges => reference::<bodies::UserChangesRequest>(),
            Self::NewArticle => reference::<bodies::NewArticleRequest>(),
            Self::ArticleChanges => reference::<bodies::ArticleChangesRequest>(),
            Self::NewComment => reference::<bodies::NewCommentRequest>(),
        };
        RequestBodyBuilder::new()
            .content(JSON, content)
            .required(Some(Required::True))
            .build()
    }
}

pub(super) fn operation(route: &Route, about: &About) -> Operation {
    let mut operation = OperationBuilder::new()
        .operation_id(Some(about.id))
        .summary(Some(about.summary))
        .tag(route.endpoint.area())
        .request_body(about.sends.map(Sends::body))
        .responses(responses(route, about));
    for parameter in parameters(route, about) {
        operation = operation.parameter(parameter);
    }
    match route.access {
        Access::Open => operation.build(),
        Access::Optional => operation
            .security(SecurityRequirement::default())
            .security(token())
            .build(),
        Access::Required => operation.security(token()).build(),
    }
}

fn token() -> SecurityRequirement {
    SecurityRequirement::new::<_, [&str; 0], &str>(TOKEN, [])
}

fn parameters(route: &Route, about: &About) -> Vec<Parameter> {
    let named = route
        .pattern
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<_> = named
        .map(|name| parameter(name, ParameterIn::Path, Type::String))
        .collect();
    if about.filtered {
        parameters.extend(
            ["tag", "author", "favorited"].map(|name| parameter(name, ParameterIn::Query, Type::String)),
        );
    }
    if route.paging.is_some() {
        parameters.extend(["limit", "offset"].map(|name| parameter(name, ParameterIn::Query, Type::Integer)));
    }
    parameters
}

fn parameter(name: &str, place: ParameterIn, kind: Type) -> Parameter {
    let required = if place == ParameterIn::Path {
        Required::True
    } else {
        Required::False
    };
    let schema = ObjectBuilder::new().schema_type(SchemaType::Type(kind));
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .schema(Some(schema))
        .build()
}

fn responses(route: &Route, about: &About) -> Responses {
    let mut responses = Responses::new();
    let mut success = ResponseBuilder::new().description(about.summary);
    if let Some(content) = about.answers.schema() {
        success = success.content(JSON, content);
    }
    responses
        .responses
        .insert(about.answers.status().to_string(), success.build().into());
    if matches!(about.answers, Answers::Readiness) {
        let unready = ResponseBuilder::new()
            .description("Not now")
            .content(JSON, reference::<bodies::Status>());
        responses
            .responses
            .insert("503".to_owned(), unready.build().into());
    }
    for status in failures(route, about) {
        responses
            .responses
            .insert(status.to_string(), failed(status).into());
    }
    responses
}

/// The failures that a route's row implies (contract 1.7, 1.8), and those it names.
fn failures(route: &Route, about: &About) -> Vec<u16> {
    let mut statuses = about.fails.to_vec();
    if route.endpoint.area() != "system" {
        statuses.extend([413, 500, 503]);
    }
    if route.access != Access::Open {
        statuses.push(401);
    }
    if route.pattern.contains('{') {
        statuses.extend([400, 404]);
    }
    if route.input == Input::Json {
        statuses.extend([400, 422]);
    }
    if route.paging.is_some() {
        statuses.push(422);
    }
    statuses
}

fn failed(status: u16) -> Response {
    let description = match status {
        400 => "The request is malformed",
        401 => "No good token, or the credentials are wrong",
        403 => "It belongs to somebody else",
        404 => "There is nothing of that name",
        409 => "The name or the address belongs to another account",
        413 => "The body is over 1 048 576 bytes",
        422 => "What was sent breaks a rule",
        503 => "Something that this needs cannot be reached in time",
        _ => "A bug",
    };
    ResponseBuilder::new()
        .description(description)
        .content(JSON, reference::<bodies::Errors>())
        .build()
}

fn reference<T: ToSchema>() -> Content {
    ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(T::name())))
        .build()
}
