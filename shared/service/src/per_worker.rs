//! One value per worker thread, made there when it is first asked for.
//!
//! A worker answers at several listeners, each with an application of its own, but its sockets belong to one runtime: so its pool
//! and its clients are made once and shared by what the thread serves.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static VALUES: RefCell<HashMap<u64, Rc<dyn Any>>> = RefCell::default();
}

/// How to make the value; clones mean the same one.
pub(crate) struct PerWorker<T> {
    key: u64,
    make: Arc<dyn Fn() -> T + Send + Sync>,
}

impl<T> Clone for PerWorker<T> {
    fn clone(&self) -> Self {
        Self {
            key: self.key,
            make: Arc::clone(&self.make),
        }
    }
}

impl<T: 'static> PerWorker<T> {
    pub(crate) fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self {
            key: NEXT.fetch_add(1, Ordering::Relaxed),
            make: Arc::new(make),
        }
    }

    /// This thread's value.
    pub(crate) fn here(&self) -> Rc<T> {
        let known = VALUES.with_borrow(|values| values.get(&self.key).cloned());
        if let Some(value) = known.and_then(|value| value.downcast().ok()) {
            return value;
        }
        // Made outside the borrow: making it may ask for another worker's value.
        let value = Rc::new((self.make)());
        VALUES.with_borrow_mut(|values| values.insert(self.key, value.clone()));
        value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_thread_has_one_value_and_each_thread_its_own() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let counter = PerWorker::new(|| MADE.fetch_add(1, Ordering::Relaxed));
        let other = PerWorker::new(|| 100);
        assert_eq!(
            (*counter.here(), *counter.clone().here(), *other.here()),
            (0, 0, 100)
        );
        let elsewhere = counter.clone();
        assert_eq!(std::thread::spawn(move || *elsewhere.here()).join().unwrap(), 1);
        assert_eq!(*counter.here(), 0);
    }
}
