//! What the search needs to know of a system.

/// A name of a file of the antichain's index.
pub type FileId = u64;

/// A system whose steps are monotonic in a well-quasi-order, by constraints on its states.
///
/// The antichain is indexed by *files* and signatures, so that the real comparison is made for few pairs. Each constraint is kept in
/// one of its files. Whatever covers a constraint is kept in one of those of which [`in_smaller_files`](Self::in_smaller_files) asks. So
/// what all constraints have, such as a control state, makes one file each; what they may ask for, such as a token in a place, makes one
/// for each thing that one asks for.
pub trait MonotonicSystem {
    /// A constraint on states.
    type Constraint;
    type Step: Copy;

    /// Adds the minimal constraints from which one step leads into `of`, each with the step. Long work asks the watch of the search in
    /// between, and may end early once a limit is hit.
    fn predecessors(&mut self, of: &Self::Constraint, found: &mut Vec<(Self::Step, Self::Constraint)>);

    /// Predecessors and goals that no reachable state satisfies, and that were therefore not given to the search, so far.
    fn pruned(&self) -> u64 {
        0
    }

    /// Some initial state satisfies it.
    fn is_initial(&self, constraint: &Self::Constraint) -> bool;

    /// Every state that satisfies `large` satisfies `small`. May say no where the answer is yes.
    fn covers(&self, small: &Self::Constraint, large: &Self::Constraint) -> bool;

    /// If one covers another, its signature is a subset of the other's.
    fn signature(&self, constraint: &Self::Constraint) -> u128;

    /// The files in any of which it may be kept: at least one.
    fn files(&mut self, constraint: &Self::Constraint, files: &mut Vec<FileId>);

    /// Asks of each file in which those may be that cover it whether one does, until the answer is yes.
    fn in_smaller_files(&self, constraint: &Self::Constraint, covers: impl FnMut(FileId) -> bool) -> bool;

    /// Constraints of low rank are taken first, and of these the one that is nearest to the goal.
    fn rank(&self, _constraint: &Self::Constraint) -> u64 {
        0
    }

    /// What one takes in memory beside its own size, roughly.
    fn bytes(&self, constraint: &Self::Constraint) -> usize;
}
