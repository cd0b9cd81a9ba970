//! Memory models that questions about a program can name.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Sequential consistency: stores reach memory at once.
    Sc,
    /// Total store order, x86: one FIFO store buffer per thread.
    Tso,
    /// Partial store order: one FIFO store buffer per thread and address.
    Pso,
    /// Release/acquire: every atomic access is a release or acquire one, whatever is written. Fences are as written.
    Ra,
    /// RC20, a model of C11: orders as written.
    Rc20,
}

impl Model {
    pub const ALL: [Model; 5] = [Model::Sc, Model::Tso, Model::Pso, Model::Ra, Model::Rc20];
    /// Those with an operational semantics of store buffers.
    pub const HARDWARE: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];
    /// Those that a program can fail to be robust against.
    pub const WEAK: [Model; 4] = [Model::Tso, Model::Pso, Model::Ra, Model::Rc20];

    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
            Model::Ra => "ra",
            Model::Rc20 => "rc20",
        }
    }

    /// Stores wait in buffers.
    pub fn is_buffered(self) -> bool {
        matches!(self, Model::Tso | Model::Pso)
    }

    /// A model of hardware: sc, tso or pso. Seq_cst stores are lowered for these.
    pub fn is_hardware(self) -> bool {
        Model::HARDWARE.contains(&self)
    }

    /// A model of a language, in which orders have a meaning: ra or rc20.
    pub fn is_c11(self) -> bool {
        !self.is_hardware()
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not one of a memory model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a memory model here; there are sc, tso, pso, ra and rc20{hint}", hint = hint(.0))]
pub struct UnknownModel(pub String);

/// What somebody who writes this name may be looking for.
fn hint(name: &str) -> &'static str {
    match name.to_ascii_lowercase().as_str() {
        "x86" | "x86-tso" | "x86_64" | "x64" | "amd64" => ": x86 is tso",
        "c" | "c11" | "c++" | "c++11" | "cpp" | "rust" | "rc11" | "llvm" => ": the one of C11, C++ and Rust is rc20",
        "arm" | "arm64" | "armv8" | "aarch64" => {
            ". For code that runs on ARM, ask about rc20: each finding says whether ARMv8 can do it"
        }
        "arm32" | "armv7" | "power" | "powerpc" | "ppc" | "ppc64" | "riscv" | "risc-v" | "rvwmo" => {
            ". What this machine does is not known here; for portable code ask about rc20"
        }
        "linux" | "lkmm" => ". The model of the Linux kernel is not known here",
        "sparc" | "sparc-tso" => ": SPARC's are tso and pso",
        _ => "",
    }
}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Model, UnknownModel> {
        Model::ALL
            .into_iter()
            .find(|model| model.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownModel(name.to_owned()))
    }
}

/// How seq_cst accesses are read under RC20, which has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SeqCstReading {
    /// Release/acquire, with a seq_cst fence after each.
    After,
    /// Release/acquire, with a seq_cst fence before each.
    Before,
    /// The findings of both.
    Both,
    /// Release/acquire, and nothing else.
    RelAcq,
    /// As RC11's axioms have them; the other readings are means to find out.
    #[default]
    Exact,
}

impl SeqCstReading {
    pub const ALL: [SeqCstReading; 5] =
        [SeqCstReading::Exact, SeqCstReading::After, SeqCstReading::Before, SeqCstReading::Both, SeqCstReading::RelAcq];

    pub fn name(self) -> &'static str {
        match self {
            SeqCstReading::After => "after",
            SeqCstReading::Before => "before",
            SeqCstReading::Both => "both",
            SeqCstReading::RelAcq => "rel-acq",
            SeqCstReading::Exact => "exact",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for model in Model::ALL {
            assert_eq!(model.name().parse(), Ok(model));
            assert_ne!(model.is_hardware(), model.is_c11());
        }
        assert_eq!("TSO".parse(), Ok(Model::Tso));
        assert_eq!("c11".parse::<Model>(), Err(UnknownModel("c11".to_owned())));
    }

    #[test]
    fn names_of_others_are_explained() {
        let said = |name: &str| UnknownModel(name.to_owned()).to_string();
        assert!(said("c11").ends_with("is rc20"), "{}", said("c11"));
        assert!(said("ARM").contains("ARMv8 can do it"), "{}", said("ARM"));
        assert!(said("tos").ends_with("ra and rc20"), "{}", said("tos"));
    }
}
