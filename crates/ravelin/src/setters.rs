//! Methods that several builders share.

/// Methods of a builder, by the names of its fields.
macro_rules! setters {
    ($($name:ident),+ $(,)?) => { $(setters!(@ $name);)+ };
    (@ model) => {
        /// The memory model; tso by default.
        pub fn model(mut self, model: ravelin_program::Model) -> Self {
            self.model = model;
            self
        }
    };
    (@ budget) => {
        /// The budget of the question.
        pub fn budget(mut self, budget: ravelin_explore::Budget<'a>) -> Self {
            self.budget = budget;
            self
        }
    };
    (@ stops) => {
        /// Also reports where threads can stop under sc; on by default.
        pub fn stops(mut self, stops: bool) -> Self {
            self.stops = stops;
            self
        }
    };
    (@ deadlocks) => {
        /// A deadlock counts: a state in which every thread that is not at its end waits, and none can pass. On by
        /// default; switch it off for programs that are meant to block.
        pub fn deadlocks(mut self, deadlocks: bool) -> Self {
            self.deadlocks = deadlocks;
            self
        }
    };
    (@ buffer) => {
        /// The most pending stores of one thread, where a bound is needed.
        pub fn buffer(mut self, stores: usize) -> Self {
            self.buffer = stores;
            self
        }
    };
    (@ messages) => {
        /// The most messages of one cell under ra and rc20. Without, the bound grows as long as the budget allows.
        pub fn messages(mut self, messages: Option<usize>) -> Self {
            self.messages = messages;
            self
        }
    };
    (@ reductions) => {
        /// Which reductions of the state space to use.
        pub fn reductions(mut self, reductions: ravelin_machine::Reductions) -> Self {
            self.reductions = reductions;
            self
        }
    };
    (@ seq_cst) => {
        /// How to read seq_cst accesses (rc20).
        pub fn seq_cst(mut self, reading: ravelin_program::SeqCstReading) -> Self {
            self.seq_cst = reading;
            self
        }
    };
    (@ races) => {
        /// Data races count (ra and rc20); switched off, they are taken to be absent.
        pub fn races(mut self, races: bool) -> Self {
            self.races = races;
            self
        }
    };
}

pub(crate) use setters;
