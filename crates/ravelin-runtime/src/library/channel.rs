//! Channels of the standard library in a steered run.
//!
//! They are taken to be right, and one that is seen access by access has hundreds of runs for one message. So each of their
//! operations is one step, which touches the channel: it sends, receives, finds nothing to receive, or disconnects. A
//! thread that finds nothing parks inside the operation, and its next step is to take what another operation gives.
//!
//! The code of a channel is compiled with the program. An operation begins with a load of one of the two indices of the
//! channel, which lie in lines of 128 bytes, that for receiving first. The slots of a bounded channel are in a block of
//! their own, which may begin at such an address, too.

use crate::blocks;
use crate::schedule;
use crate::special::{NextAccess, NextAct};
use crate::spin::Spin;
use crate::this_thread;
use ravelin_findings::events::Act;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelAct {
    Send,
    Receive,
    Disconnect,
}

/// The operation of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ChannelOperation {
    /// What it does, as long as it begins.
    beginning: Option<ChannelAct>,
    /// Where its first access was.
    first: usize,
    /// The channel.
    channel: usize,
    /// The mutex of the channel, if it is locked; otherwise 0.
    mutex: usize,
    /// The word of a thread that it is about to wake; 0 for none.
    wakes: usize,
    /// The thread parks in it.
    parks: bool,
}

/// The bytes between the two indices.
const LINE: usize = 128;
/// More bytes than a channel has, and fewer than there are to the next one.
const LENGTH: usize = 4 * LINE;

static OPERATIONS: Spin<Vec<ChannelOperation>> = Spin::new(Vec::new());

fn with<R>(me: usize, work: impl FnOnce(&mut ChannelOperation) -> R) -> R {
    let _inside = this_thread::enter_unwatched();
    let mut all = OPERATIONS.lock();
    if all.len() <= me {
        all.resize(me + 1, ChannelOperation::default());
    }
    work(&mut all[me])
}

/// The calling thread makes an access with which an operation begins, or one that follows it in the same function.
pub fn access(me: usize, act: ChannelAct, next: NextAccess) {
    let channel = with(me, |operation| operation.begins(act, next, has_slot).then_some(operation.channel));
    if let Some(channel) = channel {
        schedule::before(0, Act::Touch, channel);
    }
}

/// The calling thread makes a later access of an operation.
pub fn continues(me: usize, next: NextAccess) {
    with(me, |operation| {
        operation.beginning = None;
        operation.wakes = if matches!(next.act, NextAct::Exchange(_)) { next.address } else { 0 };
    });
}

/// Whether an access of the calling thread is a part of an operation because of the channel's mutex: it locks it
/// (`locks`), or is made while it is locked.
pub fn is_part(me: usize, locks: bool, next: NextAccess) -> bool {
    with(me, |operation| {
        let NextAccess { address, act, .. } = next;
        let exchanges = matches!(act, NextAct::Exchange(_));
        if operation.mutex != 0 {
            operation.wakes = if exchanges { address } else { operation.wakes };
            if exchanges && address == operation.mutex {
                operation.mutex = 0;
            }
            return true;
        }
        let own = operation.channel != 0 && (operation.channel..operation.channel + LENGTH).contains(&address);
        if locks && own {
            operation.beginning = None;
            operation.mutex = address;
        }
        locks && own
    })
}

/// The calling thread parks in an operation, or has done so.
pub fn parks(me: usize, parks: bool) {
    with(me, |operation| operation.parks = parks);
}

/// The channel for which the calling thread waits, if it parks in an operation.
pub fn waits_for(me: usize) -> Option<usize> {
    with(me, |operation| operation.parks.then_some(operation.channel))
}

/// Whether the calling thread wakes the thread that waits for this word as a part of an operation.
pub fn wakes(me: usize, word: usize) -> bool {
    with(me, |operation| operation.wakes == word)
}

/// Whether the slots of a channel are in the block of this address: a word of the channel is the address of the block.
fn has_slot(channel: usize, address: usize) -> bool {
    let (Some(own), Some(slots)) = (blocks::containing(channel), blocks::containing(address)) else { return false };
    // SAFETY: the words of a block that the program uses now.
    let word = |at: usize| unsafe { (at as *const usize).read_volatile() };
    (own.start..own.start + own.size / 8 * 8).step_by(8).any(|at| word(at) == slots.start)
}

impl ChannelOperation {
    /// Whether an operation begins with this access. `has_slot` says whether the slots of a channel are at an address.
    fn begins(&mut self, act: ChannelAct, next: NextAccess, has_slot: fn(usize, usize) -> bool) -> bool {
        let NextAccess { address, act: access, .. } = next;
        let again = access == NextAct::Load && address == self.first;
        let elsewhere = address.is_multiple_of(LINE)
            && !(self.channel..self.channel + 2 * LINE).contains(&address)
            && !has_slot(self.channel, address);
        if self.beginning == Some(act) && act != ChannelAct::Disconnect && !again && !elsewhere {
            return false;
        }
        let channel = if act == ChannelAct::Receive { address } else { address.wrapping_sub(LINE) };
        *self = ChannelOperation { beginning: Some(act), first: address, channel, ..ChannelOperation::default() };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANNEL: usize = 0x1000;

    fn no_slot(_channel: usize, _address: usize) -> bool {
        false
    }

    fn load(address: usize) -> NextAccess {
        NextAccess { pc: 0, address, size: 8, act: NextAct::Load }
    }

    #[test]
    fn what_is_done_under_the_mutex_of_a_channel_is_a_part_of_the_operation() {
        // No thread has this place.
        let me = 900;
        with(me, |operation| assert!(operation.begins(ChannelAct::Send, load(CHANNEL + LINE), no_slot)));
        let lock = |address| NextAccess { act: NextAct::CompareExchange(0), ..load(address) };
        let exchange = |address| NextAccess { act: NextAct::Exchange(1), ..load(address) };
        assert!(!is_part(me, true, lock(9 * CHANNEL)), "a mutex of the program");
        assert!(is_part(me, true, lock(CHANNEL + 2 * LINE)));
        assert!(is_part(me, false, exchange(9 * CHANNEL)));
        assert!(wakes(me, 9 * CHANNEL));
        assert!(is_part(me, false, exchange(CHANNEL + 2 * LINE)));
        assert!(!is_part(me, false, exchange(9 * CHANNEL)), "it is unlocked");
    }

    #[test]
    fn an_operation_is_one_step() {
        let mut operation = ChannelOperation::default();
        let update = NextAccess { act: NextAct::CompareExchange(0), ..load(CHANNEL) };
        assert!(operation.begins(ChannelAct::Receive, load(CHANNEL), no_slot));
        assert!(!operation.begins(ChannelAct::Receive, load(CHANNEL + 8), no_slot));
        assert!(!operation.begins(ChannelAct::Receive, load(CHANNEL + LINE), no_slot));
        assert!(!operation.begins(ChannelAct::Receive, update, no_slot));
        assert!(operation.begins(ChannelAct::Receive, load(CHANNEL), no_slot), "it found nothing and tries again");
        assert!(operation.begins(ChannelAct::Send, load(CHANNEL + LINE), no_slot));
        assert_eq!(operation.channel, CHANNEL);
        assert!(operation.begins(ChannelAct::Send, load(2 * CHANNEL + LINE), no_slot), "another channel");
        assert_eq!(operation.channel, 2 * CHANNEL);
        let all_slots = |_, _| true;
        assert!(!operation.begins(ChannelAct::Send, load(4 * CHANNEL), all_slots), "a slot of the channel");
    }
}
