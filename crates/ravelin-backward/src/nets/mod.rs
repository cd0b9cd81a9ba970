//! Petri nets and the question whether a marking can be covered.
//!
//! A [`Net`] has places that hold tokens, and transitions that take tokens from some places and give tokens to some. A marking is
//! *covered* by every marking that has at least as many tokens in each place. [`cover`] decides whether one that covers a target can
//! be reached: backwards over minimal markings, pruned by pairs of places that can be marked together (`pairs`). *Coverable* comes with a
//! firing sequence that was replayed, *uncoverable* with a certificate ([`NetCertificate`]) that a page of code checks.
//!
//! [`spec`] reads and writes the format of MIST, in which the coverability community exchanges nets.
//!
//! Nets must never know what they are made from: ravelin-analysis turns programs with any number of threads into nets.
//!
//! ```
//! use ravelin_backward::nets::{CoverVerdict, cover, spec};
//! use ravelin_explore::Budget;
//!
//! let net = spec::parse("vars a b rules a >= 1 -> a' = a - 1, b' = b + 2; init a = 1, b = 0 target b >= 2").unwrap();
//! let answer = cover(&net, Budget::default());
//! assert!(matches!(answer.verdict, CoverVerdict::Coverable(sequence) if sequence.len() == 1));
//! ```

mod certificate;
mod cover;
mod firing;
mod marking;
mod net;
mod pairs;
pub mod spec;

pub use certificate::{CertificateSize, FORMAT, NetCertificate, NetFlaw, certify, check};
pub use cover::{CoverAnswer, CoverVerdict, cover};
pub use firing::{Unfireable, fire};
pub use marking::{Marking, PlaceId};
pub use net::{InitialTokens, Net, NetTransition, NetTransitionId};
pub use pairs::Pairs;
