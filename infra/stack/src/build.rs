//! The programs, built where they are missing.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::layout::Program;
use crate::options::Binaries;

/// The clone that this program was built in.
const CLONE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

impl Binaries {
    /// Sees that the programs are there.
    ///
    /// # Errors
    /// As [`Binaries::build_all`].
    pub fn ensure_built(&self, programs: &BTreeSet<Program>) -> Result<()> {
        let missing = programs
            .iter()
            .any(|program| !self.path(program.name()).is_file());
        match missing || self.build {
            true => build(self, programs),
            false => Ok(()),
        }
    }

    /// Lets cargo bring the programs of all layouts up to date.
    ///
    /// # Errors
    /// Cargo's, or there is no clone to build in.
    pub fn build_all(&self) -> Result<()> {
        build(self, &Program::ALL.into())
    }
}

fn build(binaries: &Binaries, programs: &BTreeSet<Program>) -> Result<()> {
    let target = binaries.folder.parent();
    let Some(target) = target.filter(|_| Path::new(CLONE).join("Cargo.toml").is_file()) else {
        bail!(
            "the programs are not in {}, and there is no clone to build them in",
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
    for program in programs {
        cargo.args(["-p", program.package()]);
    }
    let status = cargo.status().context("starting cargo")?;
    ensure!(status.success(), "cargo could not build the programs ({status})");
    Ok(())
}
