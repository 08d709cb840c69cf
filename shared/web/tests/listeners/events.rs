//! One event per request, as loud as what happened.

use std::io::{self, Write};
use std::sync::Mutex;

use actix_web::http::Method;
use tracing_subscriber::fmt::MakeWriter;

use super::*;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// What one request leaves in a log, without the time that it took.
async fn logged(configure: impl FnOnce(&mut ServiceConfig), request: TestRequest) -> String {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .without_time()
        .with_ansi(false)
        .with_target(false)
        .with_writer(lines.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    ask(configure, vec![request.insert_header(("x-request-id", "quoted"))]).await;
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let (before, after) = text.trim().split_once("duration_us=").unwrap();
    let (digits, after) = after.split_once(' ').unwrap();
    assert!(digits.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
    format!("{before}{after}")
}

#[actix_web::test]
async fn a_request_is_logged_once_by_its_pattern() {
    assert_eq!(
        logged(
            public(Says(Some(true))),
            TestRequest::with_uri("/docs/swagger-ui.css?secret=1")
        )
        .await,
        r#"INFO request method="GET" route="/docs/{asset}" status=200 request_id=quoted"#
    );
}

#[actix_web::test]
async fn a_fault_of_the_client_is_for_whoever_looks_for_it() {
    let request = TestRequest::with_uri("/docs").method(Method::PUT);
    assert_eq!(
        logged(public(Says(Some(true))), request).await,
        r#"DEBUG request method="PUT" route="/docs" status=405 request_id=quoted error=method not allowed"#
    );
}

#[actix_web::test]
async fn a_probe_is_quiet() {
    assert_eq!(
        logged(
            operations(Says(Some(true)), Metrics::default()),
            TestRequest::with_uri("/readyz")
        )
        .await,
        r#"DEBUG request method="GET" route="/readyz" status=200 request_id=quoted"#
    );
}
