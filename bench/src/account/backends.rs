//! PostgreSQL's processor time by whom its sessions serve.

use std::collections::BTreeMap;

use anyhow::Result;

use super::processes::{children, micros, own};

/// What each session of a server has used so far, by its process.
#[derive(Clone, Debug, Default)]
pub struct Backends(BTreeMap<i32, Backend>);

#[derive(Clone, Copy, Debug)]
struct Backend {
    /// In ticks since the machine started; who has another's process id does not have its age.
    started: u64,
    cpu_us: u64,
}

impl Backends {
    /// All children of a postmaster.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn of(postmaster: u32) -> Result<Self> {
        let backends = children(postmaster)?.into_iter().map(|stat| {
            let backend = Backend {
                started: stat.starttime,
                cpu_us: micros(own(&stat)),
            };
            (stat.pid, backend)
        });
        Ok(Self(backends.collect()))
    }

    /// Microseconds used since, added up by the service that `serves` names for a process. Who has ended meanwhile is left out,
    /// who began meanwhile is not.
    #[must_use]
    pub fn since(&self, before: &Self, serves: &BTreeMap<i32, String>) -> BTreeMap<String, u64> {
        let mut used = BTreeMap::new();
        for (pid, service) in serves {
            let Some(now) = self.0.get(pid) else { continue };
            let then = before.0.get(pid).filter(|then| then.started == now.started);
            let grown = now.cpu_us.saturating_sub(then.map_or(0, |then| then.cpu_us));
            *used.entry(service.clone()).or_default() += grown;
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backends<const N: usize>(backends: [(i32, u64, u64); N]) -> Backends {
        let backend = |(pid, started, cpu_us)| (pid, Backend { started, cpu_us });
        Backends(backends.map(backend).into())
    }

    #[test]
    fn sessions_are_added_up_by_whom_they_serve() {
        let before = backends([
            (1, 10, 100),
            (2, 10, 200),
            (3, 10, 300),
            (4, 10, 400),
            (5, 10, 500),
        ]);
        // 3 has ended, 4 is another process, 6 is new, 5 serves nobody.
        let after = backends([(1, 10, 101), (2, 10, 220), (4, 90, 7), (5, 10, 999), (6, 90, 50)]);
        let serves = [
            (1, "users"),
            (2, "articles"),
            (3, "users"),
            (4, "users"),
            (6, "articles"),
        ];
        let serves = serves.map(|(pid, service)| (pid, service.to_owned())).into();
        let used = after.since(&before, &serves);
        assert_eq!(
            used,
            [("articles".to_owned(), 70), ("users".to_owned(), 8)].into()
        );
    }
}
