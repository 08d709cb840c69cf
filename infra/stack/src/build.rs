//! The programs, built where they are missing.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::layout::{Instance, Program};
use crate::options::Binaries;

/// The clone that this program was built in.
const CLONE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Sees that the programs of the instances are there.
pub(crate) fn ensure_built(binaries: &Binaries, instances: &[Instance]) -> Result<()> {
    let programs: BTreeSet<Program> = instances.iter().map(|instance| instance.program).collect();
    let missing: Vec<_> = programs
        .iter()
        .filter(|program| !binaries.path(program.name()).is_file())
        .collect();
    if missing.is_empty() && !binaries.build {
        return Ok(());
    }
    let Some(target) = binaries
        .folder
        .parent()
        .filter(|_| Path::new(CLONE).join("Cargo.toml").is_file())
    else {
        let names: Vec<_> = missing.iter().map(|program| program.name()).collect();
        bail!(
            "{} are not in {}, and there is no clone to build them in",
            names.join(", "),
            binaries.folder.display()
        );
    };
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(CLONE)
        .arg("build")
        .arg("--target-dir")
        .arg(target);
    if binaries.folder.ends_with("release") {
        cargo.arg("--release");
    }
    for program in &programs {
        cargo.args(["-p", program.package()]);
    }
    let status = cargo.status().context("starting cargo")?;
    ensure!(status.success(), "cargo could not build the programs ({status})");
    Ok(())
}
