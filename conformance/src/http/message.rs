//! Requests and answers as they are on the wire.

/// Header fields in the order they were sent or received, names as spelt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(String, Vec<u8>)>);

impl Headers {
    /// All values of the field, whatever the letter case of its name, in order.
    pub fn all(&self, name: &str) -> Vec<&[u8]> {
        self.0
            .iter()
            .filter(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, v)| v.as_slice())
            .collect()
    }

    /// The first value of the field as text (bytes that are not UTF-8 become U+FFFD), if the field is there.
    pub fn first(&self, name: &str) -> Option<String> {
        self.all(name)
            .first()
            .map(|v| String::from_utf8_lossy(v).into_owned())
    }

    /// Whether one of the comma-separated members of the field is this token, whatever the letter case.
    pub fn lists(&self, name: &str, token: &str) -> bool {
        let has = |v: &[u8]| {
            String::from_utf8_lossy(v)
                .split(',')
                .any(|t| t.trim().eq_ignore_ascii_case(token))
        };
        self.all(name).into_iter().any(has)
    }
}

/// A request, to be sent exactly as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The request target: path and query, sent without any encoding or normalisation.
    pub target: String,
    /// Header fields, in order, besides `Host` and `Content-Length`, which the client adds.
    pub headers: Vec<(String, String)>,
    /// The body; `None` sends none.
    pub body: Option<Vec<u8>>,
}

impl Request {
    /// The bytes of the request for the host (and port) named.
    pub fn bytes(&self, host: &str) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(length) = self.announced_length() {
            head.push_str(&format!("Content-Length: {length}\r\n"));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(self.body.as_deref().unwrap_or_default());
        bytes
    }

    /// Whether repeating the request cannot change anything: what the client may send again on a connection that the
    /// other side has just closed.
    pub fn is_read(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS")
    }

    /// Methods that usually carry a body say so when they do not: some servers answer 411 otherwise.
    fn announced_length(&self) -> Option<usize> {
        let own = self
            .headers
            .iter()
            .any(|(n, _)| n.eq_ignore_ascii_case("content-length"));
        match &self.body {
            _ if own => None,
            Some(body) => Some(body.len()),
            None if matches!(self.method.as_str(), "POST" | "PUT" | "PATCH") => Some(0),
            None => None,
        }
    }
}

/// An answer as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Header fields in the order received.
    pub headers: Headers,
    /// The body's bytes, after the framing (length, chunks) is undone.
    pub body: Vec<u8>,
    /// Bytes that came behind the answer's end: there should be none.
    pub extra: Vec<u8>,
    /// Whether the connection can carry another request.
    pub keep: bool,
}

impl Response {
    /// The body as text, bytes that are not UTF-8 as U+FFFD.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}
