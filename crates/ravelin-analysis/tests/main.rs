//! All tests that use only the public interface, as one program: linking is most of what a test program costs.
//!
//! `cargo test -p ravelin-analysis --test analysis NAME::` runs those of one file.

mod any_number;
mod budgets;
mod c11_claims;
mod c11_clocks;
mod c11_machines;
mod c11_observational;
mod c11_random;
mod c11_reach_claims;
mod c11_reach_random;
mod c11_repair_claims;
mod c11_repair_random;
mod c11_safety_claims;
mod c11_seq_cst;
mod c11_spin;
mod c11_spin_random;
mod deadlocks_random;
mod dual_certificate;
mod dual_claims;
mod dual_random;
mod fences_random;
mod implied_random;
mod instrument_agrees;
mod instrument_names;
mod instrument_random;
mod instrument_verdicts;
mod known_facts_random;
mod language_claims;
mod lazy_figures;
mod lazy_random;
mod lazy_states;
mod messages_deadlocks;
mod messages_random;
mod monitor_random;
mod old_values_claims;
mod old_values_random;
mod parameterised_claims;
mod parameterised_random;
mod parameterised_reach_random;
mod pso_ordered;
mod pso_random;
mod random_programs;
mod robustness_claims;
mod robustness_peers;
mod robustness_random;
mod robustness_shares;
mod sb_random;
mod stale_random;
mod symmetry_random;
mod units;

#[path = "../../ravelin-explore/tests/jumble/threads.rs"]
mod threads;
