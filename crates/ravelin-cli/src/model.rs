//! The memory models of `check` and `fence`: those of hardware, and those of C11.

use crate::arguments::{CheckModel, ModelName};
use ravelin_analysis::c11::C11Model;
use ravelin_frontend::Language;
use ravelin_program::Program;
use ravelin_semantics::Model;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyModel {
    Hardware(Model),
    C11(C11Model),
}

impl AnyModel {
    pub const TSO: AnyModel = AnyModel::Hardware(Model::Tso);
    pub const RC20: AnyModel = AnyModel::C11(C11Model::Rc20);
    /// Those that a program can fail to be robust against.
    pub const WEAK: [AnyModel; 4] =
        [AnyModel::TSO, AnyModel::Hardware(Model::Pso), AnyModel::C11(C11Model::ReleaseAcquire), AnyModel::RC20];

    /// The models that were named, each once.
    pub fn each(named: &[CheckModel]) -> Vec<AnyModel> {
        let mut models: Vec<AnyModel> = Vec::new();
        for &model in named {
            let model = model.into();
            if !models.contains(&model) {
                models.push(model);
            }
        }
        models
    }

    pub fn name(self) -> &'static str {
        match self {
            AnyModel::Hardware(model) => model.name(),
            AnyModel::C11(model) => ravelin_report::c11::model_name(model),
        }
    }

    /// What a program is about that is given in a language: x86, or C11 and the x86 it is compiled to.
    pub fn by_language(language: Language, program: &Program) -> Vec<AnyModel> {
        let is_c = || program.source.text.trim_start().starts_with("C ");
        match language {
            // Models of C11 need a number of threads.
            _ if program.is_parameterised() => vec![AnyModel::TSO],
            Language::Trencher | Language::Memorax => vec![AnyModel::TSO],
            Language::Litmus if !is_c() => vec![AnyModel::TSO],
            Language::Litmus | Language::Rav | Language::Rocker => vec![AnyModel::TSO, AnyModel::RC20],
        }
    }
}

impl From<CheckModel> for AnyModel {
    fn from(model: CheckModel) -> AnyModel {
        match model {
            CheckModel::Sc => AnyModel::Hardware(Model::Sc),
            CheckModel::Tso => AnyModel::TSO,
            CheckModel::Pso => AnyModel::Hardware(Model::Pso),
            CheckModel::Ra => AnyModel::C11(C11Model::ReleaseAcquire),
            CheckModel::Rc20 => AnyModel::RC20,
        }
    }
}

impl From<ModelName> for AnyModel {
    fn from(model: ModelName) -> AnyModel {
        AnyModel::Hardware(model.into())
    }
}

impl From<C11Model> for AnyModel {
    fn from(model: C11Model) -> AnyModel {
        AnyModel::C11(model)
    }
}

impl From<Model> for AnyModel {
    fn from(model: Model) -> AnyModel {
        AnyModel::Hardware(model)
    }
}
