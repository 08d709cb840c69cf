//! What `/readyz` depends on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use conduit_app::Readiness;
use conduit_store::db::Db;

/// Ready while the store answers and nobody has asked the process to stop.
pub struct OwnStore {
    pub(crate) db: Db,
    pub(crate) stopping: Arc<AtomicBool>,
}

#[async_trait]
impl Readiness for OwnStore {
    async fn ready(&self) -> bool {
        !self.stopping.load(Ordering::Relaxed) && self.db.ready().await
    }
}

/// Ready while all of these are.
pub struct AllReady(pub Vec<Arc<dyn Readiness>>);

#[async_trait]
impl Readiness for AllReady {
    async fn ready(&self) -> bool {
        for part in &self.0 {
            if !part.ready().await {
                return false;
            }
        }
        true
    }
}
