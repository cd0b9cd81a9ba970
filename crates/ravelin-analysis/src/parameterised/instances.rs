//! Instances in increasing size: the smallest with a property is the first that has it.

use ravelin_program::{Copies, Program};

/// A program with a number of copies for each `thread p[*]`.
#[derive(Clone, Debug)]
pub struct Instance {
    /// By template: its name and how many copies there are.
    pub copies: Vec<(String, usize)>,
    pub program: Program,
    /// By thread of the program that this is an instance of, how many there are.
    pub(crate) by_thread: Vec<usize>,
    /// Every instance with fewer copies was looked at and is without the fault.
    pub smallest: bool,
}

impl Instance {
    /// `copies` is by thread of the program.
    pub(super) fn new(program: &Program, copies: &[usize], smallest: bool) -> Instance {
        let templates = program.threads.iter().zip(copies).filter(|(thread, _)| thread.copies == Copies::Any);
        Instance {
            copies: templates.map(|(thread, copies)| (thread.name.clone(), *copies)).collect(),
            program: program.instance_of(copies),
            by_thread: counted(program, copies),
            smallest,
        }
    }

    /// `reader × 2, writer × 1`.
    pub fn show(&self) -> String {
        self.copies.iter().map(|(name, copies)| format!("{name} × {copies}")).collect::<Vec<_>>().join(", ")
    }
}

/// All ways to have `total` copies, by thread of the program.
pub(super) fn of_size(program: &Program, total: usize) -> Vec<Vec<usize>> {
    let templates: Vec<usize> =
        (0..program.threads.len()).filter(|&thread| program.threads[thread].copies == Copies::Any).collect();
    let mut found = Vec::new();
    let mut copies = vec![0; program.threads.len()];
    share(&templates, total, &mut copies, &mut found);
    found
}

fn share(templates: &[usize], left: usize, copies: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    match templates {
        [] if left == 0 => found.push(copies.clone()),
        [] => {}
        [last] => {
            copies[*last] = left;
            found.push(copies.clone());
        }
        [first, rest @ ..] => {
            for here in (0..=left).rev() {
                copies[*first] = here;
                share(rest, left - here, copies, found);
            }
        }
    }
}

/// How many threads there are, by thread of the program.
fn counted(program: &Program, copies: &[usize]) -> Vec<usize> {
    let count =
        |(thread, copies): (&ravelin_program::Thread, &usize)| if thread.copies == Copies::Any { *copies } else { 1 };
    program.threads.iter().zip(copies).map(count).collect()
}

/// How many copies there are together.
pub(super) fn size(program: &Program, copies: &[usize]) -> usize {
    let counted = program.threads.iter().zip(copies).filter(|(thread, _)| thread.copies == Copies::Any);
    counted.map(|(_, copies)| copies).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_program::ProgramBuilder;

    #[test]
    fn copies_are_shared_in_every_way() {
        let mut builder = ProgramBuilder::new("p");
        for (name, any) in [("a", true), ("fixed", false), ("b", true)] {
            let mut thread = builder.thread(name);
            if any {
                thread.thread.copies = Copies::Any;
            }
            thread.finish();
        }
        let program = builder.finish().expect("valid");
        assert_eq!(of_size(&program, 2), [[2, 0, 0], [1, 0, 1], [0, 0, 2]]);
        assert_eq!(of_size(&program, 0), [[0, 0, 0]]);
        let instance = Instance::new(&program, &[1, 0, 2], true);
        assert_eq!((instance.show().as_str(), instance.program.threads.len()), ("a × 1, b × 2", 4));
    }
}
