//! One server with several listeners on the same workers.
//!
//! actix-web's own server gives every listener the same application; this one goes a layer down and gives each its own.

use std::fmt::Debug;
use std::future::ready;
use std::io;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::Duration;

use actix_http::body::BoxBody;
use actix_http::{HttpServiceBuilder, KeepAlive, Protocol, Request, Response};
use actix_server::{GracefulShutdownSignal, Server, ServerBuilder};
use actix_service::{IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::App;
use actix_web::dev::AppConfig;
use actix_web::web::ServiceConfig;
use conduit_rpc::deadline;
use conduit_rpc::grpc::server::{Io, Routes, serve_connection};
use conduit_runtime::process::{LINGER, Listener};
use conduit_runtime::settings::HttpArgs;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::Instant;

/// What every HTTP connection is bound by.
#[derive(Clone)]
struct Limits {
    keep_alive: Duration,
    header_wait: Duration,
    shutdown: GracefulShutdownSignal,
}

impl Limits {
    fn builder<T, S>(&self) -> HttpServiceBuilder<T, S>
    where
        S: ServiceFactory<Request, Config = ()>,
        S::Error: Into<Response<BoxBody>> + 'static,
        S::InitError: Debug,
        <S::Service as Service<Request>>::Future: 'static,
    {
        let shutdown = self.shutdown.clone();
        HttpServiceBuilder::default()
            .graceful_shutdown_signal(move || {
                let shutdown = shutdown.clone();
                async move { shutdown.notified().await }
            })
            .keep_alive(KeepAlive::Timeout(self.keep_alive))
            .client_request_timeout(self.header_wait)
            .client_disconnect_timeout(LINGER)
    }
}

/// A server under construction.
pub(crate) struct Listeners {
    builder: ServerBuilder,
    shutdown: GracefulShutdownSignal,
    keep_alive: Duration,
    header_wait: Duration,
}

impl Listeners {
    pub(crate) fn new(workers: NonZeroUsize, http: &HttpArgs) -> Self {
        let builder = Server::build()
            .workers(workers.get())
            .shutdown_timeout(http.http_stop_wait.as_secs())
            .disable_signals();
        Self {
            shutdown: builder.graceful_shutdown_signal(),
            builder,
            keep_alive: http.http_keep_alive,
            header_wait: http.http_header_wait,
        }
    }

    /// Adds an HTTP listener. `configure` makes one worker's application, in that worker's thread; each request is given `limit`
    /// as the deadline that its calls to peers carry on.
    pub(crate) fn http<F>(
        mut self,
        name: &str,
        listener: Listener,
        limit: Duration,
        configure: F,
    ) -> io::Result<Self>
    where
        F: Fn(&mut ServiceConfig) + Clone + Send + 'static,
    {
        let limits = Limits {
            keep_alive: self.keep_alive,
            header_wait: self.header_wait,
            shutdown: self.shutdown.clone(),
        };
        let app = move || {
            let app = App::new()
                .configure(configure.clone())
                .wrap_fn(move |request, next| {
                    let call = next.call(request);
                    deadline::scope(Instant::now() + limit, call)
                });
            let app = app
                .into_factory()
                .map_err(|error: actix_web::Error| error.error_response());
            map_config(app, |()| AppConfig::default())
        };
        self.builder = match listener {
            Listener::Tcp(listener) => self.builder.listen(name, listener, move || {
                limits.builder::<TcpStream, _>().finish(app()).tcp()
            })?,
            Listener::Unix(listener, _) => self.builder.listen_uds(name, listener, move || {
                fn_service(|io: UnixStream| ready(Ok((io, Protocol::Http1, None))))
                    .and_then(limits.builder::<UnixStream, _>().finish(app()))
            })?,
        };
        Ok(self)
    }

    /// Adds a gRPC listener. `routes` gives one worker's routes, in that worker's thread.
    pub(crate) fn grpc<F>(mut self, name: &str, listener: Listener, routes: F) -> io::Result<Self>
    where
        F: Fn() -> Rc<Routes> + Clone + Send + 'static,
    {
        let shutdown = self.shutdown.clone();
        self.builder = match listener {
            Listener::Tcp(listener) => self.builder.listen(name, listener, move || {
                let (routes, shutdown) = (routes(), shutdown.clone());
                fn_service(move |io: TcpStream| answer(io, Rc::clone(&routes), shutdown.clone()))
            })?,
            Listener::Unix(listener, _) => self.builder.listen_uds(name, listener, move || {
                let (routes, shutdown) = (routes(), shutdown.clone());
                fn_service(move |io: UnixStream| answer(io, Rc::clone(&routes), shutdown.clone()))
            })?,
        };
        Ok(self)
    }

    /// The server; it does nothing before it is run.
    pub(crate) fn run(self) -> Server {
        self.builder.run()
    }
}

async fn answer(io: impl Io, routes: Rc<Routes>, shutdown: GracefulShutdownSignal) -> Result<(), io::Error> {
    serve_connection(
        io,
        Routes::clone(&routes),
        async move { shutdown.notified().await },
    )
    .await;
    Ok(())
}
