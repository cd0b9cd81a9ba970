//! Answers about fences: which sets there are, what they cost, why each fence is needed, or why there is no set.

pub mod json;
pub mod text;

use ravelin_analysis::fences::{FenceSet, Fences, Offer, Purpose, Sets, Trouble};
use ravelin_program::{Change, Program, SeqCstReading, Site, Strength, lower_for_hardware, repaired};

/// An answer with all that is needed to show it.
pub struct Shown<'a> {
    pub file: &'a str,
    pub program: &'a Program,
    pub model: &'a str,
    pub purpose: Purpose,
    pub wanted: Sets,
    pub sites: &'a [Site],
    pub offers: &'a [Offer],
    pub answer: &'a Fences,
    /// The reading of seq_cst accesses that an answer under rc20 is about.
    pub seq_cst: Option<SeqCstReading>,
    /// What goes wrong without each fence of the first set.
    pub reasons: Vec<Needed>,
    /// The repaired program was written down, read again and found right, as this says.
    pub checked: Option<String>,
    /// The change as a unified diff.
    pub diff: Option<String>,
}

/// A fence, and what goes wrong without it.
pub struct Needed {
    /// Number of the offer.
    pub offer: usize,
    /// `None`: a limit was met before anything was found.
    pub trouble: Option<Trouble>,
}

impl Shown<'_> {
    /// What is done at the sites, with fences that are taken away, in the order of the text.
    fn changes(&self, set: &FenceSet) -> Vec<(usize, Done)> {
        let mut changes: Vec<(usize, Done)> = Vec::new();
        for (number, site) in self.sites.iter().enumerate().filter(|(_, site)| !site.edges.is_empty()) {
            let taken = set.offers.iter().map(|&offer| self.offers[offer]).find(|offer| offer.site == number);
            let done = match (site.change, taken) {
                (Change::Insert { .. }, Some(offer)) => Done::Insert(offer.strength),
                (Change::Lock, Some(_)) => Done::Lock,
                (Change::Keep, Some(_)) => Done::Keep,
                (Change::Keep, None) => Done::Remove,
                (Change::Strengthen, Some(_)) => Done::Strengthen,
                (Change::Insert { .. } | Change::Lock | Change::Strengthen, None) => continue,
            };
            changes.push((number, done));
        }
        changes.sort_by_key(|(number, _)| self.sites[*number].position);
        changes
    }

    /// The program with a set of fences, of which a witness may speak; lowered, unless it is about C11.
    fn lowered(&self, set: &[usize]) -> Program {
        let choices: Vec<(usize, Strength)> =
            set.iter().map(|&offer| (self.offers[offer].site, self.offers[offer].strength)).collect();
        let program = repaired(self.program, self.sites, &choices);
        if matches!(self.model, "ra" | "rc20") { program } else { lower_for_hardware(&program) }
    }
}

/// What is done at a site.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    Insert(Strength),
    Keep,
    Remove,
    Lock,
    Strengthen,
}

impl Done {
    fn name(self) -> &'static str {
        match self {
            Done::Insert(Strength::Full) => "insert fence",
            Done::Insert(Strength::StoreStore) => "insert store-store fence",
            Done::Insert(Strength::Acquire) => "insert acquire fence",
            Done::Insert(Strength::AcqRel) => "insert acq_rel fence",
            Done::Keep => "keep fence",
            Done::Remove => "remove fence",
            Done::Lock => "lock store",
            Done::Strengthen => "strengthen",
        }
    }
}

/// The names of the threads that a site is in.
fn threads(program: &Program, site: &Site) -> Vec<String> {
    let mut threads: Vec<usize> = site.edges.iter().map(|edge| edge.thread.0).collect();
    threads.dedup();
    threads.into_iter().map(|thread| program.threads[thread].name.clone()).collect()
}

/// What stands before a fence, or is changed, as it is written.
fn after(program: &Program, site: &Site) -> String {
    let mut texts: Vec<String> = Vec::new();
    for edge in &site.edges {
        let thread = &program.threads[edge.thread.0];
        let transition = &thread.transitions[edge.transition.0];
        let quoted = program.source.quote(transition.span);
        let quoted = quoted.trim_end_matches(';').split_whitespace().collect::<Vec<_>>().join(" ");
        let text = if quoted.is_empty() || quoted.chars().count() > 60 {
            program.tell_transition(thread, transition)
        } else {
            quoted
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join(" or ")
}
