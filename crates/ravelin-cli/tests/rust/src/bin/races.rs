// Data races, and what looks like one. The argument is the program.
// case counter counter: race c c
// case two-locks two-locks: race t t
// case publish publish: race pw pr
// case published published: none
// case arc arc: none
// case arc-unsynchronised arc-unsynchronised: race aw ar
// case stdout stdout: none
// case readers readers: race r r
// case at-the-start at-the-start: race sw/8 sr/8
// case file-read file-read: race fr/8 pf
// case file-read-exact file-read-exact: race fe/8 pf
// case file-write file-write: race fw/8 pg
// case socket socket: race sk pf
// case file-ignored file-read | --no-library-calls: none

use std::cell::UnsafeCell;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, Mutex, RwLock};
use watched::{Hidden, argument, at_once, in_turns};

struct Shared(UnsafeCell<u64>);

// SAFETY: it is not safe, which is the point.
unsafe impl Sync for Shared {}

impl Shared {
    const fn new() -> Shared {
        Shared(UnsafeCell::new(0))
    }
}

static DATA: Shared = Shared::new();
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    match &*argument(1) {
        "counter" => at_once(2, |_| (0..100).for_each(|_| unsafe { *DATA.0.get() += 1 })), //@c
        "two-locks" => {
            let locks = [Mutex::new(()), Mutex::new(())];
            at_once(2, |me| {
                for _ in 0..100 {
                    let _guard = locks[me].lock().unwrap();
                    unsafe { *DATA.0.get() += 1 }; //@t
                }
            });
        }
        "publish" => publish(false),
        "published" => publish(true),
        "arc" => arc(),
        "arc-unsynchronised" => arc_unsynchronised(),
        "stdout" => at_once(4, |me| (0..100).for_each(|round| println!("{me} {round} {}", "x".repeat(round % 70)))),
        "readers" => {
            let lock = RwLock::new(());
            at_once(2, |_| {
                for _ in 0..200 {
                    let _guard = lock.read().unwrap();
                    unsafe { *DATA.0.get() += 1 }; //@r
                }
            });
        }
        "at-the-start" => at_the_start(),
        "file-read" => beside_reading(|data| assert_eq!(zeroes().read(data).unwrap(), 8)), //@fr
        "file-read-exact" => beside_reading(|data| zeroes().read_exact(data).unwrap()),    //@fe
        "file-write" => {
            let mut file = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
            in_turns::<Turn>(vec![
                Box::new(move || assert_eq!(file.write(unsafe { bytes() }).unwrap(), 8)), //@fw
                Box::new(|| unsafe { *DATA.0.get() = 1 }),                                //@pg
            ]);
        }
        "socket" => {
            let (mut one, mut two) = UnixStream::pair().unwrap();
            one.write_all(&[1, 2, 3]).unwrap();
            beside_reading(move |data| assert_eq!(two.read(data).unwrap(), 3)); //@sk
        }
        other => panic!("{other} is no program"),
    }
}

type Turn = Box<dyn FnOnce() + Send>;

/// One thread has the data read from a file, and another one reads it.
fn beside_reading(read: impl FnOnce(&mut [u8]) + Send + 'static) {
    in_turns::<Turn>(vec![
        Box::new(move || read(unsafe { bytes() })),
        Box::new(|| assert!(std::hint::black_box(unsafe { *DATA.0.get() }) < u64::MAX)), //@pf
    ]);
}

fn zeroes() -> std::fs::File {
    std::fs::File::open("/dev/zero").unwrap()
}

/// # Safety
/// It is not safe, which is the point.
unsafe fn bytes() -> &'static mut [u8] {
    unsafe { std::slice::from_raw_parts_mut(DATA.0.get().cast(), 8) }
}

/// Both accesses come before anything else that the threads do.
fn at_the_start() {
    in_turns::<Turn>(vec![
        Box::new(|| unsafe { DATA.0.get().write_volatile(7) }), //@sw
        Box::new(|| assert_eq!(unsafe { DATA.0.get().read_volatile() }, 7)), //@sr
    ]);
}

fn publish(properly: bool) {
    let (release, acquire) = if properly { (Release, Acquire) } else { (Relaxed, Relaxed) };
    in_turns::<Turn>(vec![
        Box::new(move || {
            unsafe { *DATA.0.get() = 7 }; //@pw
            READY.store(true, release);
        }),
        Box::new(move || {
            if READY.load(acquire) {
                assert_eq!(unsafe { *DATA.0.get() }, 7); //@pr
            }
        }),
    ]);
}

/// The last owner drops what others wrote: their counts order it.
fn arc() {
    for _ in 0..50 {
        let shared = Arc::new(Shared::new());
        let others: Vec<_> = (0..3)
            .map(|_| {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || drop(shared))
            })
            .collect();
        unsafe { *shared.0.get() += 1 };
        drop(shared);
        others.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// Cloning and dropping a count does not order what the owners do.
fn arc_unsynchronised() {
    let shared = Arc::new(Shared::new());
    let turn = Arc::new(Hidden::new());
    let (other, others_turn) = (Arc::clone(&shared), Arc::clone(&turn));
    let thread = std::thread::spawn(move || {
        unsafe { *other.0.get() = 1 }; //@aw
        drop(Arc::clone(&other));
        others_turn.add();
    });
    turn.wait_for(1);
    let mine = Arc::clone(&shared);
    let seen = unsafe { *mine.0.get() }; //@ar
    thread.join().unwrap();
    assert_eq!(seen, 1);
}
