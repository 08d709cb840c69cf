//! What can be started.

use std::fmt;

use clap::ValueEnum;
use conduit_runtime::database::Owner;
use serde::{Deserialize, Serialize};

use crate::nginx::Topology;

/// A whole deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// One process
    Monolith,
    /// Four monoliths that take turns
    #[value(name = "monolith-x4")]
    #[serde(rename = "monolith-x4")]
    MonolithX4,
    /// Four services that talk HTTP/JSON
    SplitHttp,
    /// Four services that talk gRPC
    SplitGrpc,
    /// Four services; profiles and comments ask over gRPC, articles over HTTP/JSON
    SplitMixed,
    /// As split-http; a second copy of articles takes a quarter of their traffic
    SplitRebalancedHttp,
    /// As split-grpc; a second copy of articles takes a quarter of their traffic
    SplitRebalancedGrpc,
}

/// A program of which processes are started; in this order, those that are asked come before those that ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// The whole application.
    Monolith,
    /// Accounts.
    Users,
    /// Who follows whom.
    Profiles,
    /// Articles, tags, favorites.
    Articles,
    /// Comments.
    Comments,
}

/// A process of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instance {
    /// `articles`, `articles-2`.
    pub(crate) name: String,
    pub(crate) program: Program,
    /// Its share of the program's traffic.
    pub(crate) weight: u32,
}

impl Layout {
    /// As it is typed: `split-http`.
    #[must_use]
    pub fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// What nginx sees of it.
    #[must_use]
    pub fn topology(self) -> Topology {
        match self {
            Self::Monolith => Topology::Single,
            Self::MonolithX4 => Topology::Replicas,
            Self::SplitHttp | Self::SplitGrpc | Self::SplitMixed => Topology::Split,
            Self::SplitRebalancedHttp | Self::SplitRebalancedGrpc => Topology::Rebalanced,
        }
    }

    /// Its processes, those that are asked before those that ask.
    pub(crate) fn instances(self) -> Vec<Instance> {
        let weights: &[(Program, &[u32])] = match self.topology() {
            Topology::Single => &[(Program::Monolith, &[1])],
            Topology::Replicas => &[(Program::Monolith, &[1, 1, 1, 1])],
            Topology::Split => &[
                (Program::Users, &[1]),
                (Program::Profiles, &[1]),
                (Program::Articles, &[1]),
                (Program::Comments, &[1]),
            ],
            Topology::Rebalanced => &[
                (Program::Users, &[1]),
                (Program::Profiles, &[1]),
                (Program::Articles, &[3, 1]),
                (Program::Comments, &[1]),
            ],
        };
        weights
            .iter()
            .flat_map(|(program, weights)| copies(*program, weights))
            .collect()
    }

    /// How the program's processes ask their peers, as `CONDUIT_RPC_TRANSPORT` has it.
    pub(crate) fn transport(self, program: Program) -> &'static str {
        match (self, program) {
            (Self::SplitGrpc | Self::SplitRebalancedGrpc, _) => "grpc",
            (Self::SplitMixed, Program::Profiles | Program::Comments) => "grpc",
            _ => "http",
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

fn copies(program: Program, weights: &[u32]) -> impl Iterator<Item = Instance> {
    weights.iter().zip(1..).map(move |(&weight, number)| Instance {
        name: if number == 1 {
            program.name().to_owned()
        } else {
            format!("{}-{number}", program.name())
        },
        program,
        weight,
    })
}

impl Program {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Monolith,
        Self::Users,
        Self::Profiles,
        Self::Articles,
        Self::Comments,
    ];

    /// Of the executable, and of the service in the route table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Monolith => "monolith",
            Self::Users => "users",
            Self::Profiles => "profiles",
            Self::Articles => "articles",
            Self::Comments => "comments",
        }
    }

    /// The cargo package.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Self::Monolith => "monolith",
            Self::Users => "conduit-users",
            Self::Profiles => "conduit-profiles",
            Self::Articles => "conduit-articles",
            Self::Comments => "conduit-comments",
        }
    }

    /// Whom it logs in to the database as.
    #[must_use]
    pub fn owner(self) -> Owner {
        match self {
            Self::Monolith => Owner::Monolith,
            Self::Users => Owner::Users,
            Self::Profiles => Owner::Profiles,
            Self::Articles => Owner::Articles,
            Self::Comments => Owner::Comments,
        }
    }

    /// Whether other services ask it something.
    #[must_use]
    pub fn is_asked(self) -> bool {
        matches!(self, Self::Users | Self::Profiles | Self::Articles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(layout: Layout) -> Vec<(String, u32)> {
        layout
            .instances()
            .into_iter()
            .map(|instance| (instance.name, instance.weight))
            .collect()
    }

    #[test]
    fn a_second_copy_of_articles_takes_a_quarter() {
        let shares = shares(Layout::SplitRebalancedGrpc);
        let articles: Vec<_> = shares
            .iter()
            .filter(|(name, _)| name.starts_with("articles"))
            .collect();
        assert_eq!(
            articles,
            [&("articles".to_owned(), 3), &("articles-2".to_owned(), 1)]
        );
    }

    #[test]
    fn names_are_what_is_typed() {
        let names: Vec<_> = Layout::value_variants().iter().map(ToString::to_string).collect();
        let typed = [
            "monolith",
            "monolith-x4",
            "split-http",
            "split-grpc",
            "split-mixed",
            "split-rebalanced-http",
            "split-rebalanced-grpc",
        ];
        assert_eq!(names, typed);
        for layout in Layout::value_variants() {
            assert_eq!(serde_json::to_value(layout).unwrap(), layout.name());
        }
    }

    #[test]
    fn a_mixed_split_mixes() {
        let of = |program| Layout::SplitMixed.transport(program);
        assert_eq!(
            [
                of(Program::Profiles),
                of(Program::Articles),
                of(Program::Comments)
            ],
            ["grpc", "http", "grpc"]
        );
    }
}
