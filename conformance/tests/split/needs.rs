//! What becomes of every route while one service is away, and afterwards.

use std::time::{Duration, Instant};

use conduit_testkit::TestDatabase;
use conformance::http::{Request, Response};
use conformance::mask;
use conformance::target::RouteTable;

use super::table::{Calls, Row};
use super::world::World;

pub(crate) const UNAVAILABLE: &str = r#"{"errors":{"server":["is unavailable"]}}"#;
/// Of every answer in JSON.
const STEADY_HEADERS: [&str; 2] = [
    "access-control-allow-origin: *",
    "content-type: application/json; charset=utf-8",
];
/// Against tests that hang: a peer is tried again after seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// What requests add to and take from, here in one row each.
const COUNTED: &str = "select count(*) from users.accounts union all select count(*) from profiles.follows \
     union all select count(*) from articles.articles union all select count(*) from articles.favorites \
     union all select count(*) from comments.comments";

/// A request, and who asks it of whom.
pub(crate) struct Asked {
    what: String,
    request: Request,
    is_needed: bool,
    /// Refused for want of a token, whoever is away.
    is_signed_in: bool,
}

/// Asks everything that another service answers. Whoever needs the one that is away is refused in the contract's words and has
/// changed nothing; everybody else is answered as ever, meanwhile too. Returns what was refused.
pub(crate) async fn without(
    away: &str,
    database: &TestDatabase,
    world: &mut World,
    rows: &[Row],
) -> Vec<Asked> {
    let asked = questions(away, world, rows);
    let (changes, rest): (Vec<_>, Vec<_>) = asked
        .into_iter()
        .partition(|one| !one.is_needed && !one.request.is_read());
    for one in changes {
        one.is_as_usual(&world.ask(one.request.clone()).await);
    }
    nothing_changes(&rest, database, world).await;
    rest.into_iter().filter(|one| one.is_needed).collect()
}

/// As [`without`], and asks only what is refused.
pub(crate) async fn refused_without(
    away: &str,
    database: &TestDatabase,
    world: &mut World,
    rows: &[Row],
) -> Vec<Asked> {
    let mut asked = questions(away, world, rows);
    asked.retain(|one| one.is_needed);
    nothing_changes(&asked, database, world).await;
    asked
}

/// All at once; only reads are answered.
async fn nothing_changes(asked: &[Asked], database: &TestDatabase, world: &World) {
    let mut session = database.session().await;
    let before = session.numbers(COUNTED).await;
    let requests = asked.iter().map(|one| one.request.clone()).collect();
    for (one, answer) in asked.iter().zip(world.ask_at_once(requests).await) {
        match one.is_needed {
            true => one.is_refused(&answer),
            false => one.is_as_usual(&answer),
        }
    }
    let after = session.numbers(COUNTED).await;
    assert_eq!(
        after,
        before,
        "half done: {:?}",
        asked.first().map(|one| &one.what)
    );
}

fn questions(away: &str, world: &mut World, rows: &[Row]) -> Vec<Asked> {
    let table = RouteTable::built_in().unwrap();
    let mut asked = Vec::new();
    for row in rows {
        for (who, planned) in row.calls.iter().enumerate() {
            let request = world.request(&row.route, who);
            if table.service(&request.target) != away {
                asked.push(Asked {
                    what: format!("{}, viewer {who}, without {away}", row.route),
                    request,
                    is_needed: needs(planned.as_ref(), away),
                    is_signed_in: planned.is_some(),
                });
            }
        }
    }
    asked
}

fn needs(planned: Option<&Calls>, service: &str) -> bool {
    let prefix = format!("{service}.");
    planned.is_some_and(|calls| calls.keys().any(|name| name.starts_with(&prefix)))
}

impl Asked {
    /// 503, and not a word more than the contract has.
    fn is_refused(&self, answer: &Response) {
        assert_eq!(answer.status, 503, "{}: {}", self.what, answer.text());
        if self.request.target != "/readyz" {
            assert_eq!(answer.text(), UNAVAILABLE, "{}", self.what);
        }
        assert_eq!(mask::headers(&answer.headers), STEADY_HEADERS, "{}", self.what);
    }

    /// Once more, while it is still refused.
    pub(crate) async fn is_still_refused(&self, world: &World) {
        self.is_refused(&world.ask(self.request.clone()).await);
    }

    fn is_as_usual(&self, answer: &Response) {
        as_usual(&self.what, self.is_signed_in, answer);
    }

    /// The caller needs nobody's help to find its peer again.
    pub(crate) async fn recovers(&self, world: &World) {
        let start = Instant::now();
        loop {
            let answer = world.ask(self.request.clone()).await;
            if answer.status != 503 {
                return self.is_as_usual(&answer);
            }
            assert!(start.elapsed() < PATIENCE, "{}: it does not recover", self.what);
        }
    }
}

/// What a route says where nothing is wrong.
pub(crate) fn as_usual(what: &str, is_signed_in: bool, answer: &Response) {
    match is_signed_in {
        true => assert!(
            (200..300).contains(&answer.status),
            "{what}: {} {}",
            answer.status,
            answer.text()
        ),
        false => assert_eq!(answer.status, 401, "{what}"),
    }
}
