//! The answering end: a thin shell over [`Served`], with a health service and, on request, reflection.

use std::fmt;
use std::time::Duration;

use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::{Request, Response, Status, async_trait};
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use tonic_reflection::server::Builder as Reflection;

pub use tonic::service::Routes;

pub use crate::grpc::connection::{Caller, Io, serve_connection};

use crate::error::CallError;
use crate::limits::{ANSWER_BYTES, REQUEST_BYTES};
use crate::methods::{DeletedSince, Find, FollowedBy, FollowedByEach, Follows, IdsBySlugs, Method};
use crate::serve::{SECRET_HEADER, Served, Terms};
use crate::trace;
use crate::wire::articles_server::{Articles, ArticlesServer};
use crate::wire::profiles_server::{Profiles, ProfilesServer};
use crate::wire::users_server::{Users, UsersServer};
use crate::wire::{self, DESCRIPTOR};

/// What is served, the health service (open to everybody: it says nothing but yes or no), and reflection if wanted.
pub fn routes(served: &Served, health: &Health, reflection: bool) -> Routes {
    let mut routes = Routes::new(HealthServer::new(HealthService::from_health_reporter(
        health.0.clone(),
    )));
    let shell = || Shell(served.clone());
    let guarded = Guard(served.clone());
    if served.users.is_some() {
        let server = UsersServer::new(shell());
        let server = server
            .max_decoding_message_size(REQUEST_BYTES)
            .max_encoding_message_size(ANSWER_BYTES);
        routes = routes.add_service(InterceptedService::new(server, guarded.clone()));
    }
    if served.profiles.is_some() {
        let server = ProfilesServer::new(shell());
        let server = server
            .max_decoding_message_size(REQUEST_BYTES)
            .max_encoding_message_size(ANSWER_BYTES);
        routes = routes.add_service(InterceptedService::new(server, guarded.clone()));
    }
    if served.articles.is_some() {
        let server = ArticlesServer::new(shell());
        let server = server
            .max_decoding_message_size(REQUEST_BYTES)
            .max_encoding_message_size(ANSWER_BYTES);
        routes = routes.add_service(InterceptedService::new(server, guarded.clone()));
    }
    if reflection {
        routes = described(routes, guarded);
    }
    routes.prepare()
}

fn described(routes: Routes, guard: Guard) -> Routes {
    match Reflection::configure()
        .register_encoded_file_descriptor_set(DESCRIPTOR)
        .build_v1()
    {
        Ok(server) => routes.add_service(InterceptedService::new(server, guard)),
        Err(error) => {
            tracing::error!(%error, "the services cannot be described");
            routes
        }
    }
}

/// The status that the health service shows; one for all workers of a process.
#[derive(Clone, Debug)]
pub struct Health(HealthReporter);

impl Default for Health {
    fn default() -> Self {
        Self(HealthReporter::new())
    }
}

impl Health {
    /// Serving: the process as a whole (the empty name) and each service it offers.
    pub async fn serving(served: &Served) -> Self {
        let health = Self::default();
        health.start_serving(served).await;
        health
    }

    /// From now on the process takes calls.
    pub async fn start_serving(&self, served: &Served) {
        for name in names(served) {
            self.0.set_service_status(name, ServingStatus::Serving).await;
        }
    }

    /// From now on the process wants no new calls.
    pub async fn stop_serving(&self, served: &Served) {
        for name in names(served) {
            self.0.set_service_status(name, ServingStatus::NotServing).await;
        }
    }
}

fn names(served: &Served) -> impl Iterator<Item = &'static str> {
    let users = served.users.is_some().then_some(wire::users_server::SERVICE_NAME);
    let profiles = served
        .profiles
        .is_some()
        .then_some(wire::profiles_server::SERVICE_NAME);
    let articles = served
        .articles
        .is_some()
        .then_some(wire::articles_server::SERVICE_NAME);
    [Some(""), users, profiles, articles].into_iter().flatten()
}

/// Asks for the secret before anything of the message is read.
#[derive(Clone)]
struct Guard(Served);

impl Interceptor for Guard {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        let secret = request.metadata().get(SECRET_HEADER).map(MetadataValue::as_bytes);
        let caller = request
            .extensions()
            .get::<Caller>()
            .copied()
            .unwrap_or(Caller::Tcp(None));
        if self.0.admits(secret, &caller) {
            Ok(request)
        } else {
            Err(Status::unauthenticated(""))
        }
    }
}

struct Shell(Served);

impl Shell {
    async fn answer<M: Method>(&self, request: Request<M::Request>) -> Result<Response<M::Response>, Status> {
        let left = match time_left(request.metadata()) {
            Ok(left) => left,
            Err(error) => {
                let _logged = self.0.judged::<M, ()>(Err(error));
                return Err(Status::invalid_argument(""));
            }
        };
        let (metadata, _, asked) = request.into_parts();
        let trace = metadata.get(trace::HEADER).and_then(|value| value.to_str().ok());
        self.0
            .answer::<M>(Terms { left, trace }, asked)
            .await
            .map(Response::new)
            .map_err(|error| status(&error))
    }
}

#[async_trait]
impl Users for Shell {
    async fn find(
        &self,
        request: Request<wire::FindUsersRequest>,
    ) -> Result<Response<wire::FindUsersResponse>, Status> {
        self.answer::<Find>(request).await
    }
}

#[async_trait]
impl Profiles for Shell {
    async fn follows(
        &self,
        request: Request<wire::FollowsRequest>,
    ) -> Result<Response<wire::FollowsResponse>, Status> {
        self.answer::<Follows>(request).await
    }

    async fn followed_by(
        &self,
        request: Request<wire::FollowedByRequest>,
    ) -> Result<Response<wire::FollowedByResponse>, Status> {
        self.answer::<FollowedBy>(request).await
    }

    async fn followed_by_each(
        &self,
        request: Request<wire::FollowedByEachRequest>,
    ) -> Result<Response<wire::FollowedByEachResponse>, Status> {
        self.answer::<FollowedByEach>(request).await
    }
}

#[async_trait]
impl Articles for Shell {
    async fn ids_by_slugs(
        &self,
        request: Request<wire::IdsBySlugsRequest>,
    ) -> Result<Response<wire::IdsBySlugsResponse>, Status> {
        self.answer::<IdsBySlugs>(request).await
    }

    async fn deleted_since(
        &self,
        request: Request<wire::DeletedSinceRequest>,
    ) -> Result<Response<wire::DeletedSinceResponse>, Status> {
        self.answer::<DeletedSince>(request).await
    }
}

/// Codes for the calling end, without a message.
fn status(error: &CallError) -> Status {
    match error {
        CallError::TimedOut => Status::deadline_exceeded(""),
        CallError::Nonsense(_) => Status::invalid_argument(""),
        // Refused: by a peer that this one asks in turn.
        CallError::Failed(_) | CallError::Unreachable(_) | CallError::Refused => Status::unavailable(""),
    }
}

/// `grpc-timeout`: at most eight digits and a unit. tonic reads it only in a server of its own.
fn time_left(metadata: &MetadataMap) -> Result<Option<Duration>, CallError> {
    let Some(value) = metadata.get("grpc-timeout") else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default();
    let left = parse_timeout(text);
    left.map(Some)
        .ok_or_else(|| CallError::nonsense(format!("{text:?} is no time-out")))
}

fn parse_timeout(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let digits = text.strip_suffix(unit)?;
    if digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let amount: u64 = digits.parse().ok()?;
    match unit {
        'H' => Some(Duration::from_secs(amount * 3_600)),
        'M' => Some(Duration::from_secs(amount * 60)),
        'S' => Some(Duration::from_secs(amount)),
        'm' => Some(Duration::from_millis(amount)),
        'u' => Some(Duration::from_micros(amount)),
        'n' => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

impl fmt::Debug for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_outs_have_a_unit_and_at_most_eight_digits() {
        let cases = [
            ("5S", Some(Duration::from_secs(5))),
            ("2M", Some(Duration::from_secs(120))),
            ("1H", Some(Duration::from_secs(3_600))),
            ("99999999m", Some(Duration::from_millis(99_999_999))),
            ("7u", Some(Duration::from_micros(7))),
            ("7n", Some(Duration::from_nanos(7))),
            ("0n", Some(Duration::ZERO)),
            ("", None),
            ("5", None),
            ("S", None),
            ("-5S", None),
            ("100000000S", None),
            ("5 S", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_timeout(text), expected, "{text:?}");
        }
    }
}
