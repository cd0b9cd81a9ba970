//! Accesses under `ravelin run --model tso`: only what a store buffer of x86 can do is a finding.
//!
//! The rules are those of [`ravelin_clocks::BufferedLocation`]. C11's happens-before is kept beside them, for data races.

use crate::access::Effect;
use crate::file;
use crate::options;
use crate::records::WordRecord;
use crate::this_thread::WatchedThread;
use ravelin_clocks::{AccessViolation, Epoch, LocationAccess, ThreadClocks, Tid};
use ravelin_findings::notes;

/// The clocks of a new thread.
pub fn new_clocks(tid: Tid, epoch: Epoch) -> ThreadClocks {
    let mut clocks = ThreadClocks::new(tid, epoch);
    begin(&mut clocks);
    clocks
}

/// The same for the first thread, which was there before the options were known.
pub fn begin(clocks: &mut ThreadClocks) {
    if options::tso() {
        clocks.buffer_stores(true);
        file::note(notes::STORE_BUFFERS);
    }
}

/// Applies an access to the clocks, and returns what may go wrong.
#[inline(never)]
pub fn apply(
    effect: Effect,
    record: &mut WordRecord,
    thread: &mut WatchedThread,
    access: LocationAccess,
) -> Option<AccessViolation> {
    let initial = record.location(|| 0).history().newest_value();
    let location = record.buffered(|| initial);
    let address = access.place as usize;
    let clocks = &mut thread.clocks;
    let made = match effect {
        Effect::Load { value } => match thread.mark.waits_for(address) {
            None => location.load(clocks, access),
            Some(wanted) => location.wait(clocks, access, wanted, value == wanted),
        },
        Effect::Store { value } => location.store(clocks, access, value),
        Effect::Update { new, .. } => location.update(clocks, access, new),
        Effect::CompareExchange { kind, expected, written, .. } => {
            let kind = thread.mark.kind_of_cas(address, kind);
            location.compare_exchange(clocks, access, kind, expected, written)
        }
    };
    if made.is_event {
        record.location(|| 0).synchronise(&mut thread.clocks, access.order, access.site, effect.does());
    }
    made.violation
}
