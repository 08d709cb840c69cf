//! The only place that knows which transport carries a call.

use std::fmt;
use std::sync::Arc;

use crate::address::PeerAddress;
use crate::batched::{BatchedArticles, BatchedProfiles, BatchedUsers};
use crate::client::{Caller, Wire};
use crate::clients::Remote;
use crate::grpc::client::Grpc;
use crate::http::client::Http;
use crate::peers::{ArticlesApi, ProfilesApi, UsersApi};
use crate::settings::{CallSettings, Transport};

/// What may be asked of the process behind one address. It serves one of the three; the caller takes that.
#[derive(Clone)]
pub struct Peers {
    /// If the address is that of the users service.
    pub users: Arc<dyn UsersApi>,
    /// If the address is that of the profiles service.
    pub profiles: Arc<dyn ProfilesApi>,
    /// If the address is that of the articles service.
    pub articles: Arc<dyn ArticlesApi>,
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peers").finish_non_exhaustive()
    }
}

/// Prepares calls to an address. Connections are made when they are first needed and belong to the runtime that this runs in, so each
/// worker calls it for itself, inside its runtime. A peer that is down fails the calls, not this.
pub fn connect(transport: Transport, address: &PeerAddress, settings: &CallSettings) -> Peers {
    let peers = match transport {
        Transport::Http => over::<Http>(address, settings),
        Transport::Grpc => over::<Grpc>(address, settings),
    };
    if settings.batching {
        batched(peers, settings)
    } else {
        peers
    }
}

fn over<W: Wire>(address: &PeerAddress, settings: &CallSettings) -> Peers {
    let caller = Arc::new(Caller::<W>::new(address, settings));
    let remote = || Remote(Arc::clone(&caller));
    Peers {
        users: Arc::new(remote()),
        profiles: Arc::new(remote()),
        articles: Arc::new(remote()),
    }
}

fn batched(peers: Peers, settings: &CallSettings) -> Peers {
    let counts = &settings.counts;
    Peers {
        users: Arc::new(BatchedUsers::new(peers.users, Arc::clone(counts))),
        profiles: Arc::new(BatchedProfiles::new(peers.profiles, Arc::clone(counts))),
        articles: Arc::new(BatchedArticles::new(peers.articles, Arc::clone(counts))),
    }
}
