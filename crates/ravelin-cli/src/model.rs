//! Which memory models a command is about.

use ravelin::Model;

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
