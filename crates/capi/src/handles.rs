//! [`Handles`]: numbers that stand for objects.

use std::sync::{Arc, PoisonError, RwLock};

use crate::status::Fault;
use crate::status::jostle_status::JOSTLE_BAD_HANDLE;

/// A place for an object, and how often it was used.
struct Place<T> {
    generation: u32,
    object: Option<Arc<T>>,
}

struct Places<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

/// Objects by handle: the place in the lower 32 bits, the generation in the upper ones. Generations
/// count from 1, so 0 is never a handle.
pub(crate) struct Handles<T> {
    /// What messages call them.
    name: &'static str,
    inner: RwLock<Places<T>>,
}

impl<T> Handles<T> {
    pub(crate) const fn new(name: &'static str) -> Handles<T> {
        Handles { name, inner: RwLock::new(Places { places: Vec::new(), free: Vec::new() }) }
    }

    /// Takes an object and gives its handle.
    pub(crate) fn insert(&self, object: T) -> u64 {
        // Nothing that holds the lock can panic between two changes.
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let index = inner.free.pop().unwrap_or_else(|| {
            inner.places.push(Place { generation: 1, object: None });
            inner.places.len() as u32 - 1
        });
        let place = &mut inner.places[index as usize];
        place.object = Some(Arc::new(object));
        u64::from(place.generation) << 32 | u64::from(index)
    }

    /// The object of a handle.
    pub(crate) fn get(&self, handle: u64) -> Result<Arc<T>, Fault> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let place = inner.places.get(handle as u32 as usize);
        let place = place.filter(|place| u64::from(place.generation) == handle >> 32);
        place.and_then(|place| place.object.clone()).ok_or_else(|| self.refusal(handle))
    }

    /// Forgets the object of a handle; calls that are using it go on.
    pub(crate) fn remove(&self, handle: u64) -> Result<(), Fault> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let index = handle as u32;
        let place = inner.places.get_mut(index as usize);
        let place = place.filter(|place| u64::from(place.generation) == handle >> 32);
        let Some((object, place)) =
            place.and_then(|place| place.object.take().map(|object| (object, place)))
        else {
            return Err(self.refusal(handle));
        };
        // A place that was used four billion times is given up.
        if let Some(next) = place.generation.checked_add(1) {
            place.generation = next;
            inner.free.push(index);
        }
        drop(inner);
        drop(object);
        Ok(())
    }

    #[cold]
    fn refusal(&self, handle: u64) -> Fault {
        let name = self.name;
        let message = match handle {
            0 => format!("the {name} is null: it was not made, or making it failed"),
            _ => format!("there is no {name} {handle:#x}; it was freed, or never given out"),
        };
        Fault::new(JOSTLE_BAD_HANDLE, message)
    }
}
