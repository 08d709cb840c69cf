//! Arrivals at a fixed rate, whether or not earlier ones are answered.
//!
//! Latencies count from when a request was due, so a server that stalls shows the waiting of all who came meanwhile. An arrival
//! that finds all connections busy waits in line; when the line is as long as there are connections, it is dropped.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::client::Client;
use super::closed::tidy;
use super::session::Session;
use super::tally::Tally;
use super::timer::Timer;

/// Who waits to be sent.
#[derive(Default)]
struct Line {
    due: RefCell<VecDeque<Instant>>,
    news: Notify,
    idle: Cell<usize>,
    over: Cell<bool>,
}

/// How arrivals come.
pub(super) struct Arrivals {
    pub(super) first: Instant,
    pub(super) distance: Duration,
    /// Connections at most; also how long the line may be.
    pub(super) connections: usize,
    /// How long an arrival waits and is answered, both together.
    pub(super) timeout: Duration,
}

/// Lets arrivals come until the end; returns when all are answered.
pub(super) async fn run(
    arrivals: Arrivals,
    tally: Rc<Tally>,
    mut open: impl FnMut() -> (Session, Client),
) -> Result<()> {
    let line = Rc::new(Line::default());
    let mut senders = JoinSet::new();
    let timer = Timer::new()?;
    let mut due = arrivals.first;
    while due < tally.until() {
        timer.until(due).await?;
        let now = Instant::now();
        while due <= now && due < tally.until() {
            tally.noticed(due);
            line.arrive(due, arrivals.connections, &tally);
            due += arrivals.distance;
        }
        while line.is_short_of_senders() && senders.len() < arrivals.connections {
            let (session, client) = open();
            let (line, tally) = (Rc::clone(&line), Rc::clone(&tally));
            line.idle.set(line.idle.get() + 1);
            senders.spawn_local(send(line, tally, session, client, arrivals.timeout));
        }
    }
    line.over.set(true);
    line.news.notify_waiters();
    while senders.join_next().await.is_some() {}
    Ok(())
}

impl Line {
    fn arrive(&self, due: Instant, longest: usize, tally: &Tally) {
        let mut line = self.due.borrow_mut();
        // Those for whom somebody is idle only seem to wait.
        if line.len() >= longest + self.idle.get() {
            return tally.dropped(due);
        }
        line.push_back(due);
        self.news.notify_one();
    }

    fn is_short_of_senders(&self) -> bool {
        self.due.borrow().len() > self.idle.get()
    }

    /// The next in line; none when there will be none.
    async fn next(&self) -> Option<Instant> {
        loop {
            let news = self.news.notified();
            if let Some(due) = self.due.borrow_mut().pop_front() {
                return Some(due);
            }
            if self.over.get() {
                return None;
            }
            news.await;
        }
    }
}

async fn send(line: Rc<Line>, tally: Rc<Tally>, mut session: Session, mut client: Client, timeout: Duration) {
    while let Some(due) = line.next().await {
        line.idle.set(line.idle.get().saturating_sub(1));
        let left = timeout.saturating_sub(due.elapsed());
        if left.is_zero() {
            tally.overdue(due);
        } else {
            let request = session.next();
            let answer = client.send(&request, left).await;
            tally.answered(request.route, due, &answer);
            session.answered(&request, &answer);
        }
        line.idle.set(line.idle.get() + 1);
    }
    tidy(&mut session, &mut client).await;
}
