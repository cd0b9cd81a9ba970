//! What may go wrong at an access: whether it could read, or be placed behind, an older write than the newest one that
//! sequential consistency forces.
//!
//! A model decides what a thread knows ([`Knowing::view`]). The rest is the same for all models: the writes between what
//! is known and what is forced.

use crate::clock::{Clock, Tid};
use crate::history::{Gap, History, Sighting};
use crate::thread::WitnessMode;

/// How many stale values a violation lists.
pub const VALUES: usize = 4;

/// What may go wrong at an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessViolation {
    /// Whether the read part of the access may be stale.
    pub reads: bool,
    /// The newest write that the access may miss.
    pub missed: Sighting,
    /// Whether it occurs only in another run with the same beginning.
    pub predicted: bool,
    /// Values that may be read instead, newest first; meaningful if `reads`.
    pub values: [u64; VALUES],
    /// How many values are listed.
    pub listed: usize,
    /// Whether these are all values.
    pub complete: bool,
    /// A value that is above all others the location has had, if that is known.
    pub below: Option<u64>,
}

/// What a thread knows before an access.
#[derive(Clone, Copy)]
pub(crate) struct Knowing<'a> {
    /// The thread, which knows all that it saw.
    pub me: Tid,
    /// What the model orders before the access.
    pub view: &'a Clock,
    /// What must come earlier under sequential consistency.
    pub sc: &'a Clock,
}

impl History {
    fn gap_of(&self, knows: Knowing) -> Option<Gap> {
        self.gap(knows.me, knows.view, knows.sc)
    }

    /// Whether a write may be read although a newer one is forced.
    pub(crate) fn stale_read(&self, knows: Knowing, mode: WitnessMode) -> Option<AccessViolation> {
        let gap = self.gap_of(knows)?;
        self.stale_values(&gap, mode, |_| true)
    }

    /// The same where only some values matter: one of them must be known to be present.
    pub(crate) fn stale_value(
        &self,
        knows: Knowing,
        mode: WitnessMode,
        matters: impl Fn(u64) -> bool,
    ) -> Option<AccessViolation> {
        let gap = self.gap_of(knows)?;
        self.stale_values(&gap, mode, matters).filter(|violation| violation.listed > 0)
    }

    fn stale_values(&self, gap: &Gap, mode: WitnessMode, matters: impl Fn(u64) -> bool) -> Option<AccessViolation> {
        let missed = self.forced(gap);
        let predicted = missed.timestamp != self.newest();
        if predicted && mode == WitnessMode::Standard {
            return None;
        }
        let mut stale = self.stale(gap);
        let mut values = [0; VALUES];
        let mut listed = 0;
        let mut complete = true;
        for write in stale.by_ref().filter(|write| matters(write.value)) {
            if listed < VALUES {
                values[listed] = write.value;
                listed += 1;
            } else {
                complete = false;
                break;
            }
        }
        let complete = complete && stale.complete();
        let below = self.increased_to();
        Some(AccessViolation { reads: true, missed, predicted, values, listed, complete, below })
    }

    /// Whether a write may be put before one that is forced (4.1: not between an update and what it read).
    #[inline]
    pub(crate) fn stale_write(&self, knows: Knowing, mode: WitnessMode) -> Option<AccessViolation> {
        let gap = self.gap_of(knows)?;
        let predicted = !self.forced_plain(&gap)?;
        if predicted && mode == WitnessMode::Standard {
            return None;
        }
        let missed = self.forced(&gap);
        Some(AccessViolation {
            reads: false,
            missed,
            predicted,
            values: [0; VALUES],
            listed: 0,
            complete: false,
            below: None,
        })
    }

    /// Whether an update may read a stale write and be put right after it, and which values it may read.
    #[inline]
    pub(crate) fn stale_update(&self, knows: Knowing, mode: WitnessMode) -> Option<AccessViolation> {
        // Mostly nothing.
        self.gap_of(knows)?;
        self.stale_update_behind(knows, mode)
    }

    #[inline(never)]
    fn stale_update_behind(&self, knows: Knowing, mode: WitnessMode) -> Option<AccessViolation> {
        let violation = self.stale_write(knows, mode)?;
        let gap = self.gap_of(knows)?;
        let mut stale = self.stale(&gap);
        let mut values = [0; VALUES];
        let mut listed = 0;
        for write in stale.by_ref().filter(|write| write.open).take(VALUES) {
            values[listed] = write.value;
            listed += 1;
        }
        let complete = stale.by_ref().all(|write| !write.open) && stale.complete();
        Some(AccessViolation { reads: true, values, listed, complete, ..violation })
    }

    /// Whether a compare-exchange may succeed on a stale write.
    pub(crate) fn stale_exchange(&self, knows: Knowing, mode: WitnessMode, expected: u64) -> Option<AccessViolation> {
        let violation = self.stale_write(knows, mode)?;
        let gap = self.gap_of(knows)?;
        self.stale(&gap).any(|write| write.open && write.value == expected).then_some(AccessViolation {
            reads: true,
            values: [expected, 0, 0, 0],
            listed: 1,
            ..violation
        })
    }
}
