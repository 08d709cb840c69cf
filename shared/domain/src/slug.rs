//! How a title becomes the text in an address (contract 3.1). Which number is free is the store's to find.

use deunicode::deunicode;

const LONGEST_BASE: usize = 120;
const NOTHING_LEFT: &str = "untitled";
/// The path of the feed route, which would hide an article of that slug.
const HIDDEN_BY_A_ROUTE: &str = "feed";

/// A title's slug before numbering: `^[a-z0-9]+(-[a-z0-9]+)*$`, 1 to 120 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlugBase(String);

impl SlugBase {
    /// The base of a title.
    pub fn of(title: &str) -> Self {
        let ascii = deunicode(title).to_ascii_lowercase();
        let words = ascii
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty());
        let mut base = words.collect::<Vec<_>>().join("-");
        base.truncate(LONGEST_BASE);
        let base = base.trim_end_matches('-');
        Self(if base.is_empty() { NOTHING_LEFT } else { base }.to_owned())
    }

    /// The base's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the base itself may be a slug; one that a route hides always takes a number.
    pub fn stands_alone(&self) -> bool {
        self.0 != HIDDEN_BY_A_ROUTE
    }

    /// The slug with this number; 1 is the base itself.
    pub fn numbered(&self, number: i64) -> String {
        if number == 1 {
            self.0.clone()
        } else {
            format!("{}-{number}", self.0)
        }
    }
}

/// Whether a text from a path can be a slug at all. What cannot is not worth a look-up, and U+0000 must not reach the store.
pub fn is_slug(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LONGEST_BASE + 20
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_slugs() {
        for (title, base) in [
            ("Bread notes", "bread-notes"),
            ("  Crème Brûlée:  How-To (x7)! ", "creme-brulee-how-to-x7"),
            ("Привет мир 9", "privet-mir-9"),
            ("Hello -- world!!! --", "hello-world"),
            ("-x-", "x"),
            ("!!!", "untitled"),
            ("", "untitled"),
            ("Feed", "feed"),
            ("é", "e"),
            ("e\u{301}", "e"),
        ] {
            assert_eq!(SlugBase::of(title).as_str(), base, "{title}");
        }
    }

    #[test]
    fn any_title_gives_a_slug_of_the_form() {
        let long = [
            "a".repeat(255),
            "ab ".repeat(85),
            "语".repeat(255),
            "🦀".to_owned(),
            "ไทยที่".to_owned(),
            "בוקר".to_owned(),
        ];
        for title in long {
            let base = SlugBase::of(&title);
            assert!(base.as_str().len() <= LONGEST_BASE, "{base:?}");
            assert!(is_slug(base.as_str()), "{base:?}");
            assert!(
                !base.as_str().starts_with('-')
                    && !base.as_str().ends_with('-')
                    && !base.as_str().contains("--")
            );
        }
    }

    #[test]
    fn numbers_follow_the_base() {
        assert_eq!(SlugBase::of("Bread").numbered(1), "bread");
        assert_eq!(SlugBase::of("Bread").numbered(2), "bread-2");
        assert!(!SlugBase::of("FEED!").stands_alone());
    }

    #[test]
    fn what_no_article_can_have_is_no_slug() {
        for text in ["", "A", "a b", "a\0", "é", "\u{fffd}", &"a".repeat(200)] {
            assert!(!is_slug(text), "{text}");
        }
    }
}
