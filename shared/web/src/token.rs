//! What the `Authorization` header says (contract 1.2).

use actix_web::http::header::{AUTHORIZATION, HeaderMap};

/// The token of a request; `None` for no header, another scheme, or a scheme alone. A value that is no text at all is the empty
/// token, which is a bad one.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.as_bytes().trim_ascii();
    let blank = value.iter().position(u8::is_ascii_whitespace)?;
    let (scheme, rest) = value.split_at_checked(blank)?;
    let known = scheme.eq_ignore_ascii_case(b"token") || scheme.eq_ignore_ascii_case(b"bearer");
    known.then(|| str::from_utf8(rest.trim_ascii()).unwrap_or_default())
}

/// Whether the header is there more than once, which is malformed (contract 1.2).
pub(crate) fn is_ambiguous(headers: &HeaderMap) -> bool {
    headers.get_all(AUTHORIZATION).nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn read(value: &[u8]) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        token(&headers).map(str::to_owned)
    }

    #[test]
    fn a_token_follows_its_scheme() {
        for value in [
            "Token a.b.c",
            "token a.b.c",
            "TOKEN   a.b.c ",
            "Bearer a.b.c",
            "bEARER \ta.b.c\t",
            " Token a.b.c",
        ] {
            assert_eq!(read(value.as_bytes()).as_deref(), Some("a.b.c"), "{value:?}");
        }
        assert_eq!(read(b"Token a b").as_deref(), Some("a b"));
        assert_eq!(read(b"Token \xff").as_deref(), Some(""));
    }

    #[test]
    fn anything_else_is_no_token() {
        for value in [
            "",
            " ",
            "Token",
            "Token ",
            "Bearer",
            "Basic abc",
            "a.b.c",
            "Tokena.b.c",
            "Token,a.b.c",
        ] {
            assert_eq!(read(value.as_bytes()), None, "{value:?}");
        }
        assert_eq!(token(&HeaderMap::new()), None);
    }

    #[test]
    fn two_headers_are_ambiguous_and_one_is_not() {
        let mut headers = HeaderMap::new();
        assert!(!is_ambiguous(&headers));
        headers.append(AUTHORIZATION, HeaderValue::from_static("Token a"));
        assert!(!is_ambiguous(&headers));
        headers.append(AUTHORIZATION, HeaderValue::from_static("Token a"));
        assert!(is_ambiguous(&headers));
    }
}
