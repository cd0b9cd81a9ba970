//! Random small programs.
