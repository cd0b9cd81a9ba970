//! `pthread_once` and C11's `call_once`: whoever comes back knows what the initialiser did.
//!
//! The initialiser's knowledge must be released before the C library lets anybody else go on, so the C library is given
//! an initialiser of ours. It takes no argument; what it is to run is in two words of the thread, read before anything
//! can nest.

use crate::sync;
use libc::c_int;

interpose! {
    fn pthread_once(control: usize, initialise: usize) -> c_int {
        intend(control, initialise);
        let status = real(control, initialise_and_release as *const () as usize);
        sync::acquire(control);
        status
    }

    fn call_once(control: usize, initialise: usize) {
        intend(control, initialise);
        real(control, initialise_and_release as *const () as usize);
        sync::acquire(control);
    }
}

// The control and the initialiser that the thread is about to run, if it is the first.
thread_words!(intended, "ravelin_once", 2);

fn intend(control: usize, initialise: usize) {
    let words = intended();
    // SAFETY: the thread's own two words.
    unsafe {
        words.write(control);
        words.add(1).write(initialise);
    }
}

extern "C" fn initialise_and_release() {
    let words = intended();
    // SAFETY: the thread's own two words, which it wrote just before the C library called this.
    let (control, initialise) = unsafe { (words.read(), words.add(1).read()) };
    // SAFETY: the program gave this address as one of a function without arguments.
    unsafe {
        let initialise: unsafe extern "C" fn() = std::mem::transmute(initialise);
        initialise();
    }
    sync::release(control);
}
