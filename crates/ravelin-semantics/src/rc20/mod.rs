//! RC20 as execution graphs.
