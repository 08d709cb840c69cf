//! Filling a database with Conduit data that look like people made them: as many as wanted, and the same ones for the same seed.
//!
//! Every row is drawn from the seed, its table and its number alone, so tables can be written one after the other in a stream,
//! whatever their size. Authors, tags and those who are followed are drawn by Zipf's law; the numbers of favorites, comments and
//! follows are log-normal with the means of the performance page (5, 5 and 10). Account 0 is the heavy reader of its rule 10.
//!
//! Start reading at [`fill`].

mod copy;
mod draw;
mod fill;
mod indexes;
mod rows;
mod texts;

pub use fill::{Seeding, fill};

/// Every seeded account's password.
pub const PASSWORD: &str = "conduit-bench";

/// [`PASSWORD`] as the application hashes it (argon2id, 19 456 KiB, two passes), once for all: hashing a hundred thousand
/// passwords would take an hour.
pub(crate) const PASSWORD_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$1NRmjpSbkmafnkQ6jOBVyg$zYUVhnD3pj5nqPpMgrs/FRgz3NzBt88UYRgw/Cd08Cg";

/// The least accounts: everybody follows and favorites others.
const LEAST_ACCOUNTS: u64 = 20;

/// How many accounts come with so many articles: a tenth.
#[must_use]
pub fn accounts_for(articles: u64) -> u64 {
    (articles / 10).max(LEAST_ACCOUNTS)
}

/// The name of an account, counted from 0.
#[must_use]
pub fn account_name(number: u64) -> String {
    texts::username(number)
}

/// The address that the account of this name logs in with.
#[must_use]
pub fn email_of(username: &str) -> String {
    format!("{username}@example.com")
}
