//! Memory of the program that comes and goes.

/// A block of the heap was handed out, by a call that returns to `pc`.
pub fn allocated(_address: usize, _size: usize, _pc: usize) {}

/// A block of the heap is about to be given back, by a call that returns to `pc`: its clocks are forgotten.
pub fn freed(_address: usize, _size: usize, _pc: usize) {}

/// Memory is gone or new (munmap, mmap, a thread's stack): its clocks are forgotten.
pub fn forget(_address: usize, _length: usize) {}

/// `length` bytes are read (or written) by one call that returns to `pc`.
pub fn range(_address: usize, _length: usize, _write: bool, _pc: usize) {}
