//! Statuses, keys and sentences of failures (contract 1.7): the only file that has any.

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::web::Bytes;
use conduit_domain::error::{Resource, Rule, Taken};
use conduit_domain::{Error, Fault, Field};

/// What a client is told about an error.
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    /// A header that belongs to this kind of failure.
    pub(crate) header: Option<(HeaderName, HeaderValue)>,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        match error {
            Error::TokenMissing => unauthorized(r#"{"errors":{"token":["is missing"]}}"#),
            Error::TokenInvalid | Error::CallerGone => unauthorized(r#"{"errors":{"token":["is invalid"]}}"#),
            Error::TokenExpired => unauthorized(r#"{"errors":{"token":["has expired"]}}"#),
            Error::CredentialsInvalid => unauthorized(r#"{"errors":{"credentials":["invalid"]}}"#),
            Error::Forbidden(resource) => about(StatusCode::FORBIDDEN, name(*resource), "forbidden"),
            Error::NotFound(resource) => about(StatusCode::NOT_FOUND, name(*resource), "not found"),
            Error::RouteNotFound => fixed(StatusCode::NOT_FOUND, r#"{"errors":{"route":["not found"]}}"#),
            Error::MethodNotAllowed(methods) => Self {
                header: Some((ALLOW, HeaderValue::from_static(methods))),
                ..fixed(
                    StatusCode::METHOD_NOT_ALLOWED,
                    r#"{"errors":{"method":["not allowed"]}}"#,
                )
            },
            Error::Taken(taken) => keyed(StatusCode::CONFLICT, taken_fields(*taken)),
            Error::Invalid(faults) => keyed(StatusCode::UNPROCESSABLE_ENTITY, faults.iter().map(sentence)),
            Error::RequestMalformed => fixed(
                StatusCode::BAD_REQUEST,
                r#"{"errors":{"request":["is malformed"]}}"#,
            ),
            Error::RequestTooLarge => fixed(
                StatusCode::PAYLOAD_TOO_LARGE,
                r#"{"errors":{"request":["is too large"]}}"#,
            ),
            Error::Unavailable(_) => unavailable(),
            Error::Overloaded(_) => Self {
                header: Some((RETRY_AFTER, HeaderValue::from_static("1"))),
                ..unavailable()
            },
            Error::Internal(_) => fixed(
                StatusCode::INTERNAL_SERVER_ERROR,
                r#"{"errors":{"server":["internal error"]}}"#,
            ),
        }
    }
}

fn fixed(status: StatusCode, body: &'static str) -> Failure {
    Failure {
        status,
        body: Bytes::from_static(body.as_bytes()),
        header: None,
    }
}

fn unauthorized(body: &'static str) -> Failure {
    let header = Some((WWW_AUTHENTICATE, HeaderValue::from_static("Token")));
    Failure {
        header,
        ..fixed(StatusCode::UNAUTHORIZED, body)
    }
}

fn unavailable() -> Failure {
    fixed(
        StatusCode::SERVICE_UNAVAILABLE,
        r#"{"errors":{"server":["is unavailable"]}}"#,
    )
}

fn about(status: StatusCode, key: &'static str, message: &'static str) -> Failure {
    keyed(status, [(key, message.into())])
}

/// Keys and messages are ours and hold nothing that JSON would escape.
fn keyed(status: StatusCode, entries: impl IntoIterator<Item = (&'static str, Message)>) -> Failure {
    let mut body = String::from(r#"{"errors":{"#);
    for (index, (key, message)) in entries.into_iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        body.extend([comma, "\"", key, "\":[\"", &message, "\"]"]);
    }
    body.push_str("}}");
    Failure {
        status,
        body: body.into(),
        header: None,
    }
}

type Message = std::borrow::Cow<'static, str>;

fn name(resource: Resource) -> &'static str {
    match resource {
        Resource::Article => "article",
        Resource::Comment => "comment",
        Resource::Profile => "profile",
    }
}

fn taken_fields(taken: Taken) -> impl Iterator<Item = (&'static str, Message)> {
    let fields = [("username", taken.username), ("email", taken.email)];
    fields
        .into_iter()
        .filter(|(_, taken)| *taken)
        .map(|(key, _)| (key, "has already been taken".into()))
}

fn sentence(fault: &Fault) -> (&'static str, Message) {
    (key(fault.field), message(fault.rule))
}

fn key(field: Field) -> &'static str {
    match field {
        Field::User => "user",
        Field::Article => "article",
        Field::Comment => "comment",
        Field::Profile => "profile",
        Field::Username => "username",
        Field::Email => "email",
        Field::Password => "password",
        Field::Bio => "bio",
        Field::Image => "image",
        Field::Title => "title",
        Field::Description => "description",
        Field::Body => "body",
        Field::TagList => "tagList",
        Field::Limit => "limit",
        Field::Offset => "offset",
    }
}

fn message(rule: Rule) -> Message {
    match rule {
        Rule::Blank => "can't be blank".into(),
        Rule::Invalid => "is invalid".into(),
        Rule::TooShort(least) => format!("is too short (minimum is {least} characters)").into(),
        Rule::TooLong(most) => format!("is too long (maximum is {most} characters)").into(),
        Rule::TooManyTags(most) => format!("is too long (maximum is {most} tags)").into(),
        Rule::OwnProfile => "can't follow yourself".into(),
        Rule::NotANumber => "is not a number".into(),
        Rule::Below(least) => format!("must be greater than or equal to {least}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(error: &Error) -> (u16, String, Option<(String, String)>) {
        let failure = Failure::from(error);
        let header = failure
            .header
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        (
            failure.status.as_u16(),
            String::from_utf8(failure.body.to_vec()).unwrap(),
            header,
        )
    }

    fn faults(faults: &[(Field, Rule)]) -> Error {
        Error::Invalid(
            faults
                .iter()
                .map(|&(field, rule)| Fault { field, rule })
                .collect(),
        )
    }

    /// Every variant, once each or more: the match makes a new one a compile error here too.
    fn listed(error: &Error) {
        match error {
            Error::TokenMissing
            | Error::TokenInvalid
            | Error::TokenExpired
            | Error::CallerGone
            | Error::CredentialsInvalid
            | Error::Forbidden(Resource::Article | Resource::Comment | Resource::Profile)
            | Error::NotFound(Resource::Article | Resource::Comment | Resource::Profile)
            | Error::RouteNotFound
            | Error::MethodNotAllowed(_)
            | Error::Taken(_)
            | Error::Invalid(_)
            | Error::RequestMalformed
            | Error::RequestTooLarge
            | Error::Unavailable(_)
            | Error::Overloaded(_)
            | Error::Internal(_) => {}
        }
    }

    #[test]
    fn every_error_has_its_status_and_bytes() {
        let token = Some(("www-authenticate", "Token"));
        let taken = |username, email| Error::Taken(Taken { username, email });
        let cases = [
            (
                Error::TokenMissing,
                401,
                r#"{"errors":{"token":["is missing"]}}"#,
                token,
            ),
            (
                Error::TokenInvalid,
                401,
                r#"{"errors":{"token":["is invalid"]}}"#,
                token,
            ),
            (
                Error::TokenExpired,
                401,
                r#"{"errors":{"token":["has expired"]}}"#,
                token,
            ),
            (
                Error::CallerGone,
                401,
                r#"{"errors":{"token":["is invalid"]}}"#,
                token,
            ),
            (
                Error::CredentialsInvalid,
                401,
                r#"{"errors":{"credentials":["invalid"]}}"#,
                token,
            ),
            (
                Error::Forbidden(Resource::Article),
                403,
                r#"{"errors":{"article":["forbidden"]}}"#,
                None,
            ),
            (
                Error::Forbidden(Resource::Comment),
                403,
                r#"{"errors":{"comment":["forbidden"]}}"#,
                None,
            ),
            (
                Error::Forbidden(Resource::Profile),
                403,
                r#"{"errors":{"profile":["forbidden"]}}"#,
                None,
            ),
            (
                Error::NotFound(Resource::Article),
                404,
                r#"{"errors":{"article":["not found"]}}"#,
                None,
            ),
            (
                Error::NotFound(Resource::Comment),
                404,
                r#"{"errors":{"comment":["not found"]}}"#,
                None,
            ),
            (
                Error::NotFound(Resource::Profile),
                404,
                r#"{"errors":{"profile":["not found"]}}"#,
                None,
            ),
            (
                Error::RouteNotFound,
                404,
                r#"{"errors":{"route":["not found"]}}"#,
                None,
            ),
            (
                Error::MethodNotAllowed("GET, HEAD"),
                405,
                r#"{"errors":{"method":["not allowed"]}}"#,
                Some(("allow", "GET, HEAD")),
            ),
            (
                taken(true, false),
                409,
                r#"{"errors":{"username":["has already been taken"]}}"#,
                None,
            ),
            (
                taken(false, true),
                409,
                r#"{"errors":{"email":["has already been taken"]}}"#,
                None,
            ),
            (
                taken(true, true),
                409,
                r#"{"errors":{"username":["has already been taken"],"email":["has already been taken"]}}"#,
                None,
            ),
            (
                Error::RequestMalformed,
                400,
                r#"{"errors":{"request":["is malformed"]}}"#,
                None,
            ),
            (
                Error::RequestTooLarge,
                413,
                r#"{"errors":{"request":["is too large"]}}"#,
                None,
            ),
            (
                Error::Unavailable("down".into()),
                503,
                r#"{"errors":{"server":["is unavailable"]}}"#,
                None,
            ),
            (
                Error::Overloaded("hashing"),
                503,
                r#"{"errors":{"server":["is unavailable"]}}"#,
                Some(("retry-after", "1")),
            ),
            (
                Error::Internal("bug".into()),
                500,
                r#"{"errors":{"server":["internal error"]}}"#,
                None,
            ),
            (
                faults(&[(Field::Limit, Rule::NotANumber), (Field::Offset, Rule::Below(0))]),
                422,
                r#"{"errors":{"limit":["is not a number"],"offset":["must be greater than or equal to 0"]}}"#,
                None,
            ),
        ];
        for (error, status, body, header) in cases {
            listed(&error);
            let header = header.map(|(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(shown(&error), (status, body.to_owned(), header));
        }
    }

    #[test]
    fn every_field_has_its_key() {
        for (field, key) in [
            (Field::User, "user"),
            (Field::Article, "article"),
            (Field::Comment, "comment"),
            (Field::Profile, "profile"),
            (Field::Username, "username"),
            (Field::Email, "email"),
            (Field::Password, "password"),
            (Field::Bio, "bio"),
            (Field::Image, "image"),
            (Field::Title, "title"),
            (Field::Description, "description"),
            (Field::Body, "body"),
            (Field::TagList, "tagList"),
            (Field::Limit, "limit"),
            (Field::Offset, "offset"),
        ] {
            let body = format!(r#"{{"errors":{{"{key}":["is invalid"]}}}}"#);
            assert_eq!(shown(&faults(&[(field, Rule::Invalid)])), (422, body, None));
        }
    }

    #[test]
    fn every_rule_has_its_sentence() {
        for (rule, sentence) in [
            (Rule::Blank, "can't be blank"),
            (Rule::Invalid, "is invalid"),
            (Rule::TooShort(8), "is too short (minimum is 8 characters)"),
            (Rule::TooLong(64), "is too long (maximum is 64 characters)"),
            (Rule::TooManyTags(100), "is too long (maximum is 100 tags)"),
            (Rule::OwnProfile, "can't follow yourself"),
            (Rule::NotANumber, "is not a number"),
            (Rule::Below(1), "must be greater than or equal to 1"),
        ] {
            let body = format!(r#"{{"errors":{{"title":["{sentence}"]}}}}"#);
            assert_eq!(shown(&faults(&[(Field::Title, rule)])), (422, body, None));
        }
    }
}
