//! Reads may be sent twice, writes never once sent (faults B110, B123).

use stack::nginx::Topology;

use crate::support::{Answer, Front, Manner, Service, monoliths, nobody, program};

const WRITES: [&str; 4] = ["POST", "PUT", "DELETE", "PATCH"];

/// Asks the first of two copies, then, if nginx likes, the second. Fresh ones each time: a copy that failed is left out for a while.
fn ask_first(method: &str, manner: Manner) -> Option<(Answer, usize, usize)> {
    let (first, second) = (
        Service::start("first", manner),
        Service::start("second", Manner::Answers),
    );
    let copies = monoliths(&[&first.address, &second.address]);
    let front = Front::start(&program()?, Topology::Replicas, copies, |_| {});
    let answer = front.ask(method, "/api/articles");
    Some((answer, first.asked().len(), second.asked().len()))
}

#[test]
fn a_read_is_sent_again_when_a_copy_breaks_off() {
    for method in ["GET", "HEAD", "OPTIONS"] {
        let Some((answer, first, second)) = ask_first(method, Manner::BreaksOff) else {
            return;
        };
        assert_eq!((answer.status, first, second), (200, 1, 1), "{method}");
    }
}

#[test]
fn a_write_that_was_sent_is_not_sent_again() {
    for method in WRITES {
        let Some((answer, first, second)) = ask_first(method, Manner::BreaksOff) else {
            return;
        };
        assert_eq!((answer.status, first, second), (503, 1, 0), "{method}");
    }
}

#[test]
fn a_write_that_is_not_answered_is_not_sent_again() {
    for method in ["POST", "PUT"] {
        let Some((answer, first, second)) = ask_first(method, Manner::IsSilent) else {
            return;
        };
        assert_eq!((answer.status, first, second), (503, 1, 0), "{method}");
    }
}

#[test]
fn whatever_could_not_be_sent_goes_to_another_copy() {
    let Some(program) = program() else { return };
    for method in WRITES.into_iter().chain(["GET"]) {
        let living = Service::start("living", Manner::Answers);
        let front = Front::start(
            &program,
            Topology::Replicas,
            monoliths(&[&nobody(), &living.address]),
            |_| {},
        );
        for _ in 0..4 {
            assert_eq!(front.ask(method, "/api/articles").status, 200, "{method}");
        }
        let asked = living.asked();
        assert_eq!(asked.len(), 4);
        let body: &[u8] = if matches!(method, "POST" | "PUT") {
            b"{}"
        } else {
            b""
        };
        assert!(
            asked.iter().all(|asked| asked.body == body),
            "{method} lost its body"
        );
    }
}

#[test]
fn a_copy_that_is_taken_out_gets_nothing() {
    let Some(program) = program() else { return };
    let (out, rest) = (
        Service::start("out", Manner::Answers),
        Service::start("rest", Manner::Answers),
    );
    let mut copies = monoliths(&[&out.address, &rest.address]);
    copies.get_mut("monolith").unwrap()[0].down = true;
    let front = Front::start(&program, Topology::Replicas, copies, |_| {});
    for method in ["GET", "PUT", "POST", "GET"] {
        assert_eq!(front.ask(method, "/").body, "rest");
    }
    assert!(out.asked().is_empty());
}
