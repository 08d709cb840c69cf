//! What a generator is told.

use std::time::Duration;

use anyhow::{Context, Result};
use conformance::target::{RouteTable, Target};
use serde::{Deserialize, Serialize};

use super::{Profile, World};

/// What a generator is told, as one line of JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// `http://host:port`, or one address for each service as conformance takes them.
    pub target: String,
    /// What is asked for.
    pub profile: Profile,
    /// How much of it.
    pub offered: Offered,
    /// Before anything is counted, in seconds.
    pub warm_up: f64,
    /// How long requests that become due are counted, in seconds.
    pub seconds: f64,
    /// When a request counts as not answered, in seconds.
    pub timeout: f64,
    /// Sets all that is drawn.
    pub seed: u64,
    /// What there is to ask for.
    pub world: World,
}

/// How much load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Offered {
    /// So many connections, each asking again as soon as it is answered.
    Closed {
        /// Connections, 1 or more.
        connections: u32,
    },
    /// Arrivals at even distances, whether or not earlier ones are answered.
    Rate {
        /// Arrivals a second.
        per_second: f64,
        /// Requests under way at most; as many again wait for their turn, and what comes then is dropped.
        connections: u32,
    },
    /// Readers who think between two requests.
    Users {
        /// Readers.
        users: u32,
        /// How long they think on average, in seconds; each time between half of it and one and a half.
        think: f64,
    },
}

impl Spec {
    pub(super) fn target(&self) -> Result<Target> {
        Target::parse(&self.target, &RouteTable::built_in()?)
    }

    pub(super) fn timeout(&self) -> Result<Duration> {
        seconds(self.timeout)
    }

    /// The share of one of several generators that run at the same time; the first ones take what does not divide.
    #[must_use]
    pub fn share(&self, number: u32, of: u32) -> Self {
        let of = of.max(1);
        let part = |all: u32| all / of + u32::from(number < all % of);
        let offered = match self.offered {
            Offered::Closed { connections } => Offered::Closed {
                connections: part(connections),
            },
            Offered::Rate {
                per_second,
                connections,
            } => Offered::Rate {
                per_second: per_second / f64::from(of),
                connections: part(connections).max(1),
            },
            Offered::Users { users, think } => Offered::Users {
                users: part(users),
                think,
            },
        };
        Self {
            offered,
            seed: self.seed.wrapping_add(u64::from(number) << 32),
            ..self.clone()
        }
    }
}

/// A length of time from a plan or a spec.
pub(super) fn seconds(seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds).with_context(|| format!("{seconds} is no number of seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(offered: Offered) -> Spec {
        Spec {
            target: "http://127.0.0.1:1".into(),
            profile: Profile::Read,
            offered,
            warm_up: 0.0,
            seconds: 1.0,
            timeout: 1.0,
            seed: 1,
            world: World::default(),
        }
    }

    #[test]
    fn shares_add_up() {
        let whole = spec(Offered::Users {
            users: 10,
            think: 1.0,
        });
        let users = |share: Spec| match share.offered {
            Offered::Users { users, .. } => users,
            _ => 0,
        };
        let shares: Vec<u32> = (0..4).map(|number| users(whole.share(number, 4))).collect();
        assert_eq!(shares, [3, 3, 2, 2]);
        assert_ne!(whole.share(0, 4).seed, whole.share(1, 4).seed);
    }
}
