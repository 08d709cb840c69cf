//! JSON read so that nothing is lost: member order, repeated members, the text of numbers, and how it was written.
//!
//! The usual libraries hide exactly what is compared here.

use std::fmt;

/// Deeper nesting is refused: no answer of the API has it, and the parser calls itself.
const MAX_DEPTH: usize = 128;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// A string, escapes undone.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object's members in the order written, repeated ones included.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The name of the value's type.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// The first member of that name, if this is an object that has one.
    pub fn member(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// The text, if this is a string.
    pub fn text(&self) -> Option<&str> {
        let Self::Text(text) = self else { return None };
        Some(text)
    }

    /// The elements, if this is an array.
    pub fn list(&self) -> Option<&[Self]> {
        let Self::List(items) = self else { return None };
        Some(items)
    }
}

/// Something at an offset in the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Offset in bytes.
    pub at: usize,
    /// What is there.
    pub what: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

/// Where the value of an object's member stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Names from the top down, joined by dots; elements of arrays add nothing: `articles.author.username`.
    pub path: String,
    /// The bytes of the value.
    pub range: std::ops::Range<usize>,
}

/// A document and how it was written.
#[derive(Clone, Debug)]
pub struct Document {
    /// The value.
    pub value: Json,
    /// All members of all objects, in the order in which their values end.
    pub members: Vec<Member>,
    /// The first departure from compact notation (contract 1.4): blanks between tokens, an escaped `/`, an escaped
    /// character outside ASCII.
    pub loose: Option<Remark>,
}

/// Reads one JSON document.
///
/// # Errors
/// Where and why the bytes are no JSON in UTF-8.
pub fn parse(bytes: &[u8]) -> Result<Document, Remark> {
    let text = std::str::from_utf8(bytes).map_err(|e| Remark {
        at: e.valid_up_to(),
        what: "bytes that are not UTF-8".to_owned(),
    })?;
    let mut parser = Parser {
        text,
        at: 0,
        loose: None,
        path: Vec::new(),
        members: Vec::new(),
    };
    let value = parser.value(0)?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.remark("something after the value"));
    }
    Ok(Document {
        value,
        members: parser.members,
        loose: parser.loose,
    })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    loose: Option<Remark>,
    path: Vec<String>,
    members: Vec<Member>,
}

impl Parser<'_> {
    fn remark(&self, what: impl Into<String>) -> Remark {
        Remark {
            at: self.at,
            what: what.into(),
        }
    }

    fn note(&mut self, what: &str) {
        if self.loose.is_none() {
            self.loose = Some(self.remark(what));
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.note("a blank between tokens");
            self.at += 1;
        }
    }

    fn eat(&mut self, token: u8) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, token: u8) -> Result<(), Remark> {
        match self.eat(token) {
            true => Ok(()),
            false => Err(self.remark(format!("no `{}`", char::from(token)))),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, Remark> {
        if depth > MAX_DEPTH {
            return Err(self.remark("nesting too deep"));
        }
        self.blanks();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.word(),
            None => Err(self.remark("the end where a value should be")),
        }
    }

    fn word(&mut self) -> Result<Json, Remark> {
        let words = [
            ("null", Json::Null),
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
        ];
        for (word, value) in words {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.remark("no JSON value"))
    }

    fn object(&mut self, depth: usize) -> Result<Json, Remark> {
        self.at += 1;
        let mut members = Vec::new();
        self.blanks();
        if self.eat(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.blanks();
            let name = self.string()?;
            self.blanks();
            self.need(b':')?;
            members.push((name.clone(), self.member(name, depth)?));
            self.blanks();
            if !self.eat(b',') {
                self.need(b'}')?;
                return Ok(Json::Object(members));
            }
        }
    }

    fn member(&mut self, name: String, depth: usize) -> Result<Json, Remark> {
        self.path.push(name);
        self.blanks();
        let start = self.at;
        let value = self.value(depth + 1)?;
        self.members.push(Member {
            path: self.path.join("."),
            range: start..self.at,
        });
        self.path.pop();
        Ok(value)
    }

    fn list(&mut self, depth: usize) -> Result<Json, Remark> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.eat(b']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            if !self.eat(b',') {
                self.need(b']')?;
                return Ok(Json::List(items));
            }
        }
    }

    fn digits(&mut self) -> Result<(), Remark> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            Err(self.remark("no digit"))
        } else {
            Ok(())
        }
    }

    fn number(&mut self) -> Result<Json, Remark> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Ok(Json::Number(
            self.text.get(start..self.at).unwrap_or_default().to_owned(),
        ))
    }

    fn string(&mut self) -> Result<String, Remark> {
        self.need(b'"')?;
        let mut out = String::new();
        loop {
            let Some(next) = self.rest().chars().next() else {
                return Err(self.remark("the end inside a string"));
            };
            match next {
                '"' => {
                    self.at += 1;
                    return Ok(out);
                }
                '\\' => out.push(self.escape()?),
                c if u32::from(c) < 0x20 => return Err(self.remark("a bare control character")),
                c => {
                    self.at += c.len_utf8();
                    out.push(c);
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Remark> {
        let kind = self.rest().chars().nth(1);
        let plain = match kind {
            Some('"') => '"',
            Some('\\') => '\\',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('/') => {
                self.note("an escaped `/`");
                '/'
            }
            Some('u') => return self.unicode(),
            _ => return Err(self.remark("an unknown escape")),
        };
        self.at += 2;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, Remark> {
        let start = self.at;
        let first = self.hex()?;
        let code = match first {
            0xD800..=0xDBFF => {
                let low = self.hex()?;
                if !(0xDC00..=0xDFFF).contains(&low) {
                    return Err(self.remark("a lone surrogate"));
                }
                0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00)
            }
            code => code,
        };
        let found = char::from_u32(code).ok_or_else(|| self.remark("a lone surrogate"))?;
        if code >= 0x20 && self.loose.is_none() {
            self.loose = Some(Remark {
                at: start,
                what: format!("U+{code:04X} written as an escape"),
            });
        }
        Ok(found)
    }

    fn hex(&mut self) -> Result<u32, Remark> {
        let digits = self
            .text
            .get(self.at..self.at + 6)
            .and_then(|t| t.strip_prefix("\\u"));
        let code = digits
            .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|d| u32::from_str_radix(d, 16).ok());
        let code = code.ok_or_else(|| self.remark("no four hexadecimal digits"))?;
        self.at += 6;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn members_keep_their_order_and_repeats() {
        let doc = parse(br#"{"b":1,"a":[true,null],"b":-1.50e+3}"#).unwrap();
        let expected = Json::Object(vec![
            ("b".into(), Json::Number("1".into())),
            ("a".into(), Json::List(vec![Json::Bool(true), Json::Null])),
            ("b".into(), Json::Number("-1.50e+3".into())),
        ]);
        assert_eq!(doc.value, expected);
        assert_eq!(doc.loose, None);
    }

    #[test]
    fn loose_notation_is_found_where_it_is() {
        let rows = [
            ("{\"a\": 1}", "a blank between tokens at byte 5"),
            ("{\"a\":1}\n", "a blank between tokens at byte 7"),
            (r#"["a\/b"]"#, "an escaped `/` at byte 3"),
            (r#"["\u00e9"]"#, "U+00E9 written as an escape at byte 2"),
            (r#"["\ud83e\udd80"]"#, "U+1F980 written as an escape at byte 2"),
        ];
        for (text, remark) in rows {
            assert_eq!(
                parse(text.as_bytes()).unwrap().loose.unwrap().to_string(),
                remark,
                "{text}"
            );
        }
    }

    #[test]
    fn control_characters_must_be_escaped_and_may() {
        let doc = parse(br#"["\u0007\n\t\"\\"]"#).unwrap();
        assert_eq!(doc.value, Json::List(vec![Json::Text("\u{7}\n\t\"\\".into())]));
        assert_eq!(doc.loose, None);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        let rows: [&[u8]; 14] = [
            b"",
            b"{",
            b"[1,]",
            b"{\"a\"}",
            b"01",
            b"1.",
            b"nul",
            b"\"a",
            b"\"\\x\"",
            b"\"\\ud800\"",
            b"\"\xff\"",
            b"{} x",
            b"\"\n\"",
            b"\"\\u12\xc3\xa9\"",
        ];
        for bytes in rows {
            assert!(parse(bytes).is_err(), "{}", bytes.escape_ascii());
        }
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
    }
}
