//! The clocks against judges that are too plain to be wrong, on the examples of the paper and on random traces.

mod claims;
mod compare;
mod judges;
mod random;
mod store_buffers;
pub mod traces;
mod watched;
