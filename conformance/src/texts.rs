//! Random texts that are the same again when the seed and the check are the same.

use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

/// An endless row of texts, set by a run's seed and a name.
#[derive(Debug)]
pub struct Texts {
    seed: u64,
    name: String,
    drawn: AtomicU64,
}

const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const LENGTH: usize = 12;

impl Texts {
    /// The row for this seed and name.
    pub fn new(seed: u64, name: &str) -> Self {
        Self {
            seed,
            name: name.to_owned(),
            drawn: AtomicU64::new(0),
        }
    }

    /// The next text: twelve lower-case letters and digits, a letter first.
    pub fn draw(&self) -> String {
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        let digest = Sha256::digest(format!("{}/{}/{number}", self.seed, self.name));
        // A letter in front, so that a text at the end of a title is never taken for the number of a slug.
        let choice = |(i, byte): (usize, &u8)| usize::from(*byte) % if i == 0 { 26 } else { LETTERS.len() };
        let letter = |at: usize| LETTERS.get(at).copied().map_or('a', char::from);
        digest
            .iter()
            .take(LENGTH)
            .enumerate()
            .map(choice)
            .map(letter)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_texts() {
        let (a, b) = (Texts::new(7, "art-001"), Texts::new(7, "art-001"));
        assert_eq!((a.draw(), a.draw()), (b.draw(), b.draw()));
        assert_ne!(a.draw(), Texts::new(8, "art-001").draw());
        assert_ne!(Texts::new(7, "art-001").draw(), Texts::new(7, "art-002").draw());
    }

    #[test]
    fn texts_are_letters_and_digits_with_a_letter_first() {
        let texts = Texts::new(1, "x");
        for _ in 0..200 {
            let text = texts.draw();
            assert_eq!(text.len(), LENGTH);
            assert!(text.starts_with(|c: char| c.is_ascii_lowercase()), "{text}");
            assert!(
                text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()),
                "{text}"
            );
        }
    }
}
