//! What the figures were taken on.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use procfs::{CpuInfo, Current, Meminfo};

use crate::results::{Artifact, ArtifactKind, Machine};

/// The clone that this program was built in.
const CLONE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The programs of all layouts.
const PROGRAMS: [&str; 5] = ["monolith", "users", "profiles", "articles", "comments"];

/// The machine; `postgres` is the server's version, as it says itself.
///
/// # Errors
/// The system does not tell.
pub fn machine(postgres: &str) -> Result<Machine> {
    let processors = CpuInfo::current()?;
    let kernel = nix::sys::utsname::uname().context("asking for the kernel")?;
    let words = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
    let cores = std::thread::available_parallelism().context("counting cores")?;
    Ok(Machine {
        processor: processors
            .model_name(0)
            .map_or_else(|| "unknown".to_owned(), str::to_owned),
        cores: u32::try_from(cores.get())?,
        memory_bytes: Meminfo::current()?.mem_total,
        kernel: format!("{} {}", words(kernel.sysname()), words(kernel.release())),
        postgres: postgres.to_owned(),
        rustc: said("rustc", &["--version"]).unwrap_or_else(|| "unknown".to_owned()),
        profile: profile().unwrap_or_default(),
        revision: said("git", &["-C", CLONE, "rev-parse", "HEAD"]),
        dirty: said("git", &["-C", CLONE, "status", "--porcelain"]).is_some_and(|told| !told.is_empty()),
    })
}

/// Cargo names the folder of its programs after their profile; those of the layouts are in the same one.
fn profile() -> Option<String> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?.file_name()?;
    Some(folder.to_string_lossy().into_owned())
}

/// The programs in the folder, with their sizes. (Symbols are in files of their own beside them, see the release profile.)
#[must_use]
pub fn artifacts(folder: &Path) -> Vec<Artifact> {
    let size = |name: &str| std::fs::metadata(folder.join(name)).ok().map(|file| file.len());
    PROGRAMS
        .iter()
        .filter_map(|name| {
            Some(Artifact {
                name: (*name).to_owned(),
                kind: ArtifactKind::Binary,
                bytes: size(name)?,
            })
        })
        .collect()
}

/// What a command says, if it is here and all is well.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}
