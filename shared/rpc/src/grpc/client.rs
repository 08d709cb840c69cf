//! The calling end: one connection to each copy, shared by all calls of a worker.

use std::error::Error as _;
use std::sync::Arc;

use http::uri::PathAndQuery;
use prost::Message as _;
use secrecy::ExposeSecret;
use tonic::client::Grpc as Unary;
use tonic::metadata::{Ascii, AsciiMetadataKey, MetadataValue};
use tonic::transport::{self, Endpoint as Target};
use tonic::{Code, ConnectError, Request, Status, TimeoutExpired};
use tonic_prost::ProstCodec;

use crate::address::Endpoint;
use crate::client::{Blame, Failure, Terms, Wire};
use crate::counts::Counts;
use crate::error::{CallError, cause};
use crate::limits::{ANSWER_BYTES, REQUEST_BYTES};
use crate::methods::Method;
use crate::serve::SECRET_HEADER;
use crate::settings::CallSettings;
use crate::trace;

/// A connection is asked whether it is alive every so many connect time-outs, and given up when it has been silent for one more. So a
/// peer that vanishes without a word is noticed after 2.5 s by default, also while nobody calls.
const PING_EVERY: u32 = 4;
/// What a peer may send before it is told to go on. The default of 64 KiB makes a long answer wait for it many times.
const WINDOW: u32 = 1 << 20;

/// gRPC.
pub(crate) struct Grpc;

/// The connection to one copy.
#[derive(Clone)]
pub(crate) struct Channel {
    channel: transport::Channel,
    secret: MetadataValue<Ascii>,
    counts: Arc<Counts>,
}

impl Wire for Grpc {
    type Channel = Channel;

    fn open(settings: &CallSettings, endpoint: &Endpoint) -> Result<Channel, CallError> {
        let target = Target::from_shared(endpoint.to_string()).map_err(CallError::unreachable)?;
        let channel = target
            .connect_timeout(settings.connect_timeout)
            .http2_keep_alive_interval(settings.connect_timeout * PING_EVERY)
            .keep_alive_timeout(settings.connect_timeout)
            .keep_alive_while_idle(true)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .connect_lazy();
        let mut secret: MetadataValue<Ascii> = settings
            .secret
            .expose_secret()
            .parse()
            .map_err(CallError::nonsense)?;
        secret.set_sensitive(true);
        Ok(Channel {
            channel,
            secret,
            counts: Arc::clone(&settings.counts),
        })
    }

    /// There is one connection, and a closed one is never used again, so every attempt is on a fresh one where it matters.
    async fn send<M: Method>(
        channel: &Channel,
        request: M::Request,
        terms: Terms,
    ) -> Result<M::Response, Failure> {
        let mut unary = Unary::new(channel.channel.clone())
            .max_decoding_message_size(ANSWER_BYTES)
            .max_encoding_message_size(REQUEST_BYTES);
        unary
            .ready()
            .await
            .map_err(|error| before_an_answer(Status::from_error(error.into())))?;
        channel.counts.sent::<M>(request.encoded_len());
        let mut request = Request::new(request);
        request.set_timeout(terms.left);
        request.metadata_mut().insert(
            AsciiMetadataKey::from_static(SECRET_HEADER),
            channel.secret.clone(),
        );
        if let Some(Ok(trace)) = terms.trace.map(|trace| trace.parse()) {
            request
                .metadata_mut()
                .insert(AsciiMetadataKey::from_static(trace::HEADER), trace);
        }
        let codec = ProstCodec::<M::Request, M::Response>::default();
        let path = PathAndQuery::from_static(M::GRPC);
        // Read as a stream, so that an answer that breaks off is told from one that never began.
        let answer = unary
            .server_streaming(request, path, codec)
            .await
            .map_err(before_an_answer)?;
        let mut answer = answer.into_inner();
        let message = answer.message().await.map_err(within_an_answer)?;
        answer.trailers().await.map_err(within_an_answer)?;
        let message = message
            .ok_or_else(|| Failure::new(Blame::Copy, CallError::nonsense("no message in the answer")))?;
        channel.counts.received::<M>(message.encoded_len());
        Ok(message)
    }
}

/// Before the first byte. A status with a cause is made at this end, one without comes from the peer.
fn before_an_answer(status: Status) -> Failure {
    if cause::<TimeoutExpired>(&status).is_some() {
        return Failure::new(Blame::None, CallError::TimedOut);
    }
    if cause::<ConnectError>(&status).is_some() {
        return Failure::new(Blame::NoConnection, CallError::unreachable(status));
    }
    if cause::<h2::Error>(&status).is_some_and(is_no_http2) {
        return Failure::new(Blame::Copy, CallError::nonsense(status));
    }
    if status.source().is_some() {
        return Failure::new(Blame::ClosedUnanswered, CallError::unreachable(status));
    }
    said_by_the_peer(status)
}

/// After the first byte.
fn within_an_answer(status: Status) -> Failure {
    if cause::<TimeoutExpired>(&status).is_some() {
        return Failure::new(Blame::None, CallError::TimedOut);
    }
    if status.source().is_some() {
        return Failure::new(Blame::Copy, CallError::nonsense(status));
    }
    said_by_the_peer(status)
}

/// The other end does not speak HTTP/2: it is this end that ends the connection.
fn is_no_http2(error: &h2::Error) -> bool {
    error.is_library() && !error.is_io()
}

/// What our own server means by a code. The others are made by tonic of what it cannot read, or by somebody else.
fn said_by_the_peer(status: Status) -> Failure {
    match status.code() {
        Code::Unauthenticated => Failure::new(Blame::Copy, CallError::Refused),
        Code::DeadlineExceeded => Failure::new(Blame::None, CallError::TimedOut),
        Code::Unavailable => Failure::new(Blame::None, CallError::failed(status)),
        Code::InvalidArgument | Code::ResourceExhausted => {
            Failure::new(Blame::None, CallError::nonsense(status))
        }
        _ => Failure::new(Blame::Copy, CallError::nonsense(status)),
    }
}
