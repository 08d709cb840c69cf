//! Processor time and memory of processes.

use anyhow::{Context, Result};
use procfs::process::{ClearRefs, Process, Stat, all_processes};

use crate::results::ProcessKind;

/// Microseconds in a second.
const MICROS: u64 = 1_000_000;

/// Something whose costs are counted.
#[derive(Clone, Debug)]
pub struct Watched {
    /// `articles-2`, `nginx`, `postgres`.
    pub name: String,
    /// The service that it is; none where it works for all.
    pub service: Option<String>,
    /// What it is for.
    pub kind: ProcessKind,
    /// Its processes.
    pub who: Who,
}

/// One process or several.
#[derive(Clone, Copy, Debug)]
pub enum Who {
    /// This one.
    One(u32),
    /// This one and its children, those included that have ended: nginx, PostgreSQL.
    Family(u32),
}

impl Watched {
    /// User and system time so far, in microseconds.
    ///
    /// # Errors
    /// The process is gone.
    pub fn cpu_us(&self) -> Result<u64> {
        let gone = || format!("{} is gone", self.name);
        let ticks = match self.who {
            Who::One(pid) => own(&stat(pid).with_context(gone)?),
            Who::Family(pid) => {
                let parent = stat(pid).with_context(gone)?;
                let ended = [parent.cutime, parent.cstime].map(|ticks| u64::try_from(ticks).unwrap_or(0));
                let children: u64 = children(pid)?.iter().map(own).sum();
                own(&parent) + ended.iter().sum::<u64>() + children
            }
        };
        Ok(micros(ticks))
    }

    /// Resident memory now.
    ///
    /// # Errors
    /// The process is gone.
    pub fn memory_bytes(&self) -> Result<u64> {
        match self.who {
            Who::One(pid) => Ok(stat(pid)?.rss * procfs::page_size()),
            Who::Family(pid) => {
                let children = children(pid)?;
                let pids = children.iter().map(|child| child.pid).chain([signed(pid)?]);
                // One that ends meanwhile has no memory.
                Ok(pids.filter_map(proportional).sum())
            }
        }
    }

    /// The most resident memory since [`Watched::forget_peak`]; for several processes, what they have now.
    ///
    /// # Errors
    /// The process is gone.
    pub fn peak_bytes(&self) -> Result<u64> {
        match self.who {
            Who::One(pid) => {
                let status = Process::new(signed(pid)?)?.status()?;
                let now = self.memory_bytes()?;
                Ok(status.vmhwm.map_or(now, |kib| (kib * 1024).max(now)))
            }
            Who::Family(_) => self.memory_bytes(),
        }
    }

    /// From now on the peak counts anew, where the kernel lets us.
    pub fn forget_peak(&self) {
        if let Who::One(pid) = self.who
            && let Ok(process) = signed(pid).and_then(|pid| Ok(Process::new(pid)?))
        {
            let _ = process.clear_refs(ClearRefs::PeakRSS);
        }
    }
}

/// A process with its children.
///
/// # Errors
/// The system does not tell.
pub fn family(pid: u32) -> Result<Vec<u32>> {
    let children = children(pid)?.into_iter().map(|child| u32::try_from(child.pid));
    let all: Result<Vec<u32>, _> = std::iter::once(Ok(pid)).chain(children).collect();
    all.context("a process id")
}

fn stat(pid: u32) -> Result<Stat> {
    Ok(Process::new(signed(pid)?)?.stat()?)
}

pub(super) fn children(pid: u32) -> Result<Vec<Stat>> {
    let pid = signed(pid)?;
    let stats = all_processes()?.filter_map(|process| process.ok()?.stat().ok());
    Ok(stats.filter(|stat| stat.ppid == pid).collect())
}

/// User and system time of a process itself, in ticks.
pub(super) fn own(stat: &Stat) -> u64 {
    stat.utime + stat.stime
}

pub(super) fn micros(ticks: u64) -> u64 {
    ticks * MICROS / procfs::ticks_per_second().max(1)
}

/// Shared pages count by how many share them.
fn proportional(pid: i32) -> Option<u64> {
    let process = Process::new(pid).ok()?;
    let Ok(rollup) = process.smaps_rollup() else {
        // Another account's: only root may look that closely. What is not shared is the least it has.
        let memory = process.statm().ok()?;
        return Some(memory.resident.saturating_sub(memory.shared) * procfs::page_size());
    };
    let maps = rollup.memory_map_rollup;
    Some(
        maps.into_iter()
            .filter_map(|map| map.extension.map.get("Pss").copied())
            .sum(),
    )
}

fn signed(pid: u32) -> Result<i32> {
    i32::try_from(pid).context("a process id")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn this(who: fn(u32) -> Who) -> Watched {
        Watched {
            name: "this".into(),
            service: None,
            kind: ProcessKind::Generator,
            who: who(std::process::id()),
        }
    }

    #[test]
    fn work_is_counted() {
        let this = this(Who::One);
        let before = this.cpu_us().unwrap();
        let mut rounds = 0;
        // Until the kernel has counted it, however busy the machine is.
        while this.cpu_us().unwrap() < before + 30_000 {
            rounds = std::hint::black_box(rounds + 1);
        }
        assert!(rounds > 0);
        assert!(this.memory_bytes().unwrap() > 1 << 20);
        assert!(this.peak_bytes().unwrap() >= this.memory_bytes().unwrap() / 2);
    }

    #[test]
    fn a_family_counts_with_those_that_ended() {
        let family = this(Who::Family);
        // Below zero where other tests work between the two looks.
        let others = || i128::from(family.cpu_us().unwrap()) - i128::from(this(Who::One).cpu_us().unwrap());
        let before = others();
        let script = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";
        let ended = std::process::Command::new("/bin/sh")
            .args(["-c", script])
            .status();
        assert!(ended.unwrap().success());
        let after = others();
        assert!(after >= before + 20_000, "{before} {after}");
        assert!(family.memory_bytes().unwrap() > 1 << 20);
    }

    #[test]
    fn who_is_gone_is_told_by_name() {
        let mut gone = this(Who::One);
        gone.who = Who::One(u32::MAX >> 1);
        assert!(gone.cpu_us().unwrap_err().to_string().contains("this is gone"));
    }
}
