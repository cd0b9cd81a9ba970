//! Whether an access of a run could have read or been placed differently under C11.
