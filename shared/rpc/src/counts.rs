//! What is counted of the calls between services.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use crate::error::CallError;
use crate::methods::Method;

/// Counters of one process, shared by its workers.
#[derive(Debug, Default)]
pub struct Counts {
    made: Family<Labels, Counter>,
    retried: Family<MethodLabels, Counter>,
    answered: Family<Labels, Counter>,
    strangers: Counter,
    joined: Family<PeerLabels, Counter>,
    sent: Family<PeerLabels, Counter>,
    received: Family<PeerLabels, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    peer: &'static str,
    method: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MethodLabels {
    peer: &'static str,
    method: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PeerLabels {
    peer: &'static str,
}

const OUTCOMES: [&str; 6] = [
    "answered",
    "unreachable",
    "timed_out",
    "refused",
    "nonsense",
    "failed",
];

fn outcome<T>(result: &Result<T, CallError>) -> &'static str {
    match result {
        Ok(_) => "answered",
        Err(CallError::Unreachable(_)) => "unreachable",
        Err(CallError::TimedOut) => "timed_out",
        Err(CallError::Refused) => "refused",
        Err(CallError::Nonsense(_)) => "nonsense",
        Err(CallError::Failed(_)) => "failed",
    }
}

impl Counts {
    /// Makes the counters part of what the process shows on its operations listener.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("conduit_rpc_calls", "Calls to other services", self.made.clone());
        registry.register(
            "conduit_rpc_retries",
            "Further attempts of calls",
            self.retried.clone(),
        );
        registry.register(
            "conduit_rpc_answers",
            "Calls of other services",
            self.answered.clone(),
        );
        registry.register(
            "conduit_rpc_strangers",
            "Calls without a good internal secret",
            self.strangers.clone(),
        );
        registry.register(
            "conduit_rpc_joined",
            "Look-ups that left in a batch with others",
            self.joined.clone(),
        );
        registry.register(
            "conduit_rpc_sent_bytes",
            "Encoded requests of calls to other services, without heads and frames",
            self.sent.clone(),
        );
        registry.register(
            "conduit_rpc_received_bytes",
            "Encoded answers to calls to other services, without heads and frames",
            self.received.clone(),
        );
    }

    /// Calls made to this method of this peer (`users`, `find`), whatever came of them; a call and its retry are one.
    pub fn calls(&self, peer: &'static str, method: &'static str) -> u64 {
        OUTCOMES
            .into_iter()
            .map(|outcome| {
                read(
                    &self.made,
                    &Labels {
                        peer,
                        method,
                        outcome,
                    },
                )
            })
            .sum()
    }

    /// Calls to this method of this peer that were made once more.
    pub fn retries(&self, peer: &'static str, method: &'static str) -> u64 {
        read(&self.retried, &MethodLabels { peer, method })
    }

    /// Requests of other services that made no sense: undecodable or over a limit.
    pub fn nonsense_asked(&self, peer: &'static str, method: &'static str) -> u64 {
        read(
            &self.answered,
            &Labels {
                peer,
                method,
                outcome: "nonsense",
            },
        )
    }

    /// Requests of other services answered by this method, whatever came of them.
    pub fn answers(&self, peer: &'static str, method: &'static str) -> u64 {
        OUTCOMES
            .into_iter()
            .map(|outcome| {
                read(
                    &self.answered,
                    &Labels {
                        peer,
                        method,
                        outcome,
                    },
                )
            })
            .sum()
    }

    /// Requests without a good internal secret.
    pub fn strangers(&self) -> u64 {
        self.strangers.get()
    }

    /// Look-ups of this peer that left in a batch with others.
    pub fn joined(&self, peer: &'static str) -> u64 {
        read(&self.joined, &PeerLabels { peer })
    }

    /// Bytes of the encoded requests to this peer, those of a second attempt included; heads and frames are not counted.
    pub fn sent_bytes(&self, peer: &'static str) -> u64 {
        read(&self.sent, &PeerLabels { peer })
    }

    /// Bytes of this peer's encoded answers; an error has none.
    pub fn received_bytes(&self, peer: &'static str) -> u64 {
        read(&self.received, &PeerLabels { peer })
    }

    pub(crate) fn call_made<M: Method>(&self, result: &Result<M::Response, CallError>) {
        self.made.get_or_create(&labels::<M>(outcome(result))).inc();
    }

    pub(crate) fn call_retried<M: Method>(&self) {
        self.retried
            .get_or_create(&MethodLabels {
                peer: M::PEER,
                method: M::NAME,
            })
            .inc();
    }

    pub(crate) fn call_answered<M: Method, T>(&self, result: &Result<T, CallError>) {
        self.answered.get_or_create(&labels::<M>(outcome(result))).inc();
    }

    pub(crate) fn stranger(&self) {
        self.strangers.inc();
    }

    pub(crate) fn joined_by(&self, peer: &'static str, callers: u64) {
        self.joined.get_or_create(&PeerLabels { peer }).inc_by(callers);
    }

    pub(crate) fn sent<M: Method>(&self, bytes: usize) {
        add(&self.sent, M::PEER, bytes);
    }

    pub(crate) fn received<M: Method>(&self, bytes: usize) {
        add(&self.received, M::PEER, bytes);
    }
}

fn labels<M: Method>(outcome: &'static str) -> Labels {
    Labels {
        peer: M::PEER,
        method: M::NAME,
        outcome,
    }
}

fn add(family: &Family<PeerLabels, Counter>, peer: &'static str, bytes: usize) {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    family.get_or_create(&PeerLabels { peer }).inc_by(bytes);
}

fn read<L: Clone + Eq + std::hash::Hash>(family: &Family<L, Counter>, labels: &L) -> u64 {
    family.get(labels).map_or(0, |counter| counter.get())
}
