//! What may differ between two deployments (contract 1.12): checked for its exact form, then covered, byte by byte.

use std::collections::{BTreeSet, HashMap};

use crate::http::{Headers, Request, Response};
use crate::json::{self, Member};
use crate::shape::is_time;

/// Headers that contract 1.12 calls volatile: time, software, identifiers, the connection and its framing.
const VOLATILE: [&str; 16] = [
    "date",
    "server",
    "vary",
    "x-request-id",
    "request-id",
    "x-correlation-id",
    "traceparent",
    "tracestate",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "content-length",
    "te",
    "trailer",
    "upgrade",
    "via",
];

/// Comment ids of one deployment, numbered in the order in which they were first seen.
#[derive(Debug, Default)]
pub struct Ids(HashMap<String, usize>);

impl Ids {
    fn number(&mut self, id: &str) -> usize {
        let next = self.0.len() + 1;
        *self.0.entry(id.to_owned()).or_insert(next)
    }
}

/// How much is covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// Everything volatile.
    Volatile,
    /// The token alone: the deployments share one store.
    Token,
}

/// An answer with the volatile values covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// The status.
    pub status: u16,
    /// The headers that are to be equal, as `name: value` lines with the names in lower case, sorted.
    pub headers: Vec<String>,
    /// The body with volatile values covered.
    pub body: Vec<u8>,
    /// Volatile values that are not of their form, and therefore not covered.
    pub faults: Vec<String>,
}

/// Covers the volatile values of an answer.
pub fn answer(response: &Response, ids: &mut Ids, cover: Cover) -> Masked {
    let mut faults = Vec::new();
    let body = match json::parse(&response.body) {
        Ok(document) => body(&response.body, document.members, ids, cover, &mut faults),
        Err(_) => response.body.clone(),
    };
    Masked {
        status: response.status,
        headers: headers(&response.headers),
        body,
        faults,
    }
}

/// The request as a line that is equal on deployments that were asked the same: tokens left out, comment ids numbered.
pub fn request(request: &Request, ids: &Ids) -> String {
    let target = match request.target.rsplit_once("/comments/") {
        Some((path, id)) => format!("{path}/comments/{}", numbered(id, ids)),
        None => request.target.clone(),
    };
    let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    let body = request.body.as_deref().map(<[u8]>::escape_ascii);
    format!(
        "{} {target} {names:?} {}",
        request.method,
        body.map(|b| b.to_string()).unwrap_or_default()
    )
}

/// The segment with the id in it numbered, if it was seen before. What is asked for may be an id dressed up: `07`, `7.0`.
fn numbered(segment: &str, ids: &Ids) -> String {
    let rest = segment.trim_start_matches(|c: char| !matches!(c, '1'..='9'));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    match ids.0.get(&digits) {
        Some(number) => segment.replacen(&digits, &format!("<{number}>"), 1),
        None => segment.to_owned(),
    }
}

/// The headers that are to be equal, as `name: value` lines with the names in lower case, sorted.
pub fn headers(headers: &Headers) -> Vec<String> {
    let line = |(name, value): &(String, Vec<u8>)| {
        let name = name.to_lowercase();
        let value = String::from_utf8_lossy(value).into_owned();
        match name.as_str() {
            // The order of methods is free (contract 4.3).
            "allow" => format!(
                "allow: {:?}",
                value.split(',').map(str::trim).collect::<BTreeSet<_>>()
            ),
            _ => format!("{name}: {value}"),
        }
    };
    let steady = |(name, _): &&(String, Vec<u8>)| !VOLATILE.iter().any(|v| name.eq_ignore_ascii_case(v));
    let mut lines: Vec<String> = headers.0.iter().filter(steady).map(line).collect();
    lines.sort_unstable();
    lines
}

fn body(
    bytes: &[u8],
    members: Vec<Member>,
    ids: &mut Ids,
    cover: Cover,
    faults: &mut Vec<String>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut done = 0;
    let mut volatile: Vec<Member> = members
        .into_iter()
        .filter(|m| kind(&m.path, cover).is_some())
        .collect();
    volatile.sort_by_key(|member| member.range.start);
    for member in volatile {
        let raw = bytes.get(member.range.clone()).unwrap_or_default();
        let Some(covered) = covered(&member.path, &String::from_utf8_lossy(raw), ids, cover) else {
            faults.push(format!("{} is {}", member.path, String::from_utf8_lossy(raw)));
            continue;
        };
        out.extend_from_slice(bytes.get(done..member.range.start).unwrap_or_default());
        out.extend_from_slice(covered.as_bytes());
        done = member.range.end;
    }
    out.extend_from_slice(bytes.get(done..).unwrap_or_default());
    out
}

#[derive(Clone, Copy)]
enum Kind {
    Token,
    Time,
    Id,
}

fn kind(path: &str, cover: Cover) -> Option<Kind> {
    match path {
        "user.token" => Some(Kind::Token),
        _ if cover == Cover::Token => None,
        "article.createdAt" | "article.updatedAt" | "articles.createdAt" | "articles.updatedAt" => {
            Some(Kind::Time)
        }
        "comment.createdAt" | "comment.updatedAt" | "comments.createdAt" | "comments.updatedAt" => {
            Some(Kind::Time)
        }
        "comment.id" | "comments.id" => Some(Kind::Id),
        _ => None,
    }
}

/// What stands in the place of the value, if it is of its form.
fn covered(path: &str, raw: &str, ids: &mut Ids, cover: Cover) -> Option<String> {
    let text = raw.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    match kind(path, cover)? {
        Kind::Token => text.filter(|t| is_token(t)).map(|_| r#""<token>""#.to_owned()),
        Kind::Time => text.filter(|t| is_time(t)).map(|_| r#""<time>""#.to_owned()),
        Kind::Id => is_id(raw).then(|| format!("<{}>", ids.number(raw))),
    }
}

/// Three parts in base64url, none of them empty.
fn is_token(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let fits = |part: &&str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    parts.len() == 3 && parts.iter().all(fits)
}

fn is_id(raw: &str) -> bool {
    !raw.starts_with('0') && !raw.is_empty() && raw.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(headers: &[(&str, &str)], body: &str) -> Response {
        let headers = headers
            .iter()
            .map(|(n, v)| ((*n).to_owned(), v.as_bytes().to_vec()))
            .collect();
        Response {
            status: 200,
            headers: Headers(headers),
            body: body.into(),
            extra: Vec::new(),
            keep: true,
        }
    }

    fn masked(body: &str, ids: &mut Ids) -> Masked {
        answer(&response(&[], body), ids, Cover::Volatile)
    }

    #[test]
    fn volatile_values_are_covered_and_nothing_else() {
        let mut ids = Ids::default();
        let body =
            r#"{"comments":[{"id":41,"createdAt":"2026-08-13T09:30:00.125Z","body":"id\":7"},{"id":40}]}"#;
        let covered = r#"{"comments":[{"id":<1>,"createdAt":"<time>","body":"id\":7"},{"id":<2>}]}"#;
        assert_eq!(String::from_utf8_lossy(&masked(body, &mut ids).body), covered);
        let later = masked(r#"{"comment":{"id":40}}"#, &mut ids);
        assert_eq!(String::from_utf8_lossy(&later.body), r#"{"comment":{"id":<2>}}"#);
    }

    #[test]
    fn a_volatile_value_of_another_form_stays_and_is_reported() {
        let rows = [
            r#"{"user":{"token":"a.b"}}"#,
            r#"{"article":{"createdAt":"2026-08-13T09:30:00Z"}}"#,
            r#"{"comment":{"id":0}}"#,
            r#"{"comment":{"id":"7"}}"#,
        ];
        for body in rows {
            let masked = masked(body, &mut Ids::default());
            assert_eq!(masked.body, body.as_bytes());
            assert_eq!(masked.faults.len(), 1, "{body}");
        }
    }

    #[test]
    fn ids_in_paths_are_numbered_however_they_are_dressed() {
        let mut ids = Ids::default();
        masked(r#"{"comment":{"id":127}}"#, &mut ids);
        let rows = [
            ("127", "<1>"),
            ("127.0", "<1>.0"),
            ("+127", "+<1>"),
            ("00127", "00<1>"),
            ("128", "128"),
            ("1270", "1270"),
            ("abc", "abc"),
            ("0", "0"),
        ];
        for (segment, expected) in rows {
            assert_eq!(numbered(segment, &ids), expected);
        }
    }

    #[test]
    fn a_shared_store_leaves_only_the_token_covered() {
        let body = r#"{"user":{"token":"a.b.c"},"article":{"createdAt":"x"},"comment":{"id":7}}"#;
        let masked = answer(&response(&[], body), &mut Ids::default(), Cover::Token);
        assert_eq!(masked.body, body.replace("a.b.c", "<token>").as_bytes());
    }

    #[test]
    fn headers_are_equal_but_for_the_volatile_ones() {
        let a = response(
            &[("Date", "now"), ("Content-Type", "x"), ("Allow", "GET, HEAD")],
            "",
        );
        let b = response(
            &[
                ("allow", "HEAD,GET"),
                ("content-type", "x"),
                ("Connection", "close"),
            ],
            "",
        );
        assert_eq!(headers(&a.headers), headers(&b.headers));
        let c = response(
            &[("content-type", "x"), ("allow", "HEAD,GET"), ("X-Extra", "1")],
            "",
        );
        assert_ne!(headers(&a.headers), headers(&c.headers));
    }
}
