//! What can be set in a service beyond what every process has.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use clap::{ArgAction, Args, CommandFactory, FromArgMatches};
use conduit_process::CommonArgs;
use conduit_rpc::settings::SERVER_KEEP_ALIVE;
use conduit_rpc::{CallSettings, Counts, PeerAddress, Peers, Secrets, Transport, connect};
use conduit_runtime::settings::{ListenOrOff, SettingsError, secret_text, strong_secret};
use secrecy::SecretString;

const SECRET: &str = "CONDUIT_INTERNAL_SECRET";
const PREVIOUS: &str = "CONDUIT_INTERNAL_SECRET_PREVIOUS";

/// The settings of a service.
#[derive(Args, Clone, Debug)]
pub struct ServiceArgs {
    /// What every process has.
    #[command(flatten)]
    pub common: CommonArgs,
    /// What peers may ask, and where.
    #[command(flatten)]
    pub internal: InternalArgs,
    /// How peers are asked.
    #[command(flatten)]
    pub rpc: RpcArgs,
}

/// The internal listeners.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Internal listeners (for the other services, never for the public)")]
pub struct InternalArgs {
    /// Where peers ask over HTTP: HOST:PORT, unix:/path, or off
    #[arg(
        long,
        env = "CONDUIT_INTERNAL_HTTP_LISTEN",
        value_name = "ADDRESS",
        default_value = "off"
    )]
    pub internal_http_listen: ListenOrOff,
    /// Where peers ask over gRPC: HOST:PORT, unix:/path, or off
    #[arg(
        long,
        env = "CONDUIT_INTERNAL_GRPC_LISTEN",
        value_name = "ADDRESS",
        default_value = "off"
    )]
    pub internal_grpc_listen: ListenOrOff,
    /// Secret that the services of a deployment share, at least 32 bytes
    #[arg(long, env = "CONDUIT_INTERNAL_SECRET", hide_env_values = true, value_name = "TEXT", value_parser = secret_text)]
    internal_secret: Option<SecretString>,
    /// File that holds the secret instead
    #[arg(long, env = "CONDUIT_INTERNAL_SECRET_FILE", value_name = "PATH")]
    internal_secret_file: Option<PathBuf>,
    /// Second secret that is accepted during a rotation
    #[arg(long, env = "CONDUIT_INTERNAL_SECRET_PREVIOUS", hide_env_values = true, value_name = "TEXT", value_parser = secret_text)]
    internal_secret_previous: Option<SecretString>,
    /// File that holds the second secret instead
    #[arg(long, env = "CONDUIT_INTERNAL_SECRET_PREVIOUS_FILE", value_name = "PATH")]
    internal_secret_previous_file: Option<PathBuf>,
    /// Let gRPC clients ask which services there are
    #[arg(long, env = "CONDUIT_INTERNAL_GRPC_REFLECTION", value_name = "BOOL", default_value = "false", action = ArgAction::Set)]
    pub internal_grpc_reflection: bool,
}

impl InternalArgs {
    /// The secrets, judged like every other.
    ///
    /// # Errors
    /// [`SettingsError`] where the first is missing, or one is weak or unreadable.
    pub fn secrets(&self) -> Result<Secrets, SettingsError> {
        let current = strong_secret(
            SECRET,
            self.internal_secret.as_ref(),
            self.internal_secret_file.as_deref(),
        )?;
        let previous = strong_secret(
            PREVIOUS,
            self.internal_secret_previous.as_ref(),
            self.internal_secret_previous_file.as_deref(),
        )?;
        let current = current.ok_or(SettingsError::Missing { name: SECRET })?;
        Ok(Secrets { current, previous })
    }
}

/// How a service asks its peers.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Calls to the other services")]
pub struct RpcArgs {
    /// How calls are carried: http or grpc
    #[arg(
        long,
        env = "CONDUIT_RPC_TRANSPORT",
        value_name = "TRANSPORT",
        default_value = "http"
    )]
    pub rpc_transport: Transport,
    /// Let look-ups that queue behind a call under way leave together as one
    #[arg(long, env = "CONDUIT_RPC_BATCHING", value_name = "BOOL", default_value = "true", action = ArgAction::Set)]
    pub rpc_batching: bool,
    /// Make a read once more, on a new connection, whose connection failed before any answer
    #[arg(long, env = "CONDUIT_RPC_RETRY", value_name = "BOOL", default_value = "true", action = ArgAction::Set)]
    pub rpc_retry: bool,
    /// Longest time for one call; the request's own deadline may shorten it
    #[arg(long, env = "CONDUIT_RPC_TIMEOUT", value_name = "DURATION", default_value = "2s", value_parser = humantime::parse_duration)]
    pub rpc_timeout: Duration,
    /// Longest time to connect to a peer
    #[arg(long, env = "CONDUIT_RPC_CONNECT_TIMEOUT", value_name = "DURATION", default_value = "500ms", value_parser = humantime::parse_duration)]
    pub rpc_connect_timeout: Duration,
    /// When an unused connection to a peer is given up; below 75s, which is how long a peer keeps it
    #[arg(long, env = "CONDUIT_RPC_IDLE", value_name = "DURATION", default_value = "30s", value_parser = humantime::parse_duration)]
    pub rpc_idle: Duration,
    /// Calls under way to one copy of a peer from one worker
    #[arg(
        long,
        env = "CONDUIT_RPC_CONNECTIONS",
        value_name = "COUNT",
        default_value = "64"
    )]
    pub rpc_connections: NonZeroUsize,
}

impl RpcArgs {
    /// The same as the clients take it.
    ///
    /// # Errors
    /// An idle time that is not below the peers' own.
    pub fn settings(&self, secret: SecretString, counts: Arc<Counts>) -> anyhow::Result<CallSettings> {
        ensure!(
            self.rpc_idle < SERVER_KEEP_ALIVE,
            "CONDUIT_RPC_IDLE must be below {SERVER_KEEP_ALIVE:?}: peers close a connection then, and a request could be under way"
        );
        Ok(CallSettings {
            call_timeout: self.rpc_timeout,
            connect_timeout: self.rpc_connect_timeout,
            idle_timeout: self.rpc_idle,
            max_connections: self.rpc_connections.get(),
            retry: self.rpc_retry,
            batching: self.rpc_batching,
            secret,
            counts,
        })
    }
}

/// The two addresses of one peer; the transport says which is used.
#[derive(Clone, Debug)]
pub struct Peering {
    /// Of its HTTP listener.
    pub http: PeerAddress,
    /// Of its gRPC listener.
    pub grpc: PeerAddress,
}

impl Peering {
    /// The peer at the address of this transport. Call it inside the worker's runtime.
    pub fn connect(&self, transport: Transport, settings: &CallSettings) -> Peers {
        let address = match transport {
            Transport::Http => &self.http,
            Transport::Grpc => &self.grpc,
        };
        connect(transport, address, settings)
    }
}

/// Where the users service is.
#[derive(Args, Clone, Debug)]
#[command(
    next_help_heading = "Where the other services are: http://host:port or unix:/path, several with commas, or dns:name:port"
)]
pub struct UsersPeer {
    /// Internal HTTP listener of users
    #[arg(
        long,
        env = "CONDUIT_RPC_USERS_HTTP",
        value_name = "ADDRESS",
        default_value = "http://127.0.0.1:3012"
    )]
    rpc_users_http: PeerAddress,
    /// Internal gRPC listener of users
    #[arg(
        long,
        env = "CONDUIT_RPC_USERS_GRPC",
        value_name = "ADDRESS",
        default_value = "http://127.0.0.1:3013"
    )]
    rpc_users_grpc: PeerAddress,
}

/// Where the profiles service is.
#[derive(Args, Clone, Debug)]
pub struct ProfilesPeer {
    /// Internal HTTP listener of profiles
    #[arg(
        long,
        env = "CONDUIT_RPC_PROFILES_HTTP",
        value_name = "ADDRESS",
        default_value = "http://127.0.0.1:3022"
    )]
    rpc_profiles_http: PeerAddress,
    /// Internal gRPC listener of profiles
    #[arg(
        long,
        env = "CONDUIT_RPC_PROFILES_GRPC",
        value_name = "ADDRESS",
        default_value = "http://127.0.0.1:3023"
    )]
    rpc_profiles_grpc: PeerAddress,
}

/// Where the articles service is.
#[derive(Args, Clone, Debug)]
pub struct ArticlesPeer {
    /// Internal HTTP listener of articles
    #[arg(
        long,
        env = "CONDUIT_RPC_ARTICLES_HTTP",
        value_name = "ADDRESS",
        default_value = "http://127.0.0.1:3032"
    )]
    rpc_articles_http: PeerAddress,
    /// Internal gRPC listener of articles
    #[arg(
        long,
        env = "CONDUIT_RPC_ARTICLES_GRPC",
        value_name = "ADDRESS",
        default_value = "http://127.0.0.1:3033"
    )]
    rpc_articles_grpc: PeerAddress,
}

impl From<UsersPeer> for Peering {
    fn from(args: UsersPeer) -> Self {
        Self {
            http: args.rpc_users_http,
            grpc: args.rpc_users_grpc,
        }
    }
}

impl From<ProfilesPeer> for Peering {
    fn from(args: ProfilesPeer) -> Self {
        Self {
            http: args.rpc_profiles_http,
            grpc: args.rpc_profiles_grpc,
        }
    }
}

impl From<ArticlesPeer> for Peering {
    fn from(args: ArticlesPeer) -> Self {
        Self {
            http: args.rpc_articles_http,
            grpc: args.rpc_articles_grpc,
        }
    }
}

/// Reads a service's command line. Each service has its own default ports: the public API at `port`, operations at the next one,
/// internal HTTP and internal gRPC at the two after that.
pub fn parse<S: CommandFactory + FromArgMatches>(port: u16) -> S {
    let address = |offset: u16| format!("127.0.0.1:{}", port + offset);
    let defaults = [
        ("http_listen", 0),
        ("ops_listen", 1),
        ("internal_http_listen", 2),
        ("internal_grpc_listen", 3),
    ];
    let command = defaults
        .into_iter()
        .fold(S::command(), |command, (name, offset)| {
            command.mut_arg(name, |arg| arg.default_value(address(offset)))
        });
    conduit_runtime::settings::parse(command)
}
