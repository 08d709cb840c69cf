//! The bodies that clients send, as OpenAPI shows them. They are read by `conduit-domain`, field by field and in the order of the
//! contract, so these types are for the description alone. Bounds are those of contract 1.9 and 3.3.
#![expect(dead_code, reason = "only their shapes are used")]

use std::collections::BTreeMap;

use utoipa::ToSchema;

#[derive(ToSchema)]
pub(crate) struct NewUserRequest {
    user: NewUser,
}

#[derive(ToSchema)]
struct NewUser {
    #[schema(min_length = 1, max_length = 64)]
    username: String,
    #[schema(max_length = 254)]
    email: String,
    #[schema(min_length = 8, max_length = 256, format = Password)]
    password: String,
}

#[derive(ToSchema)]
pub(crate) struct LogInRequest {
    user: LogIn,
}

#[derive(ToSchema)]
struct LogIn {
    email: String,
    #[schema(format = Password)]
    password: String,
}

#[derive(ToSchema)]
pub(crate) struct UserChangesRequest {
    user: UserChanges,
}

/// At least one member; one that is absent stays as it is.
#[derive(ToSchema)]
struct UserChanges {
    #[schema(min_length = 1, max_length = 64, nullable = false)]
    username: Option<String>,
    #[schema(max_length = 254, nullable = false)]
    email: Option<String>,
    #[schema(min_length = 8, max_length = 256, format = Password, nullable = false)]
    password: Option<String>,
    #[schema(max_length = 2000)]
    bio: Option<String>,
    #[schema(max_length = 2048)]
    image: Option<String>,
}

#[derive(ToSchema)]
pub(crate) struct NewArticleRequest {
    article: NewArticle,
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
struct NewArticle {
    #[schema(min_length = 1, max_length = 255)]
    title: String,
    #[schema(min_length = 1, max_length = 1000)]
    description: String,
    #[schema(min_length = 1)]
    body: String,
    #[schema(nullable = false)]
    tag_list: Option<Vec<String>>,
}

#[derive(ToSchema)]
pub(crate) struct ArticleChangesRequest {
    article: ArticleChanges,
}

/// A member that is absent stays as it is.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
struct ArticleChanges {
    #[schema(min_length = 1, max_length = 255, nullable = false)]
    title: Option<String>,
    #[schema(min_length = 1, max_length = 1000, nullable = false)]
    description: Option<String>,
    #[schema(min_length = 1, nullable = false)]
    body: Option<String>,
    #[schema(nullable = false)]
    tag_list: Option<Vec<String>>,
}

#[derive(ToSchema)]
pub(crate) struct NewCommentRequest {
    comment: NewComment,
}

#[derive(ToSchema)]
struct NewComment {
    #[schema(min_length = 1, max_length = 10000)]
    body: String,
}

/// What every failure looks like: what is wrong, by field.
#[derive(ToSchema)]
pub(crate) struct Errors {
    errors: BTreeMap<String, Vec<String>>,
}

/// What probes are told.
#[derive(ToSchema)]
pub(crate) struct Status {
    /// `ok`, `ready` or `unavailable`
    status: String,
}
