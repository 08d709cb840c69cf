//! Articles (contract 5.5).

mod create;
mod edit;
mod read;
mod rights;
mod slugs;
mod texts;

use super::{Account, Check};
use crate::shape::Profile;

pub(super) fn checks() -> Vec<Check> {
    [
        create::checks(),
        slugs::checks(),
        read::checks(),
        edit::checks(),
        rights::checks(),
        texts::checks(),
    ]
    .concat()
}

const BLANK: &str = "can't be blank";
const INVALID: &str = "is invalid";

/// Whether this is `^[a-z0-9]+(-[a-z0-9]+)*$` (contract 3.1).
fn is_slug(text: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    text.split('-').all(is_word)
}

/// The author object of an account that has neither bio nor image, for viewers who do not follow it.
pub(super) fn stranger(account: &Account) -> Profile {
    Profile {
        username: account.username.clone(),
        bio: None,
        image: None,
        following: false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_slug;

    #[test]
    fn slugs_are_words_between_single_hyphens() {
        for good in ["a", "a-2", "bread-notes-3", "2026"] {
            assert!(is_slug(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a--b", "A", "a_b", "é", "a b"] {
            assert!(!is_slug(bad), "{bad}");
        }
    }
}
