//! The raw results of a run, as they stand in its folder.
//!
//! ```text
//! results/<plan>-<time>/run.json                         what was measured, on what, how deployed
//! results/<plan>-<time>/cells/<cell>-<repetition>.json   one measurement each, written when it is finished
//! results/<plan>-<time>/report.html, report.md           made of the above
//! ```
//!
//! Units are in the names: `_us` microseconds, `_bytes` bytes, `seconds`, `per_second`. Totals are kept rather than quotients,
//! so that what is added up later is added up exactly; [`Measurement`] divides.

mod cell;
mod folder;
mod key;
mod latency;
mod run;

pub use cell::{
    Cell, Counts, Measurement, Outcome, PeerTraffic, PoolWaits, ProcessKind, ProcessUse, RouteOutcome, Rules,
    Search, Step,
};
pub use folder::Folder;
pub use key::{Budget, Key, Load, Mode, Place, Sockets, Split, Variant};
pub use latency::{Histogram, Latency, histogram};
pub use run::{Artifact, ArtifactKind, DeployedProcess, Deployment, Machine, NoiseGate, Plan, Run};
