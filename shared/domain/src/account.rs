//! Accounts: what is stored, what others see, and the three bodies that change them.

use crate::clock::Timestamp;
use crate::error::{Error, Field, Result, Rule};
use crate::ids::AccountId;
use crate::input::Body;
use crate::text::{BIO, EMAIL, IMAGE, PASSWORD, USERNAME};

/// An account as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Permanent; names and addresses change.
    pub id: AccountId,
    /// As typed.
    pub username: String,
    /// As typed.
    pub email: String,
    /// Free text.
    pub bio: Option<String>,
    /// Free text, usually an address.
    pub image: Option<String>,
}

/// An account as somebody else sees it; also the author of an article or comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Permanent, not shown.
    pub id: AccountId,
    /// As typed.
    pub username: String,
    /// Free text.
    pub bio: Option<String>,
    /// Free text, usually an address.
    pub image: Option<String>,
    /// Whether the viewer follows this account; false for anonymous viewers and for oneself (contract 3.9).
    pub following: bool,
}

/// What names and addresses are compared by: the Unicode lower-case form (contract 3.8). Never holds U+0000, which
/// PostgreSQL cannot.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameKey(String);

impl NameKey {
    /// The key of a name or address that a client asks for; `None` if no account can have it.
    pub fn of(text: &str) -> Option<Self> {
        (!text.is_empty() && !text.contains('\0')).then(|| Self(text.to_lowercase()))
    }

    /// The key of a text that has passed the rules of a username or e-mail.
    pub fn of_valid(text: &str) -> Self {
        Self(text.to_lowercase())
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A valid registration (contract 2.1).
#[derive(Clone, PartialEq, Eq)]
pub struct Registration {
    /// As typed, trimmed.
    pub username: String,
    /// As typed, trimmed.
    pub email: String,
    /// As typed; to be hashed.
    pub password: String,
}

impl Registration {
    /// Reads `{"user":{…}}`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every field at fault.
    pub fn parse(body: Body) -> Result<Self> {
        let mut fields = body.open(Field::User, "user")?;
        let username = fields.required("username", &USERNAME);
        let email = fields.required("email", &EMAIL);
        let password = fields.required("password", &PASSWORD);
        let all = username.zip(email).zip(password);
        fields.finish(all.map(|((username, email), password)| Self {
            username,
            email,
            password,
        }))
    }
}

/// A log-in as sent (contract 2.2): only presence and type are judged.
#[derive(Clone, PartialEq, Eq)]
pub struct LogIn {
    /// The key of the trimmed e-mail; `None` if no account can have it.
    pub email: Option<NameKey>,
    /// As typed; `None` if it is longer than any account's, which nobody need hash to know.
    pub password: Option<String>,
}

impl LogIn {
    /// Reads `{"user":{…}}`.
    ///
    /// # Errors
    /// [`Error::Invalid`] when a field is absent, `null`, blank or no text.
    pub fn parse(body: Body) -> Result<Self> {
        let mut fields = body.open(Field::User, "user")?;
        let email = fields.member_as_sent("email", Field::Email);
        let password = fields.member_as_sent("password", Field::Password);
        let both = email.zip(password);
        fields.finish(both.map(|(email, password)| Self {
            email: NameKey::of(email.trim()),
            password: Some(password).filter(|password| !PASSWORD.is_too_long(password)),
        }))
    }
}

/// A valid change of one's own account (contract 2.4). `None` leaves a field as it is.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct AccountChanges {
    /// As typed, trimmed.
    pub username: Option<String>,
    /// As typed, trimmed.
    pub email: Option<String>,
    /// As typed; to be hashed.
    pub password: Option<String>,
    /// `Some(None)` removes it.
    pub bio: Option<Option<String>>,
    /// `Some(None)` removes it.
    pub image: Option<Option<String>>,
}

impl AccountChanges {
    /// Reads `{"user":{…}}`.
    ///
    /// # Errors
    /// [`Error::Invalid`]: the wrapper is blank when none of the five fields is there, else every field at fault.
    pub fn parse(body: Body) -> Result<Self> {
        let mut fields = body.open(Field::User, "user")?;
        if !fields.any_of(&["username", "email", "password", "bio", "image"]) {
            return Err(Error::invalid(Field::User, Rule::Blank));
        }
        let changes = Self {
            username: fields.changed("username", &USERNAME),
            email: fields.changed("email", &EMAIL),
            password: fields.changed("password", &PASSWORD),
            bio: fields.changed_or_removed("bio", &BIO),
            image: fields.changed_or_removed("image", &IMAGE),
        };
        fields.finish(Some(changes))
    }
}

/// A registered account, ready to be stored: the password is a hash, the keys are made.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// As typed, trimmed.
    pub username: String,
    /// As typed, trimmed.
    pub email: String,
    /// PHC string.
    pub password_hash: String,
    /// When the account was made.
    pub created_at: Timestamp,
}

/// A valid change, ready to be stored: the password is a hash.
#[derive(Clone, Debug)]
pub struct AccountUpdate {
    /// `None` leaves it.
    pub username: Option<String>,
    /// `None` leaves it.
    pub email: Option<String>,
    /// PHC string; `None` leaves it.
    pub password_hash: Option<String>,
    /// `None` leaves it, `Some(None)` removes it.
    pub bio: Option<Option<String>>,
    /// `None` leaves it, `Some(None)` removes it.
    pub image: Option<Option<String>>,
    /// When the change was made.
    pub updated_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults<T>(read: Result<T>) -> Vec<(Field, Rule)> {
        match read {
            Err(Error::Invalid(faults)) => faults.into_iter().map(|f| (f.field, f.rule)).collect(),
            _ => Vec::new(),
        }
    }

    fn body(text: &str) -> Body {
        Body::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn all_faults_of_a_registration_come_together_in_order() {
        let read = Registration::parse(body(r#"{"user":{"password":"short","email":5}}"#));
        assert_eq!(
            faults(read),
            [
                (Field::Username, Rule::Blank),
                (Field::Email, Rule::Invalid),
                (Field::Password, Rule::TooShort(8))
            ]
        );
    }

    #[test]
    fn a_log_in_judges_presence_and_type_only() {
        assert_eq!(
            faults(LogIn::parse(body(r#"{"user":{"email":" ","password":[]}}"#))),
            [(Field::Email, Rule::Blank), (Field::Password, Rule::Invalid)]
        );
        let read = LogIn::parse(body(r#"{"user":{"email":" A@B ","password":"x"}}"#)).unwrap();
        assert_eq!(read.email, NameKey::of("a@b"));
        let no_account = LogIn::parse(body(r#"{"user":{"email":"a\u0000@b","password":"x"}}"#)).unwrap();
        assert_eq!(no_account.email, None);
        for (length, kept) in [(256, true), (257, false), (1_000_000, false)] {
            let text = format!(
                r#"{{"user":{{"email":"a@b","password":"{}"}}}}"#,
                "é".repeat(length)
            );
            assert_eq!(
                LogIn::parse(body(&text)).unwrap().password.is_some(),
                kept,
                "{length}"
            );
        }
    }

    #[test]
    fn a_change_keeps_absence_and_null_apart() {
        let read = AccountChanges::parse(body(r#"{"user":{"bio":null,"image":"x","other":1}}"#)).unwrap();
        assert_eq!(read.bio, Some(None));
        assert_eq!(read.image, Some(Some("x".to_owned())));
        assert_eq!(read.username, None);
        assert_eq!(
            faults(AccountChanges::parse(body(r#"{"user":{"other":1}}"#))),
            [(Field::User, Rule::Blank)]
        );
        assert_eq!(
            faults(AccountChanges::parse(body(r#"{"user":{"email":null}}"#))),
            [(Field::Email, Rule::Blank)]
        );
    }

    #[test]
    fn keys_fold_case_beyond_ascii() {
        assert_eq!(NameKey::of("ЖуК"), NameKey::of("жУк"));
        assert_eq!(NameKey::of("a\0"), None);
        assert_eq!(NameKey::of(""), None);
    }
}
