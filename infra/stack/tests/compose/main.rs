//! The compose files: what must hold in every one of them. Whether compose reads them is `infra/compose/check`'s affair.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod configurations;
mod files;
mod rules;
mod variables;
