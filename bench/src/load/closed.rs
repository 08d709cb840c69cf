//! A closed loop: so many connections, each asking again as soon as it is answered.

use std::rc::Rc;

use tokio::time::Instant;

use super::client::Client;
use super::session::Session;
use super::tally::Tally;

/// One of the connections, until nothing becomes due any more.
pub(super) async fn run(mut session: Session, mut client: Client, tally: Rc<Tally>) {
    loop {
        let due = Instant::now();
        if due >= tally.until() {
            break;
        }
        one(&mut session, &mut client, &tally, due).await;
    }
    tidy(&mut session, &mut client).await;
}

/// One request.
pub(super) async fn one(session: &mut Session, client: &mut Client, tally: &Tally, due: Instant) {
    let request = session.next();
    let answer = client.ask(&request).await;
    tally.answered(request.route, due, &answer);
    session.answered(&request, &answer);
}

/// Takes back what the session would have taken back itself.
pub(super) async fn tidy(session: &mut Session, client: &mut Client) {
    while let Some(request) = session.rest() {
        let _ = client.ask(&request).await;
    }
}
