//! The calling end.

use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, Limited};
use reqwest::{Body, Method as Verb, Request, Response, Url};
use rustls::crypto::{CryptoProvider, ring};
use secrecy::ExposeSecret;

use crate::address::Endpoint;
use crate::client::{Blame, Failure, Terms, Wire};
use crate::counts::Counts;
use crate::error::{CallError, cause};
use crate::http::DEADLINE_HEADER;
use crate::limits::{ANSWER_BYTES, REQUEST_BYTES};
use crate::methods::Method;
use crate::serve::SECRET_HEADER;
use crate::settings::CallSettings;
use crate::trace;

const SECRET: HeaderName = HeaderName::from_static(SECRET_HEADER);
const TRACE: HeaderName = HeaderName::from_static(trace::HEADER);
const DEADLINE: HeaderName = HeaderName::from_static(DEADLINE_HEADER);

/// HTTP/JSON.
pub(crate) struct Http;

/// The connections to one copy.
#[derive(Clone)]
pub(crate) struct Channel {
    pooled: reqwest::Client,
    /// Keeps no connections, so a second attempt cannot meet another one that is being closed.
    fresh: reqwest::Client,
    base: Url,
    secret: HeaderValue,
    counts: Arc<Counts>,
}

impl Wire for Http {
    type Channel = Channel;

    fn open(settings: &CallSettings, endpoint: &Endpoint) -> Result<Channel, CallError> {
        let base = match endpoint {
            Endpoint::Tcp(authority) => format!("http://{authority}"),
            Endpoint::Unix(_) => "http://localhost".to_owned(),
        };
        let mut secret =
            HeaderValue::from_str(settings.secret.expose_secret()).map_err(CallError::nonsense)?;
        secret.set_sensitive(true);
        Ok(Channel {
            pooled: client(settings, endpoint, settings.max_connections)?,
            fresh: client(settings, endpoint, 0)?,
            base: base.parse().map_err(CallError::unreachable)?,
            secret,
            counts: Arc::clone(&settings.counts),
        })
    }

    async fn send<M: Method>(
        channel: &Channel,
        request: M::Request,
        terms: Terms,
    ) -> Result<M::Response, Failure> {
        let request =
            encode::<M>(channel, &request, &terms).map_err(|error| Failure::new(Blame::None, error))?;
        let client = if terms.fresh {
            &channel.fresh
        } else {
            &channel.pooled
        };
        let response = client.execute(request).await.map_err(before_an_answer)?;
        read::<M>(response, &channel.counts).await
    }
}

/// Calls use no TLS. But where another crate of the build has turned it on in reqwest, a client that finds no provider of cryptography
/// panics.
fn provide_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // Another thread may be faster, which does as well.
        let _faster = ring::default_provider().install_default();
    }
}

fn client(settings: &CallSettings, endpoint: &Endpoint, idle: usize) -> Result<reqwest::Client, CallError> {
    provide_cryptography();
    let client = reqwest::Client::builder()
        .connect_timeout(settings.connect_timeout)
        .pool_idle_timeout(settings.idle_timeout)
        .pool_max_idle_per_host(idle)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .referer(false);
    let client = match endpoint {
        Endpoint::Tcp(_) => client,
        Endpoint::Unix(path) => client.unix_socket(path.as_path()),
    };
    client.build().map_err(CallError::unreachable)
}

fn encode<M: Method>(channel: &Channel, request: &M::Request, terms: &Terms) -> Result<Request, CallError> {
    let body = serde_json::to_vec(request).map_err(CallError::nonsense)?;
    if body.len() > REQUEST_BYTES {
        return Err(CallError::nonsense(format!("a request of {} bytes", body.len())));
    }
    channel.counts.sent::<M>(body.len());
    let mut url = channel.base.clone();
    url.set_path(M::HTTP);
    let mut request = Request::new(Verb::POST, url);
    head(request.headers_mut(), channel, terms);
    *request.body_mut() = Some(body.into());
    Ok(request)
}

fn head(headers: &mut HeaderMap, channel: &Channel, terms: &Terms) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(SECRET, channel.secret.clone());
    let left = u64::try_from(terms.left.as_millis()).unwrap_or(u64::MAX);
    headers.insert(DEADLINE, left.into());
    if let Some(Ok(trace)) = terms.trace.as_deref().map(HeaderValue::from_str) {
        headers.insert(TRACE, trace);
    }
}

/// reqwest knows of no answer. `hyper` tells an answer that is no HTTP from one that never came; a connection that closes inside the
/// head of an answer counts as the latter.
fn before_an_answer(error: reqwest::Error) -> Failure {
    let from_hyper = cause::<hyper::Error>(&error);
    if error.is_connect() {
        Failure::new(Blame::NoConnection, CallError::unreachable(error))
    } else if from_hyper.is_some_and(|error| error.is_parse() || error.is_parse_too_large()) {
        Failure::new(Blame::Copy, CallError::nonsense(error))
    } else {
        Failure::new(Blame::ClosedUnanswered, CallError::unreachable(error))
    }
}

async fn read<M: Method>(response: Response, counts: &Counts) -> Result<M::Response, Failure> {
    let status = response.status();
    if status != StatusCode::OK {
        return Err(refusal(status));
    }
    let broken = |cause| Failure::new(Blame::Copy, CallError::Nonsense(cause));
    let body = Limited::new(Body::from(response), ANSWER_BYTES).collect().await;
    let body = body.map_err(|error| broken(error.into()))?.to_bytes();
    counts.received::<M>(body.len());
    serde_json::from_slice(&body).map_err(|error| broken(Arc::new(error)))
}

/// What our own server means by a status. Anything else is somebody else's.
fn refusal(status: StatusCode) -> Failure {
    match status {
        StatusCode::UNAUTHORIZED => Failure::new(Blame::Copy, CallError::Refused),
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE => Failure::new(
            Blame::None,
            CallError::nonsense(format!("the peer answers {status}")),
        ),
        StatusCode::SERVICE_UNAVAILABLE => {
            Failure::new(Blame::None, CallError::failed("the peer says that it cannot"))
        }
        StatusCode::GATEWAY_TIMEOUT => Failure::new(Blame::None, CallError::TimedOut),
        _ => Failure::new(
            Blame::Copy,
            CallError::nonsense(format!("the peer answers {status}")),
        ),
    }
}
