//! Which cell of the plan a measurement belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A cell of the plan and a repetition of it. Cells that differ in the layout alone are what the report compares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// A layout of `stack` (`split-http`), or the plan's name for a remote deployment.
    pub layout: String,
    /// What is asked for: `read`, `browse`, `list`.
    pub profile: String,
    /// How the load is brought up.
    pub mode: Mode,
    /// Articles in the database, in the plan's words: 1 000, 100 000, 1 000 000. 0 where nobody knows.
    pub articles: u64,
    /// What else differs between cells.
    pub variant: Variant,
    /// From 1.
    pub repetition: u32,
}

/// How the load is brought up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// So many connections, each asking again as soon as it is answered.
    Closed {
        /// Connections.
        concurrency: u32,
    },
    /// Arrivals at a fixed rate, whether or not earlier ones are answered; latencies count from when a request was due.
    Rate {
        /// Arrivals a second.
        per_second: u32,
    },
    /// Readers with think time.
    Users {
        /// Readers at once.
        users: u32,
    },
    /// Growing steps until a rule breaks.
    Ramp,
    /// The most users, or arrivals a second, held at the rules; by bisection.
    Capacity,
    /// Steps above the capacity that was found before.
    Overload,
}

/// What a load is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// Readers with think time.
    Users(u32),
    /// Arrivals a second.
    PerSecond(f64),
    /// Connections of a closed loop.
    Connections(u32),
}

/// What else differs between cells of one layout.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Variant {
    /// Whether look-ups that queue behind a call leave together.
    pub batching: bool,
    /// Between the processes, and to the database.
    pub sockets: Sockets,
    /// The processor time that all processes of the application share; `None` is as much as there is.
    pub budget: Option<Budget>,
    /// Where the processes run.
    pub place: Place,
    /// Whether nginx stands in front; without it, load goes to each service by the route table.
    #[serde(default)]
    pub proxy: bool,
}

/// Between the processes, and to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sockets {
    /// TCP over loopback or a network.
    Tcp,
    /// Unix sockets.
    Unix,
}

/// Processor time that processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Budget {
    /// Thousandths of a core, over all processes of the application.
    pub millicores: u32,
    /// Who gets how much of it.
    pub split: Split,
}

/// How a budget is divided among the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// All from one pot.
    Shared,
    /// The same for each.
    Even,
    /// As each used in an earlier cell.
    Measured,
}

/// Where the processes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// All beside each other.
    Together,
    /// Each service in a network namespace of its own.
    Boxes,
    /// Elsewhere, given by address.
    Remote,
}

impl Mode {
    /// Whether it is made of steps, each with a load of its own.
    #[must_use]
    pub fn is_search(self) -> bool {
        matches!(self, Self::Ramp | Self::Capacity | Self::Overload)
    }
}

impl Load {
    /// How much, whatever it is counted in.
    #[must_use]
    pub fn amount(self) -> f64 {
        match self {
            Self::Users(count) | Self::Connections(count) => f64::from(count),
            Self::PerSecond(rate) => rate,
        }
    }
}

impl Key {
    /// The same cell in any repetition: what a median is taken over.
    #[must_use]
    pub fn cell(&self) -> Self {
        Self {
            repetition: 0,
            ..self.clone()
        }
    }

    /// The same conditions in any layout and repetition: what layouts are compared within.
    #[must_use]
    pub fn conditions(&self) -> Self {
        Self {
            layout: String::new(),
            ..self.cell()
        }
    }

    /// The file that holds it: letters, digits and `-` only.
    #[must_use]
    pub fn file_name(&self) -> String {
        let told = format!(
            "{} {} {} {} {} {}.json",
            self.layout, self.profile, self.mode, self.articles, self.variant, self.repetition
        );
        told.chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '.' {
                    c
                } else {
                    '-'
                }
            })
            .collect()
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { concurrency } => write!(f, "c={concurrency}"),
            Self::Rate { per_second } => write!(f, "{per_second}/s"),
            Self::Users { users } => write!(f, "{users} users"),
            Self::Ramp => f.write_str("ramp"),
            Self::Capacity => f.write_str("capacity"),
            Self::Overload => f.write_str("overload"),
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Users(users) => write!(f, "{users} users"),
            Self::PerSecond(rate) => write!(f, "{rate:.0}/s"),
            Self::Connections(count) => write!(f, "c={count}"),
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.sockets {
            Sockets::Tcp => "tcp",
            Sockets::Unix => "unix",
        })?;
        if !self.batching {
            f.write_str(" unbatched")?;
        }
        match self.place {
            Place::Together => {}
            Place::Boxes => f.write_str(" boxes")?,
            Place::Remote => f.write_str(" remote")?,
        }
        if self.proxy {
            f.write_str(" proxy")?;
        }
        let Some(budget) = self.budget else {
            return Ok(());
        };
        let split = match budget.split {
            Split::Shared => "shared",
            Split::Even => "even",
            Split::Measured => "measured",
        };
        write!(f, " {}m {split}", budget.millicores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key {
            layout: "split-http".into(),
            profile: "read".into(),
            mode: Mode::Closed { concurrency: 16 },
            articles: 10_000,
            variant: Variant {
                batching: false,
                sockets: Sockets::Unix,
                budget: Some(Budget {
                    millicores: 1500,
                    split: Split::Even,
                }),
                place: Place::Boxes,
                proxy: true,
            },
            repetition: 2,
        }
    }

    #[test]
    fn a_file_name_says_the_whole_key() {
        let name = "split-http-read-c-16-10000-unix-unbatched-boxes-proxy-1500m-even-2.json";
        assert_eq!(key().file_name(), name);
    }

    #[test]
    fn cells_are_the_same_in_any_repetition_and_conditions_in_any_layout() {
        let other = Key {
            repetition: 3,
            ..key()
        };
        assert_eq!(other.cell(), key().cell());
        let other = Key {
            layout: "monolith".into(),
            ..other
        };
        assert_ne!(other.cell(), key().cell());
        assert_eq!(other.conditions(), key().conditions());
    }
}
