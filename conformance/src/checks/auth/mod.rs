//! Registration, login, tokens (contract 5.2).

mod login;
mod names;
mod register;
mod tokens;

use super::{Check, Ctx};

const BLANK: &str = "can't be blank";
const INVALID: &str = "is invalid";
const TAKEN: &str = "has already been taken";

pub(super) fn checks() -> Vec<Check> {
    let parts = [
        register::checks(),
        names::checks(),
        login::checks(),
        tokens::checks(),
    ];
    let mut checks: Vec<Check> = parts.into_iter().flatten().collect();
    // Registration stands in two files, so the catalogue's order has to be restored.
    checks.sort_by_key(|check| check.id);
    checks
}

/// A fresh e-mail.
fn address(ctx: &Ctx) -> String {
    format!("{}@example.test", ctx.x())
}
