//! Waiting for descriptors: with a schedule, a thread polls without waiting and gives its turn to others in between.
//!
//! A thread that finds a descriptor ready comes after what made it ready, whether or not it reads from it. What is given
//! to `epoll_ctl` comes before the events that tell of it. Which descriptors these belong to is not known, so an event
//! comes after everything that was written to a socket or to one of the kernel's files without a type.

use super::descriptors::{received, received_from_sockets, releases, sent};
use super::touching::{reads, writes};
use crate::closes::uses;
use crate::schedule::{self, time, turn};
use crate::this_thread;
use libc::{c_int, epoll_event, fd_set, pollfd, timespec, timeval};

/// The most descriptors of a `select` to wait for. With more, the thread polls repeatedly.
const MOST: usize = 64;
const MILLISECOND: u64 = 1_000_000;

interpose! {
    fn poll(descriptors: *mut pollfd, count: u64, limit: c_int; pc) -> c_int {
        uses_listed(descriptors, count, pc);
        let ready = match schedule::mine().filter(|_| limit != 0) {
            Some(me) => in_turn(me, pc, after(limit), listed(descriptors, count), || real(descriptors, count, 0)),
            None => real(descriptors, count, limit),
        };
        polled(descriptors, count, ready, pc)
    }

    fn __poll_chk(descriptors: *mut pollfd, count: u64, limit: c_int, room: usize; pc) -> c_int {
        uses_listed(descriptors, count, pc);
        let ready = match schedule::mine().filter(|_| limit != 0) {
            Some(me) => in_turn(me, pc, after(limit), listed(descriptors, count), || real(descriptors, count, 0, room)),
            None => real(descriptors, count, limit, room),
        };
        polled(descriptors, count, ready, pc)
    }

    fn ppoll(descriptors: *mut pollfd, count: u64, limit: usize, mask: usize; pc) -> c_int {
        uses_listed(descriptors, count, pc);
        let ready = match schedule::mine() {
            Some(me) => {
                // SAFETY: the program gave this address as one of a time, or 0.
                let until = unsafe { time::after(limit) };
                let none = timespec { tv_sec: 0, tv_nsec: 0 };
                in_turn(me, pc, until, listed(descriptors, count), || {
                    real(descriptors, count, (&raw const none) as usize, mask)
                })
            }
            None => real(descriptors, count, limit, mask),
        };
        polled(descriptors, count, ready, pc)
    }

    fn epoll_ctl(file: c_int, operation: c_int, about: c_int, event: usize; pc) -> c_int {
        if operation != libc::EPOLL_CTL_DEL {
            reads(event, size_of::<epoll_event>(), pc);
        }
        uses(file, pc);
        uses(about, pc);
        releases(file, pc);
        let result = real(file, operation, about, event);
        sent(pc);
        result
    }

    fn epoll_wait(file: c_int, events: usize, most: c_int, limit: c_int; pc) -> c_int {
        uses(file, pc);
        let ready = match schedule::mine().filter(|_| limit != 0) {
            Some(me) => in_turn(me, pc, after(limit), &mut [readable(file)], || real(file, events, most, 0)),
            None => real(file, events, most, limit),
        };
        happened(file, events, ready, pc)
    }

    fn epoll_pwait(file: c_int, events: usize, most: c_int, limit: c_int, mask: usize; pc) -> c_int {
        uses(file, pc);
        let ready = match schedule::mine().filter(|_| limit != 0) {
            Some(me) => in_turn(me, pc, after(limit), &mut [readable(file)], || real(file, events, most, 0, mask)),
            None => real(file, events, most, limit, mask),
        };
        happened(file, events, ready, pc)
    }

    fn epoll_pwait2(file: c_int, events: usize, most: c_int, limit: usize, mask: usize; pc) -> c_int {
        uses(file, pc);
        let ready = match schedule::mine() {
            Some(me) => {
                // SAFETY: the program gave this address as one of a time, or 0.
                let until = unsafe { time::after(limit) };
                let none = timespec { tv_sec: 0, tv_nsec: 0 };
                in_turn(me, pc, until, &mut [readable(file)], || real(file, events, most, (&raw const none) as usize, mask))
            }
            None => real(file, events, most, limit, mask),
        };
        happened(file, events, ready, pc)
    }

    fn pselect(
        count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, limit: usize, mask: usize; pc
    ) -> c_int {
        let sets = [read, write, except];
        let ready = match schedule::mine() {
            Some(me) => {
                // SAFETY: the program gave this address as one of a time, or 0.
                let until = unsafe { time::after(limit) };
                let none = timespec { tv_sec: 0, tv_nsec: 0 };
                select_in_turn(me, until, count, sets, || {
                    real(count, read, write, except, (&raw const none) as usize, mask)
                })
            }
            None => real(count, read, write, except, limit, mask),
        };
        selected(count, sets, ready, pc)
    }

    fn select(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, limit: usize; pc) -> c_int {
        let sets = [read, write, except];
        let ready = match schedule::mine() {
            Some(me) => {
                // SAFETY: the program gave this address as one of a time, or 0.
                let wanted = unsafe { (limit as *const timeval).as_ref() };
                let until = wanted.and_then(|wanted| {
                    time::later(wanted.tv_sec.max(0) as u64 * 1_000 * MILLISECOND + wanted.tv_usec.max(0) as u64 * 1_000)
                });
                select_in_turn(me, until, count, sets, || {
                    let mut none = timeval { tv_sec: 0, tv_usec: 0 };
                    real(count, read, write, except, (&raw mut none) as usize)
                })
            }
            None => real(count, read, write, except, limit),
        };
        selected(count, sets, ready, pc)
    }
}

/// When that many milliseconds are over; `None` if there is no limit.
fn after(limit: c_int) -> Option<u64> {
    u64::try_from(limit).ok().and_then(|limit| time::later(limit * MILLISECOND))
}

fn readable(file: c_int) -> pollfd {
    pollfd { fd: file, events: libc::POLLIN, revents: 0 }
}

/// The result of a call that polled these descriptors.
fn polled(descriptors: *mut pollfd, count: u64, ready: c_int, pc: usize) -> c_int {
    if ready >= 0 && this_thread::watched() {
        let descriptors = listed(descriptors, count);
        reads(descriptors.as_ptr() as usize, size_of_val(descriptors), pc);
        for one in descriptors {
            writes((&raw const one.revents) as usize, size_of_val(&one.revents), pc);
            if one.revents & (libc::POLLIN | libc::POLLHUP) != 0 {
                received(one.fd, 0, pc);
            }
        }
    }
    ready
}

/// The result of a call that waited for events.
fn happened(file: c_int, events: usize, ready: c_int, pc: usize) -> c_int {
    if ready > 0 {
        received(file, 0, pc);
        received_from_sockets(pc);
        writes(events, ready as usize * size_of::<epoll_event>(), pc);
    }
    ready
}

/// The result of a call that polled the descriptors in these sets, of which it has left those that are ready.
fn selected(count: c_int, sets: [*mut fd_set; 3], ready: c_int, pc: usize) -> c_int {
    if ready >= 0 && this_thread::watched() {
        let count = count.clamp(0, libc::FD_SETSIZE as c_int);
        for set in sets {
            writes(set as usize, (count as usize).div_ceil(64) * 8, pc);
        }
        // SAFETY: the program gave a set, or none, and the descriptors are below its size.
        let is_ready = |file: &c_int| !sets[0].is_null() && unsafe { libc::FD_ISSET(*file, sets[0]) };
        (0..count).filter(is_ready).for_each(|file| received(file, 0, pc));
    }
    ready
}

/// [`in_turn`] for sets of descriptors, which each poll changes.
fn select_in_turn(
    me: usize,
    until: Option<u64>,
    count: c_int,
    sets: [*mut fd_set; 3],
    mut look: impl FnMut() -> c_int,
) -> c_int {
    let before = sets.map(copy);
    let mut room = [const { pollfd { fd: -1, events: 0, revents: 0 } }; MOST];
    let used = from_sets(count, &before, &mut room);
    in_turn(me, 0, until, &mut room[..used], || {
        for (set, before) in sets.iter().zip(&before) {
            put(*set, before);
        }
        look()
    })
}

/// Polls by `look` until a descriptor is ready or the time is over.
#[cold]
fn in_turn(
    me: usize,
    pc: usize,
    until: Option<u64>,
    descriptors: &mut [pollfd],
    mut look: impl FnMut() -> c_int,
) -> c_int {
    schedule::point(pc);
    loop {
        schedule::end_if_cancelled(me);
        let ready = look();
        if ready != 0 {
            return ready;
        }
        if turn::wait_for_descriptors(me, pc, descriptors, until) {
            return look();
        }
    }
}

/// The descriptors of a `poll` are used; the first ones if there are very many.
fn uses_listed(descriptors: *mut pollfd, count: u64, pc: usize) {
    if this_thread::watched() {
        listed(descriptors, count).iter().take(MOST).for_each(|one| uses(one.fd, pc));
    }
}

fn listed<'a>(descriptors: *mut pollfd, count: u64) -> &'a mut [pollfd] {
    if descriptors.is_null() {
        return &mut [];
    }
    // SAFETY: the program gave that many descriptors.
    unsafe { std::slice::from_raw_parts_mut(descriptors, count as usize) }
}

fn copy(set: *mut fd_set) -> Option<fd_set> {
    // SAFETY: the program gave a set, or none.
    (!set.is_null()).then(|| unsafe { *set })
}

fn put(set: *mut fd_set, value: &Option<fd_set>) {
    if let Some(value) = value {
        // SAFETY: there was a set at this address.
        unsafe { *set = *value };
    }
}

fn from_sets(count: c_int, sets: &[Option<fd_set>; 3], room: &mut [pollfd]) -> usize {
    const EVENTS: [i16; 3] = [libc::POLLIN, libc::POLLOUT, libc::POLLPRI];
    let mut used = 0;
    for file in 0..count.clamp(0, libc::FD_SETSIZE as c_int) {
        for (set, events) in sets.iter().zip(EVENTS) {
            // SAFETY: the descriptor is below the size of the set.
            let wanted = set.as_ref().is_some_and(|set| unsafe { libc::FD_ISSET(file, set) });
            if wanted && used < room.len() {
                room[used] = pollfd { fd: file, events, revents: 0 };
                used += 1;
            }
        }
    }
    used
}

/// A call that would wait for a descriptor: others have their turn until it is ready. A descriptor that does not wait,
/// or cannot be polled, is left to the call.
pub fn await_ready(file: c_int, events: i16, pc: usize) {
    let Some(me) = schedule::mine() else {
        return;
    };
    schedule::point(pc);
    let mut one = [pollfd { fd: file, events, revents: 0 }];
    loop {
        schedule::end_if_cancelled(me);
        let none = timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel fills the descriptor and reads the time.
        let ready = unsafe {
            crate::kernel::call(libc::SYS_ppoll, [one.as_mut_ptr() as usize, 1, (&raw const none) as usize, 0, 8])
        };
        // SAFETY: asks for flags.
        let flags = unsafe { crate::kernel::call(libc::SYS_fcntl, [file as usize, libc::F_GETFL as usize, 0]) };
        if ready != 0 || flags < 0 || flags & libc::O_NONBLOCK as isize != 0 {
            return;
        }
        turn::wait_for_descriptors(me, pc, &mut one, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_of(files: &[c_int]) -> fd_set {
        // SAFETY: a set of zeroes is empty, and the descriptors fit.
        unsafe {
            let mut set = std::mem::zeroed();
            files.iter().for_each(|&file| libc::FD_SET(file, &mut set));
            set
        }
    }

    fn listed_in(count: c_int, sets: &[Option<fd_set>; 3], room: usize) -> Vec<(c_int, i16)> {
        let mut all = vec![pollfd { fd: -1, events: 0, revents: 0 }; room];
        let used = from_sets(count, sets, &mut all);
        all[..used].iter().map(|one| (one.fd, one.events)).collect()
    }

    #[test]
    fn the_sets_of_a_select_become_a_list() {
        let sets = [Some(set_of(&[0, 5, 1023])), None, Some(set_of(&[5]))];
        let (read, urgent) = (libc::POLLIN, libc::POLLPRI);
        assert_eq!(listed_in(1024, &sets, 9), [(0, read), (5, read), (5, urgent), (1023, read)]);
        assert_eq!(listed_in(6, &sets, 9), [(0, read), (5, read), (5, urgent)]);
        assert_eq!(listed_in(5, &sets, 9), [(0, read)]);
        assert_eq!(listed_in(0, &sets, 9), []);
        let writes = [None, Some(set_of(&[3])), None];
        assert_eq!(listed_in(4, &writes, 9), [(3, libc::POLLOUT)]);
    }

    #[test]
    fn a_number_of_descriptors_that_cannot_be_and_a_full_list_do_no_harm() {
        let sets = [Some(set_of(&[1, 2, 3])), None, None];
        assert_eq!(listed_in(-1, &sets, 9), []);
        assert_eq!(listed_in(c_int::MAX, &sets, 9).len(), 3);
        assert_eq!(listed_in(1024, &sets, 2).len(), 2);
    }

    #[test]
    fn sets_are_taken_before_a_look_and_put_back_after_it() {
        let mut set = set_of(&[4]);
        let taken = copy(&raw mut set);
        set = set_of(&[]);
        put(&raw mut set, &taken);
        // SAFETY: the descriptor is below the size of the set.
        assert!(unsafe { libc::FD_ISSET(4, &set) });
        assert!(copy(std::ptr::null_mut()).is_none());
        put(std::ptr::null_mut(), &None);
        assert!(listed(std::ptr::null_mut(), 5).is_empty());
    }
}
