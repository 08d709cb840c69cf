//! nginx sends a write once, whatever becomes of it (fault B123): delayed past all time-outs, or with its copy killed half-way.

use boxes::Deployment;
use conformance::arrange::article_path;
use conformance::ctx::Run;
use serde_json::{Value, json};
use stack::Program;

use crate::support::{Psql, ask, client, down, namespaces, run, two_monoliths, unavailable, until, up};

/// A statement that waits for a lock: of a request that is under way.
const WAITING: &str =
    "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and usename = 'conduit_monolith'";

#[tokio::test(flavor = "multi_thread")]
async fn a_write_happens_at_most_once() {
    let Some(mut deployment) = up(&two_monoliths()).await else {
        return;
    };
    let ctx = client(&deployment, "once");
    let ann = ctx.register().await.unwrap();
    let slug = ctx.publish(&ann, &[]).await.unwrap().slug;
    let run = run(&deployment);
    for killed in [false, true] {
        let (title, text, name) = (ctx.x(), ctx.x(), ctx.x());
        let email = format!("{name}@example.test");
        let writes = [
            Write {
                target: "/api/articles".to_owned(),
                body: json!({"article": {"title": title, "description": "d", "body": "b"}}),
                row: ("articles.articles", "title", title),
            },
            Write {
                target: format!("{}/comments", article_path(&slug)),
                body: json!({"comment": {"body": text}}),
                row: ("comments.comments", "body", text),
            },
            Write {
                target: "/api/users".to_owned(),
                body: json!({"user": {"username": name, "email": email, "password": "a password"}}),
                row: ("users.accounts", "username", name),
            },
        ];
        for write in writes {
            delayed(&mut deployment, &run, &ann.token, write, killed).await;
        }
    }
    down(deployment).await;
}

/// A request, and what it makes: table, column, value.
struct Write {
    target: String,
    body: Value,
    row: (&'static str, &'static str, String),
}

/// Sends the write while the table is locked against writes, until the client has its answer; then the lock goes.
async fn delayed(deployment: &mut Deployment, run: &Run, token: &str, write: Write, killed: bool) {
    let (table, column, value) = write.row;
    let (mut holder, mut looker) = (Psql::open(deployment), Psql::open(deployment));
    holder.ask(&format!("begin; lock table {table} in exclusive mode"));
    let (run, token) = (run.clone(), token.to_owned());
    let call =
        tokio::spawn(async move { ask(&run, "POST", &write.target, Some(&token), Some(write.body)).await });
    until("the write does not arrive", async || looker.number(WAITING) > 0).await;
    assert_eq!(looker.number(WAITING), 1, "the write was sent twice");
    if killed {
        kill_whoever_waits(deployment, &mut looker);
    }
    assert_eq!(call.await.unwrap(), unavailable(), "{table}");
    assert!(looker.number(WAITING) <= 1, "the write was sent twice");
    holder.ask("rollback");
    until("the statement does not end", async || looker.number(WAITING) == 0).await;
    let rows = looker.number(&format!(
        "select count(*) from {table} where {column} = '{value}'"
    ));
    assert!(rows <= 1, "{rows} rows in {table}");
    if killed {
        deployment
            .rolling_restart(Program::Monolith, false)
            .await
            .unwrap();
    }
}

/// The copy whose session waits, by the address that the session comes from.
fn kill_whoever_waits(deployment: &mut Deployment, looker: &mut Psql) {
    let waiting = WAITING.replace("count(*)", "host(client_addr)");
    let address = looker.ask(&waiting).remove(0);
    let unit = deployment
        .running()
        .values()
        .map(boxes::deployment::Running::unit)
        .find(|unit| unit.address.to_string() == address);
    let name = unit.unwrap().name.clone();
    namespaces(deployment).kill(&name).unwrap();
}
