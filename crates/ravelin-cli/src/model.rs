//! Which memory models a command is about.

use ravelin_frontend::Language;
use ravelin_program::{Model, Program};

/// The models that were named, each once.
pub fn each(named: &[Model]) -> Vec<Model> {
    let mut models: Vec<Model> = Vec::new();
    for &model in named {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    models
}

/// What a program is about that is given in a language: x86, or C11 and the x86 it is compiled to.
pub fn by_language(language: Language, program: &Program) -> Vec<Model> {
    let is_c = || program.source.text.trim_start().starts_with("C ");
    match language {
        // Models of C11 need a number of threads.
        _ if program.is_parameterised() => vec![Model::Tso],
        Language::Trencher | Language::Memorax => vec![Model::Tso],
        Language::Litmus if !is_c() => vec![Model::Tso],
        Language::Litmus | Language::Rav | Language::Rocker => vec![Model::Tso, Model::Rc20],
    }
}
