//! An actix server with the limits that all our listeners share.

use std::io;
use std::num::NonZeroUsize;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::http::KeepAlive;
use actix_web::web::ServiceConfig;
use actix_web::{App, HttpServer};

use super::Listener;
use crate::settings::HttpArgs;

/// How long the rest of a refused request is read and thrown away, so that the client sees the answer rather
/// than a reset (fault B083). A client that reads nothing before it has sent everything needs it, on a slow line
/// for seconds; a stop has to wait for it.
pub const LINGER: Duration = Duration::from_secs(10);

/// Starts answering at the listener. `configure` makes one worker's application, in that worker's thread, whose
/// runtime its connections then belong to.
///
/// Signals are left to [`run`](super::run), which must be given the server: it does nothing before.
///
/// # Errors
/// What the system says about the listener.
pub fn serve<F>(
    listener: Listener,
    workers: NonZeroUsize,
    args: &HttpArgs,
    configure: F,
) -> io::Result<Server>
where
    F: Fn(&mut ServiceConfig) + Clone + Send + 'static,
{
    let server = HttpServer::new(move || App::new().configure(configure.clone()))
        .workers(workers.get())
        .keep_alive(KeepAlive::Timeout(args.http_keep_alive))
        .client_request_timeout(args.http_header_wait)
        .client_disconnect_timeout(LINGER)
        .shutdown_timeout(args.http_stop_wait.as_secs())
        .disable_signals();
    let server = match listener {
        Listener::Tcp(listener) => server.listen(listener)?,
        Listener::Unix(listener, _) => server.listen_uds(listener)?,
    };
    Ok(server.run())
}
