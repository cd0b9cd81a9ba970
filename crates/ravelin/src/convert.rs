//! `convert`: a program in another language.

use crate::error::Error;
use crate::program::Program;
use ravelin_analysis::parameterised::petri_net_of_attacks;
use ravelin_analysis::robustness::{find_attack, instrument};
use ravelin_backward::nets::spec;
use ravelin_frontend::{Language, print, rav};
use ravelin_program::HardwareProgram;
use std::fmt;

/// A language to write a program in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetLanguage {
    /// Ravelin's own.
    Rav,
    /// A litmus test for herd.
    Litmus,
    /// A C program, to be run under the sanitizer.
    C,
    /// Control flow for Graphviz.
    Dot,
    /// SPIN's input.
    Promela,
    /// The Petri net of the attacks, in MIST's format.
    Spec,
}

impl TargetLanguage {
    /// All of them.
    pub const ALL: [TargetLanguage; 6] = [
        TargetLanguage::Rav,
        TargetLanguage::Litmus,
        TargetLanguage::C,
        TargetLanguage::Dot,
        TargetLanguage::Promela,
        TargetLanguage::Spec,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TargetLanguage::Rav => "rav",
            TargetLanguage::Litmus => "litmus",
            TargetLanguage::C => "c",
            TargetLanguage::Dot => "dot",
            TargetLanguage::Promela => "promela",
            TargetLanguage::Spec => "spec",
        }
    }
}

/// Writes a program in another language, or formatted in its own. With the name of an attack, the program in which that
/// attack is feasible exactly if a goal can be reached, or for nets the attacks of one thread only.
///
/// ```
/// use ravelin::{Program, TargetLanguage};
///
/// let program = Program::parse("one.rav", "static x;thread p{x.store(1);}")?;
/// assert_eq!(ravelin::convert(&program, TargetLanguage::Rav, None)?, "static x;\nthread p {\n    x.store(1);\n}\n");
/// # Ok::<(), ravelin::Error>(())
/// ```
pub fn convert(program: &Program, target: TargetLanguage, attack: Option<&str>) -> Result<String, Error> {
    let unfit = |problem: &dyn fmt::Display| Error::Question(format!("{}: {problem}", program.name()));
    let mut converted = program.program.clone();
    if target == TargetLanguage::Spec {
        let attack = attack.map(|attack| find_attack(&HardwareProgram::new(&converted), attack));
        let attack = attack.transpose().map_err(|error| unfit(&error))?;
        let net = petri_net_of_attacks(&converted, attack).map_err(|error| unfit(&error))?;
        return Ok(spec::print(&net));
    }
    if let Some(attack) = attack {
        // Attacks are about the program after the x86 mapping.
        let lowered = HardwareProgram::new(&converted);
        let attack = find_attack(&lowered, attack).map_err(|error| unfit(&error))?;
        converted = instrument(&lowered, attack).map_err(|error| unfit(&error))?;
    }
    match target {
        // A program in its own language keeps its shape and its comments.
        TargetLanguage::Rav
            if program.language == Language::Rav && program.reading.copies.is_none() && attack.is_none() =>
        {
            Ok(rav::format(&rav::parse(converted.source).ast))
        }
        TargetLanguage::Rav => Ok(print::rav(&converted)),
        TargetLanguage::Litmus => print::litmus(&converted).map_err(|error| unfit(&error)),
        TargetLanguage::C => print::c(&converted).map_err(|error| unfit(&error)),
        TargetLanguage::Dot | TargetLanguage::Spec => Ok(print::dot(&converted)),
        TargetLanguage::Promela => print::promela(&converted).map_err(|error| unfit(&error)),
    }
}
