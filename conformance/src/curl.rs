//! A request as a line for a shell.

use crate::log::Exchange;

const SHOWN: usize = 2000;

/// The exchange's request as a curl line that sends the same bytes (a long body is cut and says so).
pub fn line(exchange: &Exchange) -> String {
    let request = &exchange.request;
    let mut line = "curl -i --path-as-is".to_owned();
    match request.method.as_str() {
        "GET" => {}
        "HEAD" => line.push_str(" -I"),
        method => line.push_str(&format!(" -X {method}")),
    }
    for (name, value) in &request.headers {
        // curl drops a header without a value unless it ends in a semicolon.
        let field = if value.is_empty() {
            format!("{name};")
        } else {
            format!("{name}: {value}")
        };
        line.push_str(&format!(" -H {}", quote(&field)));
    }
    if let Some(body) = &request.body {
        line.push_str(&data(
            body,
            request
                .headers
                .iter()
                .any(|(n, _)| n.eq_ignore_ascii_case("content-type")),
        ));
    }
    line.push_str(&format!(
        " {}",
        quote(&format!("http://{}{}", exchange.address, request.target))
    ));
    line
}

fn data(body: &[u8], typed: bool) -> String {
    // curl would announce a form otherwise.
    let untyped = if typed { "" } else { " -H 'Content-Type:'" };
    let shown = body.get(..SHOWN.min(body.len())).unwrap_or_default();
    let cut = if body.len() > SHOWN {
        format!(" # cut: {} bytes", body.len())
    } else {
        String::new()
    };
    match std::str::from_utf8(shown) {
        Ok(text) if !text.contains('\0') => format!("{untyped} --data-binary {}{cut}", quote(text)),
        _ => {
            let bytes: String = shown.iter().map(|byte| format!("\\x{byte:02x}")).collect();
            format!("{untyped} --data-binary @<(printf '{bytes}'){cut}")
        }
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{Request, Step, Trouble};
    use crate::log::Certainty;

    fn exchange(method: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Exchange {
        Exchange {
            address: "127.0.0.1:3000".into(),
            request: Request {
                method: method.into(),
                target: "/api/articles?tag=a".into(),
                headers: headers.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect(),
                body: body.map(<[u8]>::to_vec),
            },
            outcome: Err(Trouble::new(Step::Connecting, "refused")),
            certainty: Certainty::Certain,
        }
    }

    #[test]
    fn a_get_is_short() {
        let line = line(&exchange("GET", &[("Authorization", "Token x")], None));
        assert_eq!(
            line,
            "curl -i --path-as-is -H 'Authorization: Token x' 'http://127.0.0.1:3000/api/articles?tag=a'"
        );
    }

    #[test]
    fn quotes_and_odd_bytes_survive_the_shell() {
        let json = line(&exchange(
            "POST",
            &[("Content-Type", "application/json")],
            Some(b"{\"a\":\"it's\"}"),
        ));
        assert!(json.contains(r#"--data-binary '{"a":"it'\''s"}'"#), "{json}");
        let odd = line(&exchange("POST", &[], Some(b"\xff\xfe")));
        assert!(
            odd.contains(r"-H 'Content-Type:' --data-binary @<(printf '\xff\xfe')"),
            "{odd}"
        );
    }
}
