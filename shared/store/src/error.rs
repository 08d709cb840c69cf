//! What a driver's error means: the only file that looks inside one.

use conduit_domain::error::{Cause, Resource, Taken};
use conduit_domain::{Error, Result};
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgDatabaseError, PgSeverity};

/// The unique keys that number an article's slug; only a race breaks them (contract 3.1).
const SLUG_KEYS: [&str; 2] = ["articles_slug_key", "articles_slug_number_key"];

/// States of the server that pass: connection exceptions, resources, locks, time-outs, serialisation, shut-down.
const PASSING_CLASSES: [&str; 3] = ["08", "53", "57"];
const PASSING_STATES: [&str; 4] = ["55P03", "40001", "40P01", "25P03"];

/// A statement prepared on this connection does not fit the schema any more, or the server has forgotten it.
const STALE_STATEMENT: [&str; 2] = ["0A000", "26000"];

/// The error of the domain for what the driver said.
///
/// A constraint speaks for the look-up that a race has overtaken (architecture, section 4): [`Error::Taken`],
/// [`Error::CallerGone`] or [`Error::NotFound`]. What passes by itself is [`Error::Unavailable`], all else
/// [`Error::Internal`].
pub fn from_driver(error: sqlx::Error) -> Error {
    if let Some(meaning) = error
        .as_database_error()
        .and_then(DatabaseError::constraint)
        .and_then(meaning)
    {
        return meaning;
    }
    if passes(&error) {
        Error::Unavailable(error.into())
    } else {
        Error::Internal(error.into())
    }
}

/// Whether another article has just taken the slug: choose the next number and try again.
pub fn slug_taken(error: &Error) -> bool {
    let Error::Internal(cause) = error else {
        return false;
    };
    let constraint = cause
        .downcast_ref()
        .and_then(sqlx::Error::as_database_error)
        .and_then(DatabaseError::constraint);
    constraint.is_some_and(|name| SLUG_KEYS.contains(&name))
}

fn meaning(constraint: &str) -> Option<Error> {
    match constraint {
        "accounts_username_key" => Some(Error::Taken(Taken {
            username: true,
            email: false,
        })),
        "accounts_email_key" => Some(Error::Taken(Taken {
            username: false,
            email: true,
        })),
        "follows_follower_fkey"
        | "articles_author_fkey"
        | "comments_author_fkey"
        | "favorites_account_fkey" => Some(Error::CallerGone),
        "follows_followee_fkey" => Some(Error::NotFound(Resource::Profile)),
        "comments_article_fkey" | "favorites_article_fkey" => Some(Error::NotFound(Resource::Article)),
        _ => None,
    }
}

fn passes(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) => true,
        sqlx::Error::Database(reply) => reply.code().is_some_and(|state| {
            PASSING_STATES.contains(&state.as_ref())
                || PASSING_CLASSES.iter().any(|class| state.starts_with(class))
        }),
        _ => false,
    }
}

/// Why a call to the database failed, and what that says about the connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// No connection in time, or none at all: nothing was sent.
    #[error("no connection to the database")]
    NoConnection(#[source] Cause),
    /// The connection broke.
    #[error("the connection to the database broke")]
    Lost {
        /// Whether rows had come before.
        replied: bool,
        /// What the driver said.
        #[source]
        error: sqlx::Error,
    },
    /// The server refused the statement, or the driver could not read the answer.
    #[error("the statement failed")]
    Statement(#[source] sqlx::Error),
    /// The call took too long.
    #[error("the database did not answer in time")]
    TooLate,
}

impl Failure {
    /// Sorts an error by whether the connection is gone; `replied`: rows had come before.
    pub(crate) fn of(error: sqlx::Error, replied: bool) -> Self {
        if connection_is_gone(&error) {
            Self::Lost { replied, error }
        } else {
            Self::Statement(error)
        }
    }

    /// Whether a read may be sent again: the connection is gone, and nothing had come.
    pub(crate) fn before_any_reply(&self) -> bool {
        matches!(self, Self::Lost { replied: false, .. })
    }

    /// Whether the connection has nothing wrong with it: the server refused a statement, and that is all.
    pub(crate) fn leaves_connection_usable(&self) -> bool {
        let Self::Statement(sqlx::Error::Database(reply)) = self else {
            return false;
        };
        !is_fatal(reply.as_ref())
            && !reply
                .code()
                .is_some_and(|state| STALE_STATEMENT.contains(&state.as_ref()))
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Statement(error) => from_driver(error),
            Failure::NoConnection(_) | Failure::Lost { .. } | Failure::TooLate => {
                Self::Unavailable(failure.into())
            }
        }
    }
}

fn connection_is_gone(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) => true,
        sqlx::Error::Database(reply) => is_fatal(reply.as_ref()),
        _ => false,
    }
}

fn is_fatal(reply: &dyn DatabaseError) -> bool {
    let severity = reply
        .try_downcast_ref::<PgDatabaseError>()
        .map(PgDatabaseError::severity);
    matches!(severity, Some(PgSeverity::Fatal | PgSeverity::Panic))
}

/// A row that a statement always gives.
pub(crate) fn row<T>(found: Option<T>) -> Result<T> {
    found.ok_or_else(|| Error::Internal(sqlx::Error::RowNotFound.into()))
}
