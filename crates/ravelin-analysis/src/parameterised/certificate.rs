//! Proofs about any number of threads that can be carried away.
//!
//! A certificate has one net's certificate for each thread that could attack, or one for the goals. The checker builds the nets anew from
//! the program and checks each with ravelin-backward' checker. Attacks that the analysis dismisses without a search are not taken on trust:
//! the nets of a certificate are about all of them.
//!
//! What is left to be believed: the finite view of the program and its translation into nets, which tests compare with instances.

use super::attack::{ThreadAttacks, attack_net};
use super::system::system_net;
use crate::AnalysisError;
use crate::reachability::finite::Finite;
use crate::robustness::attacks;
use ravelin_backward::nets::{CertificateSize, CoverVerdict, Net, NetCertificate, NetFlaw, cover};
use ravelin_explore::{Budget, Watch};
use ravelin_program::Program;
use serde::{Deserialize, Serialize};
use std::time::Instant;
use thiserror::Error;

/// The version of the format.
pub const FORMAT: &str = "ravelin any-number certificate 1";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterisedCertificate {
    pub format: String,
    /// The name of the program, for people.
    pub program: String,
    pub claim: Claim,
    pub proofs: Vec<Proof>,
}

/// What is proved, for every number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The program is robust against TSO.
    Robust,
    /// No goal can be reached under SC.
    Unreachable,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The thread whose attacks the net is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attacker: Option<String>,
    pub net: NetCertificate,
}

/// Why a certificate proves nothing.
#[derive(Clone, Debug, Error)]
pub enum ParameterisedFlaw {
    #[error("this is not a `{FORMAT}`")]
    Format,
    #[error("it has no proof about the attacks of `{0}`")]
    Missing(String),
    #[error("it has no proof about the goals")]
    NoGoals,
    #[error("{of}: {flaw}")]
    Net { of: String, flaw: NetFlaw },
    #[error(transparent)]
    Program(#[from] AnalysisError),
}

/// A certificate; `None` if the claim is false, or if a limit was hit before it was proved.
pub fn certify(
    program: &Program,
    claim: Claim,
    budget: Budget,
) -> Result<Option<ParameterisedCertificate>, AnalysisError> {
    let start = Instant::now();
    let mut proofs = Vec::new();
    let watch = Watch::new(budget, "making nets");
    let nets = match nets(program, claim, &watch) {
        Err(AnalysisError::Limit(_)) => return Ok(None),
        nets => nets?,
    };
    for (attacker, net) in nets {
        let answer = cover(&net, budget.child(start, 0));
        let certificate =
            ravelin_backward::nets::certify(&net, &answer).filter(|_| answer.verdict == CoverVerdict::Uncoverable);
        let Some(certificate) = certificate else { return Ok(None) };
        proofs.push(Proof { attacker, net: certificate });
    }
    Ok(Some(ParameterisedCertificate { format: FORMAT.to_owned(), program: program.name.clone(), claim, proofs }))
}

/// Checks that a certificate proves its claim: one claim per net.
pub fn check(program: &Program, certificate: &ParameterisedCertificate) -> Result<CertificateSize, ParameterisedFlaw> {
    if certificate.format != FORMAT {
        return Err(ParameterisedFlaw::Format);
    }
    let mut checked = CertificateSize::default();
    for (attacker, net) in nets(program, certificate.claim, &Watch::unlimited())? {
        let proof = certificate.proofs.iter().find(|proof| proof.attacker == attacker);
        let proof =
            proof.ok_or_else(|| attacker.clone().map_or(ParameterisedFlaw::NoGoals, ParameterisedFlaw::Missing))?;
        let found = ravelin_backward::nets::check(&net, &proof.net).map_err(|flaw| {
            let of = attacker.map_or("goals".to_owned(), |attacker| format!("attacks of `{attacker}`"));
            ParameterisedFlaw::Net { of, flaw }
        })?;
        checked.claims += 1;
        checked.constraints += found.constraints;
        checked.steps += found.steps;
    }
    Ok(checked)
}

/// The nets that a claim is about.
fn nets(program: &Program, claim: Claim, watch: &Watch) -> Result<Vec<(Option<String>, Net)>, AnalysisError> {
    match claim {
        Claim::Robust => {
            let finite = Finite::of_accesses(program, watch)?;
            let all = attacks(&finite.program);
            let mut nets = Vec::new();
            for (thread, code) in finite.program.threads.iter().enumerate() {
                let of_thread = all.iter().filter(|attack| attack.thread.0 == thread);
                let (stores, loads) = of_thread.map(|attack| (attack.store, attack.load)).unzip();
                let target = ThreadAttacks { thread, stores, loads };
                if !target.stores.is_empty() {
                    nets.push((Some(code.name.clone()), attack_net(&finite, &target, watch)?.net));
                }
            }
            Ok(nets)
        }
        Claim::Unreachable => {
            let finite = Finite::of_templates(program, watch)?;
            Ok(vec![(None, system_net(&finite, watch)?.net)])
        }
    }
}
