//! Stored proofs, checked against their program or net.

use crate::cover::Net;
use crate::error::Error;
use crate::program::Program;
use ravelin_analysis::parameterised::certificate::{self as any_number, Claim};
use ravelin_analysis::reachability::certificate as load_buffers;
use serde_json::Value;

/// A proof that `certificate` of a question, or [`crate::Cover::run`], made.
#[derive(Debug)]
pub struct Certificate(CertificateKind);

#[derive(Debug)]
enum CertificateKind {
    /// No goal can be reached under tso.
    LoadBuffers(load_buffers::ReachabilityCertificate),
    /// About any number of threads.
    AnyNumber(any_number::ParameterisedCertificate),
    /// No target of a net can be covered.
    Net(ravelin_backward::nets::NetCertificate),
}

impl Certificate {
    /// Reads a proof. Its format determines its kind.
    pub fn parse(text: &str) -> Result<Certificate, Error> {
        let not_one = |error: serde_json::Error| Error::Question(format!("not a certificate: {error}"));
        let document: Value = serde_json::from_str(text).map_err(not_one)?;
        let kind = match document["format"].as_str() {
            Some(ravelin_backward::nets::FORMAT) => {
                CertificateKind::Net(serde_json::from_value(document).map_err(not_one)?)
            }
            Some(any_number::FORMAT) => CertificateKind::AnyNumber(serde_json::from_value(document).map_err(not_one)?),
            _ => CertificateKind::LoadBuffers(serde_json::from_value(document).map_err(not_one)?),
        };
        Ok(Certificate(kind))
    }

    /// The name of the program that it proves something about; none for a net.
    pub fn program(&self) -> Option<&str> {
        match &self.0 {
            CertificateKind::LoadBuffers(certificate) => Some(&certificate.program),
            CertificateKind::AnyNumber(certificate) => Some(&certificate.program),
            CertificateKind::Net(_) => None,
        }
    }

    /// Checks it against a program. Returns what is proved, or what is wrong with the proof.
    pub fn check(&self, program: &Program) -> Result<String, String> {
        let (file, program) = (program.name(), &program.program);
        match &self.0 {
            CertificateKind::LoadBuffers(certificate) => {
                let checked = load_buffers::check(program, certificate).map_err(|flaw| flaw.to_string())?;
                Ok(format!(
                    "no goal of {file} can be reached under tso: {} constraints contain {} cases of the goals, no initial state, \
                     and all {} steps back from them",
                    checked.constraints, checked.claims, checked.steps
                ))
            }
            CertificateKind::AnyNumber(certificate) => {
                let checked = any_number::check(program, certificate).map_err(|flaw| flaw.to_string())?;
                let claim = match certificate.claim {
                    Claim::Robust => format!("{file} is robust against tso"),
                    Claim::Unreachable => format!("no goal of {file} can be reached under sc"),
                };
                Ok(format!(
                    "{claim} for every number of threads: {} markings of {} nets contain the targets, no initial marking, and \
                     all {} steps back",
                    checked.constraints, checked.claims, checked.steps
                ))
            }
            CertificateKind::Net(_) => Err("it is about a net, not about a program".to_owned()),
        }
    }

    /// Checks it against a net. Returns what is proved, or what is wrong with the proof.
    pub fn check_net(&self, net: &Net) -> Result<String, String> {
        let CertificateKind::Net(certificate) = &self.0 else {
            return Err("it is about a program, not about a net".to_owned());
        };
        let checked = ravelin_backward::nets::check(&net.net, certificate).map_err(|flaw| flaw.to_string())?;
        Ok(format!(
            "no target of {} can be covered: {} markings are below {} targets, above no initial marking, and closed under all \
             {} steps back",
            net.name, checked.constraints, checked.claims, checked.steps
        ))
    }
}
