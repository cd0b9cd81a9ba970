//! Assertions for tests.

use crate::{Answer, Program, check};
use std::path::Path;

/// Panics unless a program is robust against the named models; the witness is the message.
///
/// The path is relative to the root of the package, as `cargo test` runs tests there.
///
/// ```no_run
/// ravelin::assert_robust!("models/queue.rav", tso, rc20);
/// ```
#[macro_export]
macro_rules! assert_robust {
    ($path:expr $(, $model:ident)+ $(,)?) => {
        $crate::__assert_robust(::std::path::Path::new($path), &[$(::std::stringify!($model)),+])
    };
}

/// The implementation of [`assert_robust!`].
#[doc(hidden)]
#[track_caller]
pub fn __assert_robust(path: &Path, models: &[&str]) {
    let program = match Program::read(path) {
        Ok(program) => program,
        Err(error) => panic!("{error}"),
    };
    for model in models {
        let answer = match model.parse() {
            Ok(model) => check(&program).model(model).deadlocks(false).run(),
            Err(error) => panic!("{error}"),
        };
        match answer {
            Ok(answer) if answer.is_robust() => {}
            Ok(answer) => panic!("{}", answer_text(&answer)),
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
}

fn answer_text(answer: &Answer) -> String {
    answer.to_string()
}
