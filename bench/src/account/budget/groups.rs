//! The kernel's folders.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{Bounds, PERIOD_US};

/// Where control groups are mounted.
const MOUNT: &str = "/sys/fs/cgroup";

/// What to do where it does not work.
const ADVICE: &str = "run as root, or have the folder handed over (systemd-run --user --scope -p Delegate=yes), or take the budget out of the plan";

/// Which of the two kinds of control groups this machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// A tree for each controller.
    One,
    /// One tree for all.
    Two,
}

/// A group; it goes with the value, and its processes go back to where they came from.
#[derive(Debug)]
pub struct Group {
    version: Version,
    /// One folder for version two; one for processor time and one for cores for version one.
    folders: Vec<PathBuf>,
    home: Vec<PathBuf>,
}

impl Version {
    /// What this machine has.
    ///
    /// # Errors
    /// Neither kind bounds processor time here, with what to do.
    pub fn here() -> Result<Self> {
        let mount = Path::new(MOUNT);
        let controllers = fs::read_to_string(mount.join("cgroup.controllers")).unwrap_or_default();
        if controllers.split_whitespace().any(|name| name == "cpu") {
            return Ok(Self::Two);
        }
        if mount.join("cpu/cpu.cfs_quota_us").exists() || mount.join("cpu/cgroup.procs").exists() {
            return Ok(Self::One);
        }
        bail!("no control group bounds processor time under {MOUNT}: {ADVICE}")
    }

    /// Where groups of ours go: beside this process.
    fn homes(self) -> Result<Vec<PathBuf>> {
        let own = fs::read_to_string("/proc/self/cgroup").context("asking for our own control group")?;
        let place = |controller: &str| {
            own.lines().find_map(|line| {
                let mut parts = line.splitn(3, ':').skip(1);
                let controllers = parts.next()?;
                let path = parts.next()?.trim_start_matches('/');
                controllers
                    .split(',')
                    .any(|name| name == controller)
                    .then(|| path.to_owned())
            })
        };
        Ok(match self {
            // Processes may only be in leaves, so the parent's group is taken.
            Self::Two => {
                let path = place("").unwrap_or_default();
                let parent = Path::new(&path).parent().map(Path::to_owned).unwrap_or_default();
                vec![Path::new(MOUNT).join(parent)]
            }
            Self::One => ["cpu", "cpuset"]
                .iter()
                .map(|controller| {
                    Path::new(MOUNT)
                        .join(controller)
                        .join(place(controller).unwrap_or_default())
                })
                .collect(),
        })
    }
}

impl Group {
    /// Makes a group. `name` is unique on the machine.
    ///
    /// # Errors
    /// The rights are missing, with what to do.
    pub fn make(name: &str, bounds: &Bounds) -> Result<Self> {
        let version = Version::here()?;
        let home = version.homes()?;
        let folders: Vec<PathBuf> = home.iter().map(|home| home.join(name)).collect();
        let group = Self {
            version,
            folders,
            home,
        };
        group
            .set_up(bounds)
            .with_context(|| format!("a control group cannot be made: {ADVICE}"))?;
        Ok(group)
    }

    fn set_up(&self, bounds: &Bounds) -> Result<()> {
        for folder in &self.folders {
            fs::create_dir(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        match (self.version, self.folders.as_slice(), self.home.as_slice()) {
            (Version::Two, [folder], [home]) => {
                // Where it is on already, or not ours to turn on, the next line shows.
                let _ = fs::write(home.join("cgroup.subtree_control"), "+cpu +cpuset");
                if let Some(quota) = bounds.quota_us() {
                    write(folder, "cpu.max", &format!("{quota} {PERIOD_US}"))?;
                }
                if let Some(cores) = &bounds.cores {
                    write(folder, "cpuset.cpus", cores)?;
                }
            }
            (Version::One, [time, set], [_, set_home]) => {
                if let Some(quota) = bounds.quota_us() {
                    write(time, "cpu.cfs_period_us", &PERIOD_US.to_string())?;
                    write(time, "cpu.cfs_quota_us", &quota.to_string())?;
                }
                // Both have to be set before anybody may enter.
                let inherited = |file: &str| {
                    fs::read_to_string(set_home.join(file)).with_context(|| format!("reading {file}"))
                };
                let cores = match &bounds.cores {
                    Some(cores) => cores.clone(),
                    None => inherited("cpuset.cpus")?,
                };
                write(set, "cpuset.cpus", cores.trim())?;
                write(set, "cpuset.mems", inherited("cpuset.mems")?.trim())?;
            }
            _ => bail!("no folders for this kind of control groups"),
        }
        Ok(())
    }

    /// Moves a process in, with all its threads. Its later children are in, too; those it has are not.
    ///
    /// # Errors
    /// The process is gone, or the rights are missing.
    pub fn add(&self, pid: u32) -> Result<()> {
        for folder in &self.folders {
            write(folder, "cgroup.procs", &pid.to_string())?;
        }
        Ok(())
    }

    /// How long its processes wanted to run and were not allowed to, in microseconds.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn throttled_us(&self) -> Result<u64> {
        let folder = self.folders.first().context("a control group's folder")?;
        let text = fs::read_to_string(folder.join("cpu.stat")).context("reading cpu.stat")?;
        Ok(throttled(&text))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for (folder, home) in self.folders.iter().zip(&self.home) {
            let inside = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            for pid in inside.lines() {
                let _ = fs::write(home.join("cgroup.procs"), pid);
            }
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Version one counts nanoseconds, version two microseconds.
fn throttled(text: &str) -> u64 {
    let value = |name: &str| {
        text.lines()
            .filter_map(|line| line.split_once(' '))
            .find(|(key, _)| *key == name)
            .and_then(|(_, value)| value.trim().parse::<u64>().ok())
    };
    value("throttled_usec").unwrap_or_else(|| value("throttled_time").unwrap_or(0) / 1000)
}

fn write(folder: &Path, file: &str, text: &str) -> Result<()> {
    let path = folder.join(file);
    fs::write(&path, text).with_context(|| format!("writing `{text}` to {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_tell_how_long_was_waited() {
        assert_eq!(
            throttled("usage_usec 5\nnr_throttled 2\nthrottled_usec 1500\n"),
            1500
        );
        assert_eq!(
            throttled("nr_periods 9\nnr_throttled 2\nthrottled_time 1500000\n"),
            1500
        );
        assert_eq!(throttled(""), 0);
    }

    /// Where the rights are missing, the refusal has to say what to do.
    #[test]
    fn a_bounded_process_is_held_back_or_the_refusal_says_what_to_do() {
        let name = format!("conduit-bench-test-{}", std::process::id());
        let bounds = Bounds {
            millicores: Some(100),
            cores: Some("0".into()),
        };
        let group = match Group::make(&name, &bounds) {
            Ok(group) => group,
            Err(error) => return assert!(format!("{error:#}").contains("run as root"), "{error:#}"),
        };
        let script = "read go; i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done";
        let mut child = std::process::Command::new("/bin/sh")
            .args(["-c", script])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        group.add(child.id()).unwrap();
        // Its input ends here, and it begins.
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(group.throttled_us().unwrap() > 0);
        drop(group);
    }
}
