//! Tokens: JWTs signed with HS256 that stand for an account (contract 1.2).

use std::time::Duration;

use conduit_domain::{AccountId, Error, Result, Timestamp};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};

/// The largest integer that every JSON reader holds exactly.
const LARGEST_CLAIM: u64 = (1 << 53) - 1;

/// The identifier of a subject that names no account: the signature is good, so it is a viewer, and nobody.
const NOBODY: AccountId = AccountId(-1);

#[derive(Serialize, Deserialize)]
struct Claims {
    sub: String,
    iat: u64,
    exp: u64,
}

/// Issues and checks tokens. Keys and rules are made once.
#[derive(Clone)]
pub struct Tokens {
    signing: EncodingKey,
    verifying: Vec<DecodingKey>,
    validation: Validation,
    lifetime_seconds: u64,
}

impl Tokens {
    /// Signs with `secret` and accepts it and the `previous` ones, so that a secret can be replaced without signing anybody out.
    ///
    /// # Errors
    /// [`Error::Internal`] for an empty secret.
    pub fn new(secret: &[u8], previous: &[&[u8]], lifetime: Duration) -> Result<Self> {
        let secrets = std::iter::once(secret).chain(previous.iter().copied());
        let verifying = secrets
            .map(DecodingKey::from_secret)
            .collect::<Result<Vec<_>, _>>()
            .map_err(internal)?;
        let mut validation = Validation::new(Algorithm::HS256);
        // The signature alone is the library's; time comes from our clock, without leeway, and no other claim is ours.
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        let signing = EncodingKey::from_secret(secret).map_err(internal)?;
        Ok(Self {
            signing,
            verifying,
            validation,
            lifetime_seconds: lifetime.as_secs(),
        })
    }

    /// A new token for an account.
    ///
    /// # Errors
    /// [`Error::Internal`] if signing fails.
    pub fn issue(&self, account: AccountId, now: Timestamp) -> Result<String> {
        let iat = u64::try_from(now.seconds()).unwrap_or(0);
        let exp = iat.saturating_add(self.lifetime_seconds).min(LARGEST_CLAIM);
        let claims = Claims {
            sub: account.to_string(),
            iat,
            exp,
        };
        encode(&Header::new(Algorithm::HS256), &claims, &self.signing).map_err(internal)
    }

    /// The account that a token stands for; it may exist no more.
    ///
    /// # Errors
    /// [`Error::TokenInvalid`] for anything that this deployment has not signed as it is, then [`Error::TokenExpired`].
    pub fn verify(&self, token: &str, now: Timestamp) -> Result<AccountId> {
        let read = self
            .verifying
            .iter()
            .find_map(|key| decode::<Claims>(token, key, &self.validation).ok());
        let claims = read.ok_or(Error::TokenInvalid)?.claims;
        if claims.iat > LARGEST_CLAIM || claims.exp > LARGEST_CLAIM {
            return Err(Error::TokenInvalid);
        }
        if i64::try_from(claims.exp).is_ok_and(|exp| exp <= now.seconds()) {
            return Err(Error::TokenExpired);
        }
        Ok(subject(&claims.sub))
    }
}

/// Only the text that [`Tokens::issue`] writes names an account.
fn subject(text: &str) -> AccountId {
    text.parse()
        .map(AccountId)
        .ok()
        .filter(|id| id.0 > 0 && id.to_string() == text)
        .unwrap_or(NOBODY)
}

fn internal(error: jsonwebtoken::errors::Error) -> Error {
    Error::Internal(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SECRET: &[u8] = b"a secret of thirty-two bytes or more";
    const NOW: i64 = 1_800_000_000;

    fn tokens() -> Tokens {
        Tokens::new(SECRET, &[], Duration::from_secs(60)).unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn signed(algorithm: Algorithm, secret: &[u8], claims: &serde_json::Value) -> String {
        encode(
            &Header::new(algorithm),
            claims,
            &EncodingKey::from_secret(secret).unwrap(),
        )
        .unwrap()
    }

    #[test]
    fn a_token_is_good_until_it_expires() {
        let token = tokens().issue(AccountId(7), at(NOW)).unwrap();
        assert_eq!(tokens().verify(&token, at(NOW + 59)).unwrap(), AccountId(7));
        assert!(matches!(
            tokens().verify(&token, at(NOW + 60)),
            Err(Error::TokenExpired)
        ));
    }

    #[test]
    fn claims_must_be_there_and_of_the_right_type() {
        let cases = [
            json!({"iat": 1, "exp": NOW + 9}),
            json!({"sub": "7", "iat": 1}),
            json!({"sub": "7", "exp": NOW + 9}),
            json!({"sub": 7, "iat": 1, "exp": NOW + 9}),
            json!({"sub": "7", "iat": "1", "exp": NOW + 9}),
            json!({"sub": "7", "iat": 1, "exp": (NOW + 9).to_string()}),
            json!({"sub": "7", "iat": 1, "exp": 1.5e9}),
            json!({"sub": "7", "iat": -1, "exp": NOW + 9}),
            json!({"sub": "7", "iat": 1, "exp": 1_u64 << 53}),
            json!({"sub": null, "iat": 1, "exp": NOW + 9}),
        ];
        for claims in cases {
            let token = signed(Algorithm::HS256, SECRET, &claims);
            assert!(
                matches!(tokens().verify(&token, at(NOW)), Err(Error::TokenInvalid)),
                "{claims}"
            );
        }
    }

    #[test]
    fn what_was_not_signed_here_is_invalid_even_when_expired() {
        let claims = json!({"sub": "7", "iat": 1, "exp": 2});
        let none = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0";
        let good = signed(Algorithm::HS256, SECRET, &claims);
        let (_, payload_and_signature) = good.split_once('.').unwrap();
        let (payload, signature) = payload_and_signature.split_once('.').unwrap();
        for token in [
            signed(Algorithm::HS256, b"another secret of some length....", &claims),
            signed(Algorithm::HS512, SECRET, &claims),
            format!("{none}.{payload}."),
            format!("{none}.{payload}.{signature}"),
            "abc".to_owned(),
            "a.b.c".to_owned(),
            String::new(),
        ] {
            assert!(
                matches!(tokens().verify(&token, at(NOW)), Err(Error::TokenInvalid)),
                "{token}"
            );
        }
        assert!(matches!(
            tokens().verify(&good, at(NOW)),
            Err(Error::TokenExpired)
        ));
    }

    #[test]
    fn a_subject_that_no_account_has_is_nobody() {
        for sub in ["nobody", "07", "+7", "-7", "0", "99999999999999999999", ""] {
            let token = signed(
                Algorithm::HS256,
                SECRET,
                &json!({"sub": sub, "iat": 1, "exp": NOW + 9}),
            );
            assert_eq!(tokens().verify(&token, at(NOW)).unwrap(), NOBODY, "{sub}");
        }
    }

    #[test]
    fn a_former_secret_is_still_accepted_and_never_used_for_signing() {
        let former = tokens().issue(AccountId(7), at(NOW)).unwrap();
        let rotated = Tokens::new(
            b"the new secret, also long enough..",
            &[SECRET],
            Duration::from_secs(60),
        )
        .unwrap();
        assert_eq!(rotated.verify(&former, at(NOW)).unwrap(), AccountId(7));
        assert!(
            tokens()
                .verify(&rotated.issue(AccountId(7), at(NOW)).unwrap(), at(NOW))
                .is_err()
        );
    }
}
