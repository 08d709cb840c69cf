//! How large a call may be, the same on both transports.

use conduit_domain::NameKey;

/// Most keys that one call carries: ids and names of `find`, pairs of `follows`, slugs of `ids_by_slugs`. The clients split at it.
pub const KEYS: usize = 500;

/// Most ids that one page of `followed_by` carries.
pub const PAGE: u32 = 1_000;

/// Most ids that one call of `followed_by_each` may ask for, all viewers together: a batch of feeds must not make one answer of many
/// megabytes. Fifty viewers still get whole pages.
pub const FIRST_FOLLOWED: u32 = 50 * PAGE;

/// Bytes of a request. The largest legal one is 500 names of `NAME_BYTES` each, so a quarter of a megabyte.
pub const REQUEST_BYTES: usize = 4 << 20;

/// Bytes of an answer: what [`KEYS`] accounts can legally take. A bio has 2 000 code points and an image 2 048 (contract 1.9); JSON
/// spends up to six bytes on one (`\u001f`, protobuf up to four). A username has 64 without control characters, so four bytes each.
/// The rest is ids, names of members and punctuation.
pub const ANSWER_BYTES: usize = KEYS * ((2_000 + 2_048) * 6 + 64 * 4 + 128);

/// Bytes of a name's key, from above: a username has 64 code points (contract 1.9) of at most four bytes, and lower-casing makes
/// none of them twice as long.
const NAME_BYTES: usize = 64 * 4 * 2;

/// Whether an account can have this name at all. What cannot be is not worth a call, and must not push a call over its limit.
pub(crate) fn can_be_a_name(name: &NameKey) -> bool {
    name.as_str().len() <= NAME_BYTES
}
