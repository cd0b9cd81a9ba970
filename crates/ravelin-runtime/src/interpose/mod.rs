//! The C library's functions that matter, and what happens around each.
