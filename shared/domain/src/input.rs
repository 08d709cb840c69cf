//! How a request body becomes a value: bytes, JSON, wrapper, fields.
//!
//! The contract judges field errors after 404 and 403 (1.8), so the two halves are apart: [`Body::parse`] proves only that the
//! bytes are JSON; a use case opens the wrapper when its turn has come.

use serde_json::{Map, Value};

use crate::error::{Error, Fault, Field, Result, Rule};
use crate::text::TextField;

/// A request body that is JSON; nothing more is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Body(Value);

impl Body {
    /// Parses a whole body as JSON in UTF-8, at most 127 levels deep; of a member named twice the last counts (contract 1.3).
    ///
    /// # Errors
    /// [`Error::RequestMalformed`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes)
            .map(Self)
            .map_err(|_| Error::RequestMalformed)
    }

    /// Opens the one wrapper object of a body.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the wrapper: blank when it is absent or `null` or the body is no object, invalid when it is of
    /// another type (contract 1.3).
    pub(crate) fn open(self, wrapper: Field, name: &str) -> Result<Fields> {
        let Value::Object(mut members) = self.0 else {
            return Err(Error::invalid(wrapper, Rule::Blank));
        };
        match members.remove(name) {
            None | Some(Value::Null) => Err(Error::invalid(wrapper, Rule::Blank)),
            Some(Value::Object(members)) => Ok(Fields {
                members,
                faults: Vec::new(),
            }),
            Some(_) => Err(Error::invalid(wrapper, Rule::Invalid)),
        }
    }
}

/// The members of a wrapper while they are read. Faults are collected, so that all are reported together.
pub(crate) struct Fields {
    members: Map<String, Value>,
    faults: Vec<Fault>,
}

impl Fields {
    /// A text that must be there.
    pub(crate) fn required(&mut self, name: &str, rules: &TextField) -> Option<String> {
        let value = self.members.remove(name);
        let read = rules.required(value);
        self.note(rules.field, read)
    }

    /// A text that is left as it is when absent, and must not be `null` or blank.
    pub(crate) fn changed(&mut self, name: &str, rules: &TextField) -> Option<String> {
        let value = self.members.remove(name)?;
        let read = rules.required(Some(value));
        self.note(rules.field, read)
    }

    /// A text that is left as it is when absent, and removed by `null` or blank.
    pub(crate) fn changed_or_removed(&mut self, name: &str, rules: &TextField) -> Option<Option<String>> {
        let value = self.members.remove(name)?;
        let read = rules.optional(Some(value));
        self.note(rules.field, read)
    }

    /// A text of a log-in: there, a string, not blank, and otherwise as sent (contract 2.2).
    pub(crate) fn member_as_sent(&mut self, name: &str, field: Field) -> Option<String> {
        let read = match self.members.remove(name) {
            None | Some(Value::Null) => Err(Rule::Blank),
            Some(Value::String(text)) if text.trim().is_empty() => Err(Rule::Blank),
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(Rule::Invalid),
        };
        self.note(field, read)
    }

    /// Any member, to be read by a rule of its own.
    pub(crate) fn member<T>(
        &mut self,
        name: &str,
        field: Field,
        read: impl FnOnce(Value) -> Result<T, Rule>,
    ) -> Option<T> {
        let read = read(self.members.remove(name)?);
        self.note(field, read)
    }

    /// Whether one of these members is there, whatever its value.
    pub(crate) fn any_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.members.contains_key(*name))
    }

    fn note<T>(&mut self, field: Field, read: Result<T, Rule>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(rule) => {
                self.faults.push(Fault { field, rule });
                None
            }
        }
    }

    /// Ends the reading: the value if no field was at fault, else all faults in the order of contract 1.7.
    pub(crate) fn finish<T>(mut self, value: Option<T>) -> Result<T> {
        match value {
            Some(value) if self.faults.is_empty() => Ok(value),
            _ => {
                self.faults.sort_by_key(|fault| fault.field);
                Err(Error::Invalid(self.faults))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(text: &str) -> Result<Fields> {
        Body::parse(text.as_bytes())?.open(Field::User, "user")
    }

    #[test]
    fn what_is_not_json_is_malformed() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        for text in [
            "",
            "{",
            "{\"user\":",
            "{\"user\":{}} x",
            "{\"user\":{\"username\":\"\\ud800\"}}",
            "{\"a\":1,}",
            &deep,
        ] {
            assert!(
                matches!(Body::parse(text.as_bytes()), Err(Error::RequestMalformed)),
                "{text}"
            );
        }
        assert!(matches!(Body::parse(b"\xff\xfe"), Err(Error::RequestMalformed)));
    }

    #[test]
    fn json_that_is_legal_is_accepted() {
        let deepest = "[".repeat(127) + &"]".repeat(127);
        for text in [
            "null",
            " {} \n",
            "1e999",
            "{\"x\":-1E+4000}",
            "{\"a\":1,\"a\":2}",
            &deepest,
        ] {
            assert!(Body::parse(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_missing_wrapper_is_blank_and_a_wrong_one_invalid() {
        let fault = |text| match opened(text) {
            Err(Error::Invalid(faults)) => faults.first().map(|fault| fault.rule),
            _ => None,
        };
        for text in [
            "{}",
            "[]",
            "\"x\"",
            "null",
            "{\"user\":null}",
            "{\"username\":\"x\"}",
        ] {
            assert_eq!(fault(text), Some(Rule::Blank), "{text}");
        }
        for text in ["{\"user\":5}", "{\"user\":\"x\"}", "{\"user\":[]}"] {
            assert_eq!(fault(text), Some(Rule::Invalid), "{text}");
        }
    }
}
