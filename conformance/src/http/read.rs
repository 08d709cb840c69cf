//! Reading one answer off a connection: head, then the body by the framing the head announces (RFC 9112, section 6).

use tokio::io::{AsyncRead, AsyncReadExt};

use super::{Deadline, Headers, Response, Step, Trouble};

const MAX_HEADERS: usize = 128;
const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_BODY_BYTES: usize = 256 * 1024 * 1024;
const SHOWN_BYTES: usize = 4096;

/// Reads one answer to a request of this method. Interim answers (100 to 199) are passed over.
///
/// # Errors
/// Trouble, with what had come by then: the connection closed early, the deadline passed, or the bytes are no HTTP.
pub async fn read_response<R: AsyncRead + Unpin>(
    reader: R,
    method: &str,
    deadline: Deadline,
) -> Result<Response, Trouble> {
    let mut source = Source {
        reader,
        buffer: Vec::new(),
        seen: Vec::new(),
        deadline,
        total: 0,
    };
    match source.response(method).await {
        Ok(response) => Ok(response),
        Err(mut trouble) => {
            trouble.closed_before_answer &= source.total == 0;
            trouble.received = source.seen;
            Err(trouble)
        }
    }
}

struct Source<R> {
    reader: R,
    buffer: Vec<u8>,
    seen: Vec<u8>,
    deadline: Deadline,
    total: usize,
}

struct Head {
    status: u16,
    headers: Headers,
    old_version: bool,
}

/// How the end of a body is found.
enum Framing {
    None,
    Length(usize),
    Chunked,
    UntilClose,
}

impl<R: AsyncRead + Unpin> Source<R> {
    async fn response(&mut self, method: &str) -> Result<Response, Trouble> {
        let head = self.final_head().await?;
        let framing = framing(&head, method)?;
        let keep = !matches!(framing, Framing::UntilClose) && keeps_open(&head);
        let body = match framing {
            Framing::None => Vec::new(),
            Framing::Length(length) => self.take(length, Step::ReadingBody).await?,
            Framing::Chunked => self.chunks().await?,
            Framing::UntilClose => self.rest().await?,
        };
        let extra = std::mem::take(&mut self.buffer);
        let keep = keep && extra.is_empty();
        Ok(Response {
            status: head.status,
            headers: head.headers,
            body,
            extra,
            keep,
        })
    }

    async fn final_head(&mut self) -> Result<Head, Trouble> {
        loop {
            let head = self.head().await?;
            if !(100..200).contains(&head.status) {
                return Ok(head);
            }
        }
    }

    async fn head(&mut self) -> Result<Head, Trouble> {
        loop {
            if let Some((head, length)) = parse_head(&self.buffer)? {
                self.buffer.drain(..length);
                return Ok(head);
            }
            if self.buffer.len() > MAX_HEAD_BYTES {
                return Err(Trouble::new(
                    Step::AwaitingHead,
                    format!("no end of the head in {MAX_HEAD_BYTES} bytes"),
                ));
            }
            if self.fill(Step::AwaitingHead).await? == 0 {
                let cause = format!("the connection was closed after {} bytes", self.buffer.len());
                let mut trouble = Trouble::new(Step::AwaitingHead, cause);
                trouble.closed_before_answer = true;
                return Err(trouble);
            }
        }
    }

    async fn fill(&mut self, step: Step) -> Result<usize, Trouble> {
        let before = self.buffer.len();
        self.buffer.reserve(16 * 1024);
        let count = self
            .deadline
            .guard(step, self.reader.read_buf(&mut self.buffer))
            .await?;
        let fresh = self.buffer.get(before..).unwrap_or_default();
        let room = SHOWN_BYTES.saturating_sub(self.seen.len());
        self.seen
            .extend_from_slice(fresh.get(..room.min(fresh.len())).unwrap_or_default());
        self.total += count;
        Ok(count)
    }

    async fn take(&mut self, length: usize, step: Step) -> Result<Vec<u8>, Trouble> {
        if length > MAX_BODY_BYTES {
            return Err(Trouble::new(
                step,
                format!("{length} bytes announced, more than {MAX_BODY_BYTES}"),
            ));
        }
        while self.buffer.len() < length {
            if self.fill(step).await? == 0 {
                let cause = format!(
                    "the connection was closed after {} of {length} bytes",
                    self.buffer.len()
                );
                return Err(Trouble::new(step, cause));
            }
        }
        let rest = self.buffer.split_off(length);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    async fn line(&mut self) -> Result<String, Trouble> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\r\n") {
                let mut line = self.take(end + 2, Step::ReadingBody).await?;
                line.truncate(end);
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
            let too_long = self.buffer.len() > MAX_HEAD_BYTES;
            if too_long || self.fill(Step::ReadingBody).await? == 0 {
                return Err(Trouble::new(Step::ReadingBody, "no end of a chunk's size line"));
            }
        }
    }

    async fn chunks(&mut self) -> Result<Vec<u8>, Trouble> {
        let mut body = Vec::new();
        loop {
            let line = self.line().await?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let Ok(size) = usize::from_str_radix(digits, 16) else {
                return Err(Trouble::new(
                    Step::ReadingBody,
                    format!("`{line}` is no chunk size"),
                ));
            };
            if size == 0 {
                while !self.line().await?.is_empty() {}
                return Ok(body);
            }
            body.extend(self.take(size, Step::ReadingBody).await?);
            let end = self.line().await?;
            if !end.is_empty() || body.len() > MAX_BODY_BYTES {
                return Err(Trouble::new(
                    Step::ReadingBody,
                    format!("a chunk of {size} bytes does not end there"),
                ));
            }
        }
    }

    async fn rest(&mut self) -> Result<Vec<u8>, Trouble> {
        while self.fill(Step::ReadingBody).await? > 0 {
            if self.buffer.len() > MAX_BODY_BYTES {
                return Err(Trouble::new(
                    Step::ReadingBody,
                    format!("more than {MAX_BODY_BYTES} bytes"),
                ));
            }
        }
        Ok(std::mem::take(&mut self.buffer))
    }
}

fn parse_head(bytes: &[u8]) -> Result<Option<(Head, usize)>, Trouble> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Response::new(&mut fields);
    let status = parsed
        .parse(bytes)
        .map_err(|fault| Trouble::new(Step::AwaitingHead, format!("not an HTTP answer: {fault}")))?;
    let httparse::Status::Complete(length) = status else {
        return Ok(None);
    };
    let headers = parsed
        .headers
        .iter()
        .map(|f| (f.name.to_owned(), f.value.to_vec()))
        .collect();
    let head = Head {
        status: parsed.code.unwrap_or_default(),
        headers: Headers(headers),
        old_version: parsed.version == Some(0),
    };
    Ok(Some((head, length)))
}

fn framing(head: &Head, method: &str) -> Result<Framing, Trouble> {
    if method == "HEAD" || head.status == 204 || head.status == 304 {
        return Ok(Framing::None);
    }
    if head.headers.lists("transfer-encoding", "chunked") {
        return Ok(Framing::Chunked);
    }
    let mut lengths = head.headers.all("content-length");
    lengths.dedup();
    match lengths.as_slice() {
        [] => Ok(Framing::UntilClose),
        [one] => std::str::from_utf8(one)
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .map(Framing::Length)
            .ok_or_else(|| Trouble::new(Step::ReadingBody, "Content-Length is not a number")),
        _ => Err(Trouble::new(
            Step::ReadingBody,
            "several different Content-Length headers",
        )),
    }
}

fn keeps_open(head: &Head) -> bool {
    let close = head.headers.lists("connection", "close");
    !close && (!head.old_version || head.headers.lists("connection", "keep-alive"))
}
