//! Hashing stands in nobody's way but that of those who want it (fault B068). The users service has the same code in this place.

use std::rc::Rc;
use std::sync::mpsc::channel;
use std::time::Duration;

use actix_web::rt::{System, spawn};
use conduit_app::PasswordStatus;
use tokio::runtime::Builder;
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::timeout;

use crate::app::{Application, TURNS, start};

const LOG_INS: usize = 64;
const ADA: &str = r#"{"user":{"username":"ada","email":"ada@example.test","password":"correct horse"}}"#;
const LOG_IN: &str = r#"{"user":{"email":"ada@example.test","password":"correct horse"}}"#;
/// Against tests that hang.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn while_every_turn_to_hash_is_taken_everything_else_is_answered() {
    // Where hashes are made there is one thread, which the test takes first.
    let runtime = || {
        let mut builder = Builder::new_current_thread();
        builder.enable_all().max_blocking_threads(1).build().unwrap()
    };
    System::with_tokio_rt(runtime).block_on(async {
        let app = Rc::new(start().await);
        assert_eq!(app.send("POST /api/users", None, ADA).await.status, 201);
        let (let_go, held) = channel::<()>();
        let holding = spawn_blocking(move || held.recv());
        let log_ins: Vec<_> = (0..LOG_INS).map(|_| spawn(log_in(Rc::clone(&app)))).collect();
        let all_wait = async {
            while app.passwords.status() != all_turns_taken() {
                yield_now().await;
            }
        };
        timeout(PATIENCE, all_wait).await.expect("they do not wait");

        for target in [
            "/api/tags",
            "/api/articles",
            "/api/profiles/ada",
            "/healthz",
            "/readyz",
        ] {
            assert_eq!(app.get(target, None).await.status, 200, "{target}");
        }
        assert_eq!(app.passwords.status(), all_turns_taken(), "somebody did not wait");
        let_go.send(()).unwrap();
        holding.await.unwrap().unwrap();
        for log_in in log_ins {
            assert_eq!(log_in.await.unwrap(), 200);
        }
    });
}

/// One password was hashed before, at registration.
fn all_turns_taken() -> PasswordStatus {
    PasswordStatus {
        at_once: TURNS,
        free: 0,
        waiting: LOG_INS - TURNS,
        hashed: 1,
    }
}

async fn log_in(app: Rc<Application>) -> u16 {
    app.send("POST /api/users/login", None, LOG_IN).await.status
}
