//! The cells that one action read and wrote.

use crate::step::Log;

/// Small: an action touches one cell, a locked block a few.
#[derive(Default)]
pub(crate) struct AccessLog {
    touched: Vec<(usize, bool)>,
}

impl AccessLog {
    pub fn clear(&mut self) {
        self.touched.clear();
    }

    pub fn copy_from(&mut self, other: &AccessLog) {
        self.touched.clone_from(&other.touched);
    }

    pub fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    /// Slots, each with whether it was written. A slot that was read and written occurs twice.
    pub fn iter(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        self.touched.iter().copied()
    }
}

impl Log for AccessLog {
    #[inline]
    fn read(&mut self, slot: usize) {
        self.touched.push((slot, false));
    }

    #[inline]
    fn write(&mut self, slot: usize) {
        self.touched.push((slot, true));
    }
}
