//! Tokens that the deployment did not issue (contract 1.2).

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::{Sha256, Sha512};

use crate::failure::Failure;

/// A deployment's token secret.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The secret with these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Makes tokens under the deployment's secret, and under others.
#[derive(Clone, Debug)]
pub struct Forge(Secret);

impl Forge {
    pub(crate) fn new(secret: Secret) -> Self {
        Self(secret)
    }

    /// Signs claims with HS256 under the deployment's secret.
    pub fn signed(&self, claims: &Value) -> String {
        signed(&json!({"alg": "HS256", "typ": "JWT"}), claims, &self.0)
    }

    /// The claims of an account's token, expired an hour ago, well signed.
    ///
    /// # Errors
    /// The token that was given cannot be read.
    pub fn expired(&self, token: &str) -> Result<String, Failure> {
        Ok(self.signed(&past(token)?))
    }

    /// The claims of an account's token, signed under another secret.
    ///
    /// # Errors
    /// The token that was given cannot be read.
    pub fn other_secret(&self, token: &str) -> Result<String, Failure> {
        Ok(signed(
            &json!({"alg": "HS256", "typ": "JWT"}),
            &claims(token)?,
            &other(),
        ))
    }

    /// Signed under another secret and expired as well.
    ///
    /// # Errors
    /// The token that was given cannot be read.
    pub fn other_secret_and_expired(&self, token: &str) -> Result<String, Failure> {
        Ok(signed(
            &json!({"alg": "HS256", "typ": "JWT"}),
            &past(token)?,
            &other(),
        ))
    }

    /// The claims of an account's token with `alg` none and no signature.
    ///
    /// # Errors
    /// The token that was given cannot be read.
    pub fn alg_none(&self, token: &str) -> Result<String, Failure> {
        Ok(format!(
            "{}.",
            unsigned(&json!({"alg": "none", "typ": "JWT"}), &claims(token)?)
        ))
    }

    /// The claims of an account's token, signed with HS512 under the deployment's secret.
    ///
    /// # Errors
    /// The token that was given cannot be read.
    pub fn hs512(&self, token: &str) -> Result<String, Failure> {
        let text = unsigned(&json!({"alg": "HS512", "typ": "JWT"}), &claims(token)?);
        let signature = mac::<Hmac<Sha512>>(&self.0, &text);
        Ok(format!("{text}.{signature}"))
    }

    /// The claims of an account's token without the one named, well signed.
    ///
    /// # Errors
    /// The token that was given cannot be read.
    pub fn without(&self, token: &str, claim: &str) -> Result<String, Failure> {
        let mut claims = object(token)?;
        claims.remove(claim);
        Ok(self.signed(&Value::Object(claims)))
    }

    /// The claims of an account's token with one of them set to another value, well signed.
    ///
    /// # Errors
    /// The token that was given cannot be read.
    pub fn with(&self, token: &str, claim: &str, value: Value) -> Result<String, Failure> {
        let mut claims = object(token)?;
        claims.insert(claim.to_owned(), value);
        Ok(self.signed(&Value::Object(claims)))
    }

    /// A well-signed, unexpired token for an account that does not exist, its `sub` of the same form as that of the
    /// token given.
    ///
    /// # Errors
    /// The token that was given cannot be read.
    pub fn of_nobody(&self, token: &str) -> Result<String, Failure> {
        let claims = object(token)?;
        let sub = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
        // Numbers count up from somewhere low; the last digit of any other identifier is as good as a random one.
        let numeric = !sub.is_empty() && sub.bytes().all(|b| b.is_ascii_digit());
        let nobody = if numeric {
            "4611686018427387903".to_owned()
        } else {
            changed_end(sub)
        };
        self.with(token, "sub", Value::String(nobody))
    }
}

/// The token with another payload (its `sub` changed) under the old signature. Needs no secret.
///
/// # Errors
/// The token that was given cannot be read.
pub fn changed_payload(token: &str) -> Result<String, Failure> {
    let mut claims = object(token)?;
    let sub = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
    claims.insert("sub".to_owned(), Value::String(format!("{sub}1")));
    let [header, _, signature] = parts(token)?;
    Ok(format!(
        "{header}.{}.{signature}",
        encoded(&Value::Object(claims))
    ))
}

/// The token with a changed signature. Needs no secret.
///
/// # Errors
/// The token that was given cannot be read.
pub fn changed_signature(token: &str) -> Result<String, Failure> {
    let [header, payload, signature] = parts(token)?;
    // The first character: the last one of 43 holds bits that a decoder may ignore.
    let first = if signature.starts_with('A') { "B" } else { "A" };
    let rest: String = signature.chars().skip(1).collect();
    Ok(format!("{header}.{payload}.{first}{rest}"))
}

/// The claims inside a token, unchecked.
///
/// # Errors
/// It is not three parts with a JSON payload.
pub fn claims(token: &str) -> Result<Value, Failure> {
    let [_, payload, _] = parts(token)?;
    let bytes = URL_SAFE_NO_PAD
        .decode(payload)
        .map_err(|e| unreadable(token, &e.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|e| unreadable(token, &e.to_string()))
}

fn object(token: &str) -> Result<Map<String, Value>, Failure> {
    match claims(token)? {
        Value::Object(map) => Ok(map),
        _ => Err(unreadable(token, "the payload is no object")),
    }
}

fn past(token: &str) -> Result<Value, Failure> {
    let mut claims = object(token)?;
    // The deployment's clock is the real one, and no crate of the application is used here.
    #[allow(clippy::disallowed_methods)]
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    claims.insert("iat".to_owned(), json!(now - 7200));
    claims.insert("exp".to_owned(), json!(now - 3600));
    Ok(Value::Object(claims))
}

fn parts(token: &str) -> Result<[&str; 3], Failure> {
    let parts: Vec<&str> = token.split('.').collect();
    parts
        .try_into()
        .map_err(|_| unreadable(token, "it has not three parts"))
}

fn unreadable(token: &str, why: &str) -> Failure {
    Failure::told(format!(
        "the token {token:?} issued by the deployment is no JWT: {why}"
    ))
}

fn other() -> Secret {
    Secret::new("another secret that the deployment does not know".as_bytes())
}

fn changed_end(sub: &str) -> String {
    let mut text: Vec<char> = sub.chars().collect();
    let last = text.pop();
    text.push(if last == Some('0') { '1' } else { '0' });
    text.into_iter().collect()
}

fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.{}", encoded(header), encoded(claims))
}

fn signed(header: &Value, claims: &Value, secret: &Secret) -> String {
    let text = unsigned(header, claims);
    let signature = mac::<Hmac<Sha256>>(secret, &text);
    format!("{text}.{signature}")
}

fn mac<M: Mac + KeyInit>(secret: &Secret, text: &str) -> String {
    // HMAC takes keys of every length, so there is nothing to fail; an empty signature would be refused anyway.
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(&secret.0) else {
        return String::new();
    };
    mac.update(text.as_bytes());
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// The example of RFC 7515, appendix A.1: a known key and a known signature.
    #[test]
    fn the_signature_is_that_of_the_standard() {
        let key = URL_SAFE_NO_PAD
            .decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
            .unwrap();
        let text = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        let signature = mac::<Hmac<Sha256>>(&Secret::new(key), text);
        assert_eq!(signature, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    }

    #[test]
    fn forged_tokens_differ_in_one_thing() {
        let forge = Forge::new(Secret::new("s"));
        let real = forge.signed(&json!({"sub": "17", "iat": 1, "exp": 4_000_000_000_u64}));
        assert_eq!(forge.with(&real, "sub", json!("17")).unwrap(), real);
        assert_ne!(forge.other_secret(&real).unwrap(), real);
        assert_eq!(
            claims(&forge.without(&real, "exp").unwrap()).unwrap(),
            json!({"sub": "17", "iat": 1})
        );
        assert!(forge.alg_none(&real).unwrap().ends_with('.'));
        let nobody = claims(&forge.of_nobody(&real).unwrap()).unwrap();
        assert_ne!(nobody["sub"], "17");
        assert_eq!(
            parts(&changed_payload(&real).unwrap()).unwrap()[2],
            parts(&real).unwrap()[2]
        );
        assert_ne!(changed_signature(&real).unwrap(), real);
    }
}
