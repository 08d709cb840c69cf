//! What is asserted on every answer of every check (contract, first lines of section 5).

use crate::failure::Failure;
use crate::http::{Headers, Request, Response};
use crate::{json, shape};

/// The content type of every answer with a body (contract 1.4).
pub const JSON: &str = "application/json; charset=utf-8";

/// Holds one answer against the rules that bind all of them.
///
/// # Errors
/// The first rule that the answer breaks.
pub fn every_answer(request: &Request, response: &Response) -> Result<(), Failure> {
    if response.status >= 500 {
        return Err(Failure::told(format!(
            "the status is {}: no input may lead to 5xx",
            response.status
        )));
    }
    header(&response.headers, "Access-Control-Allow-Origin", "*")?;
    if response.status == 401 {
        header(&response.headers, "WWW-Authenticate", "Token")?;
    }
    if !response.extra.is_empty() {
        return Err(Failure::differs(
            "bytes behind the end of the answer",
            "",
            response.extra.clone(),
        ));
    }
    if response.status == 204 {
        return no_body(response);
    }
    match request.method.as_str() {
        "HEAD" | "OPTIONS" => Ok(()),
        _ if is_page(&request.target) => Ok(()),
        _ => body(response),
    }
}

/// The description of the API and its page (contract 4.7) have shapes of their own.
fn is_page(target: &str) -> bool {
    matches!(target.split('?').next(), Some("/openapi.json" | "/docs"))
}

fn no_body(response: &Response) -> Result<(), Failure> {
    match response.headers.first("Content-Type") {
        Some(value) => Err(Failure::told(format!(
            "204 has no Content-Type, but `{value}` came"
        ))),
        None if !response.body.is_empty() => {
            Err(Failure::differs("204 has no body", "", response.body.clone()))
        }
        None => Ok(()),
    }
}

fn body(response: &Response) -> Result<(), Failure> {
    header(&response.headers, "Content-Type", JSON)?;
    let document = json::parse(&response.body)
        .map_err(|remark| Failure::told(format!("the body is not JSON: {remark}")))?;
    if let Some(remark) = document.loose {
        return Err(Failure::told(format!(
            "the body is not compact JSON as contract 1.4 has it: {remark}"
        )));
    }
    shape::check(&document.value).map_err(Failure::told)?;
    let says_errors = document.value.member("errors").is_some();
    if says_errors != (response.status >= 400) {
        return Err(Failure::told(format!(
            "status {} does not go with this body",
            response.status
        )));
    }
    Ok(())
}

/// The header is there exactly once and has exactly this value.
fn header(headers: &Headers, name: &str, value: &str) -> Result<(), Failure> {
    let found = headers.all(name);
    match found.as_slice() {
        [one] if *one == value.as_bytes() => Ok(()),
        [one] => Err(Failure::differs(format!("the header {name}"), value, *one)),
        [] => Err(Failure::told(format!("the header `{name}: {value}` is missing"))),
        many => Err(Failure::told(format!(
            "the header {name} came {} times",
            many.len()
        ))),
    }
}
