//! A proxy with one deliberate fault between conformance and a sound deployment.

use std::sync::{Arc, Mutex};

use conformance::http::{Request, Response};
use conformance::json::{self, Member};
use conformance::log::Certainty;
use conformance::session::{PATIENCE, Session};
use conformance::target::{RouteTable, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the proxy does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing: the control.
    None,
    /// Answers lack the CORS header.
    DropsHeader,
    /// `bio` and `image` of every profile change places.
    SwapsMembers,
    /// Article lists lack their last element as soon as they have two.
    OffByOne,
    /// Comments keep showing the name under which their author first appeared in one.
    StaleName,
}

/// Starts the proxy in front of a deployment at host and port.
pub(crate) async fn start(upstream: &str, fault: Fault) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let target = Target::parse(&format!("http://{upstream}"), &RouteTable::built_in().unwrap()).unwrap();
    let names = Arc::new(Mutex::new(Vec::new()));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let session = Session::new(target.clone(), PATIENCE);
            tokio::spawn(serve(stream, session, fault, Arc::clone(&names)));
        }
    });
    address
}

type Names = Arc<Mutex<Vec<(String, String)>>>;

async fn serve(mut stream: TcpStream, session: Session, fault: Fault, names: Names) {
    let mut buffer = Vec::new();
    while let Some(request) = next_request(&mut stream, &mut buffer).await {
        let Ok(response) = session
            .exchange(request.clone(), Certainty::Certain)
            .await
            .outcome
        else {
            return;
        };
        let response = spoiled(&request, response, fault, &names);
        if stream.write_all(&bytes(&request, &response)).await.is_err() {
            return;
        }
    }
}

async fn next_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Request> {
    loop {
        let mut fields = [httparse::EMPTY_HEADER; 64];
        let mut head = httparse::Request::new(&mut fields);
        if let Ok(httparse::Status::Complete(length)) = head.parse(buffer) {
            let headers: Vec<(String, String)> = head
                .headers
                .iter()
                .map(|h| (h.name.to_owned(), String::from_utf8_lossy(h.value).into_owned()))
                .collect();
            let field = |name: &str| {
                headers
                    .iter()
                    .find(|(n, _)| n.eq_ignore_ascii_case(name))
                    .map(|(_, v)| v)
            };
            let size: Option<usize> = field("content-length").map(|v| v.parse().unwrap());
            let (method, target) = (head.method.unwrap().to_owned(), head.path.unwrap().to_owned());
            if buffer.len() >= length + size.unwrap_or(0) {
                let body = size.map(|size| buffer[length..length + size].to_vec());
                buffer.drain(..length + size.unwrap_or(0));
                let hop = ["host", "content-length", "connection"];
                let headers = headers
                    .into_iter()
                    .filter(|(n, _)| !hop.contains(&n.to_lowercase().as_str()))
                    .collect();
                return Some(Request {
                    method,
                    target,
                    headers,
                    body,
                });
            }
        }
        if stream.read_buf(buffer).await.unwrap_or(0) == 0 {
            return None;
        }
    }
}

fn bytes(request: &Request, response: &Response) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} X\r\n", response.status);
    let framing = ["content-length", "transfer-encoding", "connection", "keep-alive"];
    for (name, value) in &response.headers.0 {
        if !framing.contains(&name.to_lowercase().as_str()) {
            head.push_str(&format!("{name}: {}\r\n", String::from_utf8_lossy(value)));
        }
    }
    if request.method != "HEAD" && response.status != 204 {
        head.push_str(&format!("Content-Length: {}\r\n", response.body.len()));
    }
    head.push_str("\r\n");
    [head.as_bytes(), &response.body].concat()
}

fn spoiled(request: &Request, mut response: Response, fault: Fault, names: &Names) -> Response {
    match fault {
        Fault::None => {}
        Fault::DropsHeader => {
            response
                .headers
                .0
                .retain(|(name, _)| !name.eq_ignore_ascii_case("access-control-allow-origin"));
        }
        Fault::SwapsMembers => response.body = swapped(&response.body),
        Fault::OffByOne if request.target.starts_with("/api/articles?") => {
            response.body = shorter(&response.body);
        }
        Fault::StaleName => response.body = stale(&response.body, names),
        Fault::OffByOne => {}
    }
    response
}

fn members(body: &[u8]) -> Vec<Member> {
    json::parse(body)
        .map(|document| document.members)
        .unwrap_or_default()
}

fn value(body: &[u8], path: &str) -> Option<(std::ops::Range<usize>, String)> {
    let member = members(body).into_iter().find(|member| member.path == path)?;
    Some((
        member.range.clone(),
        String::from_utf8_lossy(&body[member.range]).into_owned(),
    ))
}

fn swapped(body: &[u8]) -> Vec<u8> {
    let (Some((bio, b)), Some((image, i))) = (value(body, "profile.bio"), value(body, "profile.image"))
    else {
        return body.to_vec();
    };
    let start = bio.start - r#""bio":"#.len();
    [
        &body[..start],
        format!(r#""image":{i},"bio":{b}"#).as_bytes(),
        &body[image.end..],
    ]
    .concat()
}

fn shorter(body: &[u8]) -> Vec<u8> {
    let Some((range, _)) = value(body, "articles") else {
        return body.to_vec();
    };
    let last = members(body)
        .into_iter()
        .filter(|m| m.path == "articles.slug")
        .map(|m| m.range.start)
        .max();
    let Some(start) = last.map(|slug| slug - r#","{"slug":"#.len() + 1) else {
        return body.to_vec();
    };
    match body[start] {
        b',' => [&body[..start], b"]", &body[range.end..]].concat(),
        _ => body.to_vec(),
    }
}

/// Comments are told apart by their id: the first author's name seen for one is shown for ever.
fn stale(body: &[u8], names: &Names) -> Vec<u8> {
    let mut known = names.lock().unwrap();
    let mut body = body.to_vec();
    let of = |body: &[u8], path: &str| -> Vec<std::ops::Range<usize>> {
        members(body)
            .into_iter()
            .filter(|m| m.path == path)
            .map(|m| m.range)
            .collect()
    };
    for (id, name) in [
        ("comment.id", "comment.author.username"),
        ("comments.id", "comments.author.username"),
    ] {
        for place in 0..of(&body, id).len() {
            let (id, name) = (of(&body, id)[place].clone(), of(&body, name)[place].clone());
            let text = |range: std::ops::Range<usize>| String::from_utf8_lossy(&body[range]).into_owned();
            let (id, current) = (text(id), text(name.clone()));
            match known.iter().find(|(known, _)| *known == id) {
                None => known.push((id, current)),
                Some((_, old)) => body = [&body[..name.start], old.as_bytes(), &body[name.end..]].concat(),
            }
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_what_it_is_called() {
        let profile = br#"{"profile":{"username":"a","bio":"b","image":null,"following":false}}"#;
        assert_eq!(
            swapped(profile),
            br#"{"profile":{"username":"a","image":null,"bio":"b","following":false}}"#
        );
        let list = br#"{"articles":[{"slug":"a"},{"slug":"b"}],"articlesCount":2}"#;
        assert_eq!(shorter(list), br#"{"articles":[{"slug":"a"}],"articlesCount":2}"#);
        assert_eq!(
            shorter(br#"{"articles":[{"slug":"a"}],"articlesCount":1}"#).len(),
            45
        );
        let names = Names::default();
        let comment = |name: &str| format!(r#"{{"comment":{{"id":7,"author":{{"username":"{name}"}}}}}}"#);
        stale(comment("old").as_bytes(), &names);
        assert_eq!(
            stale(comment("new").as_bytes(), &names),
            comment("old").as_bytes()
        );
    }
}
