//! The two listeners as a process composes them, without any area: what every process has, and what it says of its requests.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod events;
mod operations;
mod public;
mod traces;

use std::sync::Arc;
use std::time::Duration;

use actix_web::test::{TestRequest, call_service, init_service, read_body};
use actix_web::web::ServiceConfig;
use actix_web::{App, dev::ServiceResponse};
use async_trait::async_trait;
use conduit_app::{Readiness, Tokens};
use conduit_domain::{Clock, Timestamp};
use conduit_web::{Api, Metrics, Operations};

const LONG: Duration = Duration::from_secs(60);

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000)
    }
}

/// Says this, or never anything.
struct Says(Option<bool>);

#[async_trait]
impl Readiness for Says {
    async fn ready(&self) -> bool {
        match self.0 {
            Some(ready) => ready,
            None => std::future::pending().await,
        }
    }
}

fn public(readiness: impl Readiness + 'static) -> impl FnOnce(&mut ServiceConfig) {
    let api = Api {
        tokens: Tokens::new(b"a secret of thirty-two bytes or more", &[], LONG).unwrap(),
        clock: Arc::new(Still),
        users: None,
        profiles: None,
        articles: None,
        comments: None,
        readiness: Arc::new(readiness),
        deadline: Duration::from_millis(50),
        metrics: Metrics::default(),
    };
    move |config| conduit_web::configure(config, api)
}

fn operations(readiness: Says, metrics: Metrics) -> impl FnOnce(&mut ServiceConfig) {
    let operations = Operations {
        readiness: Arc::new(readiness),
        deadline: Duration::from_millis(50),
        metrics,
    };
    move |config| conduit_web::operations(config, operations)
}

async fn ask(configure: impl FnOnce(&mut ServiceConfig), requests: Vec<TestRequest>) -> Vec<ServiceResponse> {
    let service = init_service(App::new().configure(configure)).await;
    let mut responses = Vec::new();
    for request in requests {
        responses.push(call_service(&service, request.to_request()).await);
    }
    responses
}

async fn get(configure: impl FnOnce(&mut ServiceConfig), path: &str) -> (u16, String, String) {
    let response = ask(configure, vec![TestRequest::with_uri(path)]).await.remove(0);
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    assert_eq!(headers.get("access-control-allow-origin").unwrap(), "*");
    let body = String::from_utf8(read_body(response).await.to_vec()).unwrap();
    (
        status,
        headers.get("content-type").unwrap().to_str().unwrap().to_owned(),
        body,
    )
}
