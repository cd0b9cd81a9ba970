//! Local variables become values.
