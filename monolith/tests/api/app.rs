//! The monolith's parts on a database of their own, in this process and without a socket.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::App;
use actix_web::dev::ServiceResponse;
use actix_web::http::Method;
use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::test::{TestRequest, call_service, init_service, read_body};
use async_trait::async_trait;
use conduit_app::{Articles, Comments, PasswordSettings, Passwords, Profiles, Readiness, Tokens, Users};
use conduit_domain::{AccountId, Clock};
use conduit_store::db::Db;
use conduit_store::{ArticleStore, CommentStore, ProfileStore, UserStore};
use conduit_testkit::{FixedClock, TestDatabase};
use conduit_web::{Api, Metrics};
use monolith::reads::Joined;

/// What the clock shows.
pub(crate) const NOW: &str = "2026-01-02T03:04:05.678Z";

/// Passwords that may be hashed at the same time.
pub(crate) const TURNS: usize = 2;

const LONG: Duration = Duration::from_secs(60);

type Answered = Pin<Box<dyn Future<Output = ServiceResponse>>>;

pub(crate) struct Application {
    pub(crate) database: TestDatabase,
    pub(crate) passwords: Passwords,
    answer: Box<dyn Fn(TestRequest) -> Answered>,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

struct Ready(bool);

#[async_trait]
impl Readiness for Ready {
    async fn ready(&self) -> bool {
        self.0
    }
}

pub(crate) fn tokens() -> Tokens {
    Tokens::new(b"a secret of thirty-two bytes or more", &[], LONG).unwrap()
}

/// What the application issues to an account at this moment.
pub(crate) fn token(account: AccountId) -> String {
    tokens().issue(account, FixedClock::default().now()).unwrap()
}

pub(crate) async fn start() -> Application {
    let database = TestDatabase::new().await;
    let passwords = Passwords::new(PasswordSettings {
        memory_kib: 64,
        passes: 1,
        at_once: TURNS,
        longest_wait: LONG,
    })
    .unwrap();
    let api = api(&database.db("monolith"), passwords.clone());
    let service =
        Rc::new(init_service(App::new().configure(|config| conduit_web::configure(config, api))).await);
    let answer = move |request: TestRequest| -> Answered {
        let service = Rc::clone(&service);
        Box::pin(async move { call_service(&*service, request.to_request()).await })
    };
    Application {
        database,
        passwords,
        answer: Box::new(answer),
    }
}

fn api(db: &Db, passwords: Passwords) -> Api {
    let joined = Arc::new(Joined::new(db.clone()));
    let clock: Arc<dyn Clock> = Arc::new(FixedClock::default());
    let users = Users::new(
        UserStore::new(db.clone()),
        passwords,
        tokens(),
        Arc::clone(&clock),
    );
    Api {
        tokens: tokens(),
        users: Some(users),
        profiles: Some(Profiles::new(joined.clone(), ProfileStore::new(db.clone()))),
        articles: Some(Articles::new(
            joined.clone(),
            ArticleStore::new(db.clone()),
            Arc::clone(&clock),
        )),
        comments: Some(Comments::new(
            joined,
            CommentStore::new(db.clone()),
            Arc::clone(&clock),
        )),
        clock,
        readiness: Arc::new(Ready(true)),
        deadline: LONG,
        metrics: Metrics::default(),
    }
}

impl Application {
    /// One request. Every answer is checked for what all of them carry.
    pub(crate) async fn send(&self, line: &str, caller: Option<AccountId>, body: &str) -> Reply {
        let (method, target) = line.split_once(' ').unwrap();
        let mut request =
            TestRequest::with_uri(target).method(Method::from_bytes(method.as_bytes()).unwrap());
        if let Some(caller) = caller {
            request = request.insert_header(("authorization", format!("Token {}", token(caller))));
        }
        let response = (self.answer)(request.set_payload(body.to_owned())).await;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = String::from_utf8(read_body(response).await.to_vec()).unwrap();
        let reply = Reply {
            status,
            headers,
            body,
        };
        reply.check();
        reply
    }

    pub(crate) async fn get(&self, target: &str, caller: Option<AccountId>) -> Reply {
        self.send(&format!("GET {target}"), caller, "").await
    }

    /// Sends and compares status and body.
    pub(crate) async fn expect(
        &self,
        line: &str,
        caller: Option<AccountId>,
        body: &str,
        status: u16,
        shown: &str,
    ) {
        let reply = self.send(line, caller, body).await;
        assert_eq!(
            (reply.status, reply.body.as_str()),
            (status, shown),
            "{line} {body}"
        );
    }
}

impl Reply {
    pub(crate) fn header(&self, name: &'static str) -> Option<&str> {
        self.headers
            .get(HeaderName::from_static(name))
            .map(|value| value.to_str().unwrap())
    }

    fn check(&self) {
        assert_eq!(self.header("access-control-allow-origin"), Some("*"));
        let json = (!self.body.is_empty()).then_some("application/json; charset=utf-8");
        assert_eq!(self.header("content-type"), json, "{}", self.body);
        assert_eq!(
            self.header("www-authenticate"),
            (self.status == 401).then_some("Token"),
            "{}",
            self.body
        );
    }
}

/// `{"errors":{"<key>":["<message>"]}}`
pub(crate) fn error(key: &str, message: &str) -> String {
    format!(r#"{{"errors":{{"{key}":["{message}"]}}}}"#)
}
