//! The processors on which this process and its runs may be.
//!
//! A program that serves runs and the thread that asks for them take turns: one of the two always waits. On two
//! processors each message wakes an idle one, which takes as long as a part of a small run. So while a run is made, its
//! asker stays on the processor of the run ([`SharedProcessor`]). On a busy machine no processor is idle, and whoever may
//! go to any of them waits less ([`are_idle`]).

/// The processors that the calling thread may use.
pub fn processors() -> Vec<usize> {
    let Some(set) = own_set() else { return Vec::new() };
    // SAFETY: reads a set that exists.
    (0..libc::CPU_SETSIZE as usize).filter(|&processor| unsafe { libc::CPU_ISSET(processor, &set) }).collect()
}

/// Whether some processor has been idle for most of the last minute.
pub fn are_idle() -> bool {
    let mut load = 0.0;
    // SAFETY: the C library stores one number.
    unsafe { libc::getloadavg(&mut load, 1) == 1 && leaves_idle(load, processors().len()) }
}

fn leaves_idle(load: f64, processors: usize) -> bool {
    load < processors as f64
}

fn own_set() -> Option<libc::cpu_set_t> {
    // SAFETY: an empty set is all zeroes, and the C library fills it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) == 0).then_some(set)
    }
}

fn stay_on(set: &libc::cpu_set_t) -> bool {
    // SAFETY: the C library reads a set.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) == 0 }
}

/// The calling thread stays on one processor until this is dropped.
pub struct SharedProcessor {
    number: usize,
    /// Where the thread was allowed to be before.
    before: libc::cpu_set_t,
}

impl SharedProcessor {
    /// This processor, or the one on which the thread is. `None` if it may not be there.
    pub fn take(wanted: Option<usize>) -> Option<SharedProcessor> {
        // SAFETY: no arguments; a negative number is an error.
        let number = wanted.or_else(|| usize::try_from(unsafe { libc::sched_getcpu() }).ok())?;
        let before = own_set()?;
        // SAFETY: an empty set is all zeroes, and numbers beyond it are refused.
        let only = unsafe {
            let mut only: libc::cpu_set_t = std::mem::zeroed();
            if number >= libc::CPU_SETSIZE as usize {
                return None;
            }
            libc::CPU_SET(number, &mut only);
            only
        };
        stay_on(&only).then_some(SharedProcessor { number, before })
    }

    /// Its number.
    pub fn number(&self) -> usize {
        self.number
    }
}

impl Drop for SharedProcessor {
    fn drop(&mut self) {
        // Programs that this thread starts later must be allowed everywhere. If that is refused, they are slower.
        let _ = stay_on(&self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_on_the_processor_it_takes_and_afterwards_allowed_where_it_was() {
        let before = processors();
        assert!(!before.is_empty());
        for wanted in before.iter().copied().map(Some).chain([None]) {
            let taken = SharedProcessor::take(wanted).expect("an allowed processor");
            assert_eq!(processors(), [taken.number()]);
            assert!(wanted.is_none_or(|wanted| wanted == taken.number()));
            drop(taken);
            assert_eq!(processors(), before);
        }
    }

    #[test]
    fn a_load_below_the_number_of_processors_leaves_one_idle() {
        assert!(leaves_idle(0.0, 1) && leaves_idle(1.9, 2));
        assert!(!leaves_idle(1.0, 1) && !leaves_idle(8.0, 2) && !leaves_idle(0.0, 0));
    }

    #[test]
    fn a_processor_that_does_not_exist_is_not_taken() {
        let before = processors();
        assert!(SharedProcessor::take(Some(libc::CPU_SETSIZE as usize)).is_none());
        assert!(SharedProcessor::take(Some(libc::CPU_SETSIZE as usize - 1)).is_none());
        assert_eq!(processors(), before);
    }
}
