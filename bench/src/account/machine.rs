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

/// How container images are named: as the compose files do.
#[derive(Clone, Debug)]
pub struct Images {
    /// What stands before the program's name.
    pub names: String,
    /// The tag.
    pub version: String,
}

/// The programs in the folder and their container images, with their sizes. (Symbols are in files of their own beside the programs, see
/// the release profile.) Images as far as there is a Docker that has them.
#[must_use]
pub fn artifacts(folder: &Path, images: &Images) -> Vec<Artifact> {
    let size = |name: &str| std::fs::metadata(folder.join(name)).ok().map(|file| file.len());
    let of = |kind, name: &str, bytes: Option<u64>| {
        Some(Artifact {
            name: name.to_owned(),
            kind,
            bytes: bytes?,
        })
    };
    let programs = PROGRAMS.map(|name| of(ArtifactKind::Binary, name, size(name)));
    let images = PROGRAMS.map(|name| of(ArtifactKind::Image, name, image_bytes("docker", images, name)));
    programs.into_iter().chain(images).flatten().collect()
}

/// What an image's layers have together.
fn image_bytes(docker: &str, Images { names, version }: &Images, program: &str) -> Option<u64> {
    let image = format!("{names}/{program}:{version}");
    said(docker, &["image", "inspect", "--format", "{{.Size}}", &image])?
        .parse()
        .ok()
}

/// What a command says, if it is here and all is well.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn an_image_has_a_size_where_docker_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let docker = folder.path().join("docker");
        let script = "#!/bin/sh\n[ \"$*\" = 'image inspect --format {{.Size}} conduit/users:latest' ] && echo 25200000\n";
        fs::write(&docker, script).unwrap();
        fs::set_permissions(&docker, Permissions::from_mode(0o755)).unwrap();
        let docker = docker.display().to_string();
        let images = Images {
            names: "conduit".into(),
            version: "latest".into(),
        };
        assert_eq!(image_bytes(&docker, &images, "users"), Some(25_200_000));
        assert_eq!(image_bytes(&docker, &images, "comments"), None);
        assert_eq!(image_bytes("/there/is/no/docker", &images, "users"), None);
    }
}
