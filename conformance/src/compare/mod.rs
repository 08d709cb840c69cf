//! Two logs of the same program, held against each other answer by answer.

mod chance;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::curl;
use crate::failure::{first_difference, shown};
use crate::http::Response;
use crate::log::{Certainty, Exchange, Step};
use crate::mask::{self, Cover, Ids, Masked};

/// Something that is not the same on both sides.
#[derive(Clone, Debug)]
pub struct Difference {
    /// What differs.
    pub what: String,
    /// The left exchange.
    pub left: Arc<Exchange>,
    /// The right exchange.
    pub right: Arc<Exchange>,
    /// The differing texts, volatile values covered.
    pub texts: Option<(Vec<u8>, Vec<u8>)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.what)?;
        writeln!(f, "  left:  {}", curl::line(&self.left))?;
        write!(f, "  right: {}", curl::line(&self.right))?;
        if let Some((left, right)) = &self.texts {
            write!(f, "\n  left:  {}", shown(left))?;
            write!(f, "\n  right: {}", shown(right))?;
            write!(f, "\n  {}", first_difference(left, right))?;
        }
        Ok(())
    }
}

/// What a comparison found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// How many answers were compared.
    pub answers: usize,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// Compares two deployments, one pair of answers after the other.
#[derive(Debug)]
pub struct Comparer {
    left: Ids,
    right: Ids,
    cover: Cover,
}

impl Comparer {
    /// A comparison in which no comment has been seen yet.
    pub fn new(cover: Cover) -> Self {
        Self {
            left: Ids::default(),
            right: Ids::default(),
            cover,
        }
    }

    /// Compares two whole logs. It ends at the first step where the two sides were asked different things: what
    /// comes behind it has no counterpart.
    pub fn logs(&mut self, left: &[Step], right: &[Step]) -> Findings {
        let mut findings = Findings::default();
        for (a, b) in left.iter().zip(right) {
            let found = self.step(a, b);
            findings.answers += a.exchanges().len();
            let apart = found.iter().any(|difference| difference.what == APART);
            findings.differences.extend(found);
            if apart {
                return findings;
            }
        }
        if left.len() != right.len()
            && let (Some(a), Some(b)) = (last(left), last(right))
        {
            let what = format!(
                "one side stopped here: {} steps and {} steps",
                left.len(),
                right.len()
            );
            findings.differences.push(Difference {
                what,
                left: a,
                right: b,
                texts: None,
            });
        }
        findings
    }

    /// Compares one step.
    pub fn step(&mut self, left: &Step, right: &Step) -> Vec<Difference> {
        match (left, right) {
            (Step::One(a), Step::One(b)) => self.pair(a, b).into_iter().collect(),
            _ => self.group(left.exchanges(), right.exchanges()),
        }
    }

    /// Compares two answers to the same request. `None` if nothing differs.
    pub fn pair(&mut self, left: &Arc<Exchange>, right: &Arc<Exchange>) -> Option<Difference> {
        self.pair_within(left, right, &|body| body)
    }

    /// [`Comparer::pair`] of the part of the bodies that `scope` leaves, after volatile values are covered.
    pub fn pair_within(
        &mut self,
        left: &Arc<Exchange>,
        right: &Arc<Exchange>,
        scope: &dyn Fn(Vec<u8>) -> Vec<u8>,
    ) -> Option<Difference> {
        let differs = |what: &str, texts| {
            Some(Difference {
                what: what.to_owned(),
                left: Arc::clone(left),
                right: Arc::clone(right),
                texts,
            })
        };
        let asked = (
            mask::request(&left.request, &self.left),
            mask::request(&right.request, &self.right),
        );
        let steady = left.certainty == Certainty::Certain;
        if steady && asked.0 != asked.1 {
            return differs(APART, Some((asked.0.into_bytes(), asked.1.into_bytes())));
        }
        let (a, b) = match (&left.outcome, &right.outcome) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(_), Err(_)) => return None,
            (Err(trouble), Ok(_)) => return differs(&format!("no answer on the left: {trouble}"), None),
            (Ok(_), Err(trouble)) => return differs(&format!("no answer on the right: {trouble}"), None),
        };
        let (a, b) = (self.masked(a, true), self.masked(b, false));
        let within = |masked: Masked| Masked {
            body: scope(masked.body),
            ..masked
        };
        let (a, b) = (within(a), within(b));
        let (a, b) = if steady {
            (a, b)
        } else {
            (shape_of(a), shape_of(b))
        };
        differing(&a, &b).and_then(|(what, texts)| differs(&what, texts))
    }

    fn masked(&mut self, response: &Response, left: bool) -> Masked {
        mask::answer(
            response,
            if left { &mut self.left } else { &mut self.right },
            self.cover,
        )
    }

    /// A group is a set: which call won is chance. So what varies within the group on either side, and what only some
    /// of the requests sent, is left out; how often each answer came is not.
    fn group(&mut self, left: &[Arc<Exchange>], right: &[Arc<Exchange>]) -> Vec<Difference> {
        let (Some(a), Some(b)) = (left.first(), right.first()) else {
            return Vec::new();
        };
        if a.certainty == Certainty::Open {
            return Vec::new();
        }
        let varying = chance::varying(left)
            .into_iter()
            .chain(chance::varying(right))
            .collect();
        let (ours, theirs) = (
            self.kinds(left, true, &varying),
            self.kinds(right, false, &varying),
        );
        if ours == theirs {
            return Vec::new();
        }
        let texts = Some((lines(&ours), lines(&theirs)));
        let what = "the answers of a simultaneous group, as a set".to_owned();
        vec![Difference {
            what,
            left: Arc::clone(a),
            right: Arc::clone(b),
            texts,
        }]
    }

    fn kinds(
        &mut self,
        group: &[Arc<Exchange>],
        left: bool,
        varying: &BTreeSet<String>,
    ) -> BTreeMap<String, usize> {
        let mut kinds = BTreeMap::new();
        for exchange in group {
            let kind = match &exchange.outcome {
                Err(trouble) => format!("no answer ({})", trouble.step),
                Ok(response) => {
                    let masked = self.masked(response, left);
                    let body = chance::without(&masked.body, varying);
                    format!(
                        "{} {:?} {body} {:?}",
                        masked.status, masked.headers, masked.faults
                    )
                }
            };
            *kinds.entry(kind).or_insert(0) += 1;
        }
        kinds
    }
}

const APART: &str = "the two sides were asked different things (after an earlier difference)";

fn last(steps: &[Step]) -> Option<Arc<Exchange>> {
    steps.last().and_then(|step| step.exchanges().last().cloned())
}

fn lines(kinds: &BTreeMap<String, usize>) -> Vec<u8> {
    kinds
        .iter()
        .map(|(kind, count)| format!("{count} × {kind}"))
        .collect::<Vec<_>>()
        .join("; ")
        .into_bytes()
}

type Texts = Option<(Vec<u8>, Vec<u8>)>;

fn differing(a: &Masked, b: &Masked) -> Option<(String, Texts)> {
    if a.status != b.status {
        let texts = (told(a), told(b));
        return Some((format!("the status: {} and {}", a.status, b.status), Some(texts)));
    }
    if a.headers != b.headers {
        let texts = (
            a.headers.join("\n").into_bytes(),
            b.headers.join("\n").into_bytes(),
        );
        return Some(("the headers".to_owned(), Some(texts)));
    }
    if a.body != b.body {
        return Some(("the body".to_owned(), Some((a.body.clone(), b.body.clone()))));
    }
    let fault = a.faults.first().or(b.faults.first())?;
    Some((
        format!("a volatile value is not of its form on both sides: {fault}"),
        None,
    ))
}

fn told(masked: &Masked) -> Vec<u8> {
    [format!("{} ", masked.status).as_bytes(), masked.body.as_slice()].concat()
}

/// Of an answer whose values depend on a race: its shape alone.
fn shape_of(masked: Masked) -> Masked {
    match chance::shape(&masked.body) {
        Some(body) => Masked { body, ..masked },
        None => masked,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;
    use crate::http::{Headers, Request};

    fn exchange(sent: &str, status: u16, body: &str, certainty: Certainty) -> Arc<Exchange> {
        let request = Request {
            method: "POST".into(),
            target: "/api/users".into(),
            headers: vec![],
            body: Some(sent.as_bytes().to_vec()),
        };
        let headers = Headers(vec![("Content-Type".into(), b"application/json".to_vec())]);
        let response = Response {
            status,
            headers,
            body: body.into(),
            extra: vec![],
            keep: true,
        };
        Arc::new(Exchange {
            address: "a:1".into(),
            request,
            outcome: Ok(response),
            certainty,
        })
    }

    fn one(status: u16, body: &str) -> Step {
        Step::One(exchange("{}", status, body, Certainty::Certain))
    }

    fn found(left: &Step, right: &Step) -> Vec<Difference> {
        Comparer::new(Cover::Volatile).step(left, right)
    }

    #[test]
    fn equal_but_for_volatile_values_is_equal() {
        let a = one(
            201,
            r#"{"comment":{"id":7,"createdAt":"2026-08-13T09:30:00.125Z"}}"#,
        );
        let b = one(
            201,
            r#"{"comment":{"id":901,"createdAt":"2027-01-01T00:00:00.000Z"}}"#,
        );
        assert!(found(&a, &b).is_empty());
    }

    #[test]
    fn swapped_members_differ() {
        let a = one(200, r#"{"profile":{"bio":null,"image":null}}"#);
        let b = one(200, r#"{"profile":{"image":null,"bio":null}}"#);
        let difference = found(&a, &b).remove(0);
        assert_eq!(difference.what, "the body");
        assert!(
            difference.to_string().contains("first difference at byte 13"),
            "{difference}"
        );
    }

    #[test]
    fn ids_in_another_order_differ() {
        let log = |first: u32, second: u32| {
            vec![
                one(201, &format!(r#"{{"comment":{{"id":{first}}}}}"#)),
                one(201, &format!(r#"{{"comment":{{"id":{second}}}}}"#)),
                one(
                    200,
                    &format!(r#"{{"comments":[{{"id":{second}}},{{"id":{first}}}]}}"#),
                ),
            ]
        };
        let mut wrong = log(50, 60);
        wrong[2] = one(200, r#"{"comments":[{"id":50},{"id":60}]}"#);
        let compare = |right: &[Step]| Comparer::new(Cover::Volatile).logs(&log(1, 2), right);
        assert!(compare(&log(50, 60)).differences.is_empty());
        assert_eq!(compare(&wrong).differences.len(), 1);
        assert_eq!(compare(&wrong).answers, 3);
    }

    fn race(winner: usize, refused: &str) -> Step {
        let answer = |i: usize| {
            let sent = format!(r#"{{"user":{{"username":"n","email":"{i}@x"}}}}"#);
            let (status, body) = match i == winner {
                true => (201, format!(r#"{{"user":{{"email":"{i}@x","username":"n"}}}}"#)),
                false => (409, format!(r#"{{"errors":{{"username":["{refused}"]}}}}"#)),
            };
            exchange(&sent, status, &body, Certainty::Raced)
        };
        Step::Together((0..3).map(answer).collect())
    }

    #[test]
    fn a_group_is_a_set_and_who_wins_is_chance() {
        assert!(found(&race(0, "taken"), &race(2, "taken")).is_empty());
        assert_eq!(found(&race(0, "taken"), &race(2, "in use")).len(), 1);
        assert_eq!(found(&race(0, "taken"), &race(9, "taken")).len(), 1);
    }

    #[test]
    fn after_different_requests_nothing_is_compared() {
        let a = vec![
            Step::One(exchange("1", 200, "{}", Certainty::Certain)),
            one(200, "{}"),
        ];
        let b = vec![
            Step::One(exchange("2", 200, "{}", Certainty::Certain)),
            one(404, "{}"),
        ];
        let findings = Comparer::new(Cover::Volatile).logs(&a, &b);
        assert_eq!(findings.differences.len(), 1);
        assert!(findings.differences[0].what.contains("asked different things"));
    }
}
