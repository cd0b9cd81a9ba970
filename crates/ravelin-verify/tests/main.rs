//! Tests of ravelin-verify, as one program.
