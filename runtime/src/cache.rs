//! A cache by content that keeps nothing alive: equal keys share one value for as long as somebody
//! holds it. And cells whose value is made when it is first needed, which may fail.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Values by key, held weakly: a value is freed when its last user drops it.
pub(crate) struct Cache<K, V> {
    entries: Mutex<HashMap<K, Weak<V>>>,
}

impl<K: Hash + Eq, V> Cache<K, V> {
    pub(crate) fn new() -> Cache<K, V> {
        Cache { entries: Mutex::new(HashMap::new()) }
    }

    /// The value of this key, made by `make` if nobody holds one. Making happens outside the lock, so two threads may
    /// both make one; the first to finish wins.
    pub(crate) fn get_or_make<E>(&self, key: K, make: impl FnOnce(&K) -> Result<V, E>) -> Result<Arc<V>, E> {
        if let Some(value) = self.lock().get(&key).and_then(Weak::upgrade) {
            return Ok(value);
        }
        let made = Arc::new(make(&key)?);
        let mut entries = self.lock();
        if let Some(value) = entries.get(&key).and_then(Weak::upgrade) {
            return Ok(value);
        }
        // Dead entries are swept whenever the map would have to grow, which keeps it at most twice the living.
        if entries.len() == entries.capacity() {
            entries.retain(|_, value| value.strong_count() > 0);
        }
        entries.insert(key, Arc::downgrade(&made));
        Ok(made)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Weak<V>>> {
        // A panic while the lock was held left the map whole: every change to it is one call.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The value of a cell, made if it is empty. Two threads may both make one; the first to finish wins.
#[inline]
pub(crate) fn get_or_make<T, E>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
    match cell.get() {
        Some(value) => Ok(value),
        None => make_first(cell, make),
    }
}

/// The same, of a cell that was seen to be empty.
#[cold]
#[inline(never)]
pub(crate) fn make_first<T, E>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn equal_keys_share_a_value_until_the_last_user_drops_it() {
        let cache = Cache::new();
        let make = |key: &u32| Ok::<u32, Infallible>(*key);
        let first = cache.get_or_make(7, make).unwrap();
        assert!(Arc::ptr_eq(&first, &cache.get_or_make(7, make).unwrap()));
        let weak = Arc::downgrade(&first);
        drop(first);
        assert!(weak.upgrade().is_none());
    }

    #[test]
    fn entries_of_dropped_values_do_not_pile_up() {
        let cache = Cache::new();
        for key in 0..10_000u32 {
            drop(cache.get_or_make(key, |key| Ok::<u32, Infallible>(*key)).unwrap());
        }
        assert!(cache.lock().len() < 100);
    }
}
