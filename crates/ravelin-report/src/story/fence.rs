//! Answers of `fence`: sets of fences, the change as a diff, and why each fence is needed.

use super::demonstration::of_trouble;
use super::facts::fence_effort;
use super::{Demonstration, Story, Verdict};
use ravelin_answer::text::counted;
use ravelin_answer::{self as answer, FenceChange, FenceOutcome, FencePlaces, FencePurpose, FenceSet, FencesUnknown};

/// The sets of fences and their effects.
#[derive(Clone, Debug, Default)]
pub struct Fences {
    /// Cheapest first.
    pub sets: Vec<FenceSet>,
    /// There are more sets.
    pub truncated: bool,
    /// The change for the first set, as a unified diff.
    pub diff: Option<String>,
    /// On request: for each fence of the first set what goes wrong without it.
    pub needed: Vec<FenceReason>,
    /// With `--places`: where fences may go, and nothing else.
    pub places: Vec<(FenceChange, u64)>,
}

/// A fence, and what happens without it; none if a limit was hit before that was found.
#[derive(Clone, Debug)]
pub struct FenceReason {
    pub place: String,
    pub demonstration: Option<Demonstration>,
}

pub fn fences(answer: &answer::Fences) -> Story {
    let (file, model, quality) = (&answer.file, answer.model, answer.purpose.quality());
    let under = if answer.purpose == FencePurpose::Robustness { "against" } else { "under" };
    let mut notes = Vec::new();
    let (verdict, word, sentence) = match answer.outcome {
        FenceOutcome::NotNeeded => (
            Verdict::Holds,
            "none needed".to_owned(),
            format!("{file} is {quality} {under} {model} as it is: no fence is needed."),
        ),
        FenceOutcome::Found => {
            let nothing = FenceSet { cost: 0, fences: 0, changes: Vec::new() };
            let first = answer.sets.first().unwrap_or(&nothing);
            let number = counted(first.fences as u64, first.noun());
            let make = if first.fences == 1 { "makes" } else { "make" };
            match answer.written {
                Some(_) if !first.adds() => {
                    let (word, cost) = answer.achieved(first);
                    let sentence = format!("{file} {under} {model}: {word}, {cost}, and nothing cheaper does.");
                    (Verdict::Holds, word, sentence)
                }
                _ => {
                    let sentence =
                        format!("{number} {make} {file} {quality} {under} {model}, and nothing cheaper does.");
                    (Verdict::Holds, number, sentence)
                }
            }
        }
        FenceOutcome::WrongUnderSc => (
            Verdict::Violated,
            "wrong under sc".to_owned(),
            format!("No fence helps {file}: it is wrong under sc already."),
        ),
        FenceOutcome::NoSet => {
            notes.push("This remains, whichever of them are taken.".to_owned());
            let sentence =
                format!("No set of fences at the places that are allowed makes {file} {quality} {under} {model}.");
            (Verdict::Violated, "no set".to_owned(), sentence)
        }
        FenceOutcome::Unknown => {
            let why = match &answer.unknown {
                Some(FencesUnknown { limit: Some(limit), .. }) => limit.to_string(),
                Some(FencesUnknown { one_delaying_thread: true, .. }) => {
                    "robustness against pso is not proved where several threads can delay stores".to_owned()
                }
                _ => "the engine cannot settle it".to_owned(),
            };
            if let Some(unknown) = answer.unknown.as_ref().filter(|unknown| unknown.unchecked.cost > 0) {
                notes.push(format!("Any set costs at least {}.", unknown.unchecked.cost));
            }
            let sentence = format!("Which fences make {file} {quality} {under} {model} is unknown: {why}.");
            (Verdict::Unknown, "unknown".to_owned(), sentence)
        }
    };
    notes.extend(answer.checked.clone());
    let needed = answer.needed.iter();
    let needed = needed.map(|needed| FenceReason {
        place: needed.place.clone(),
        demonstration: needed.trouble.as_ref().map(of_trouble),
    });
    let fences = Fences {
        sets: answer.sets.clone(),
        truncated: answer.truncated,
        diff: answer.diff.clone(),
        needed: needed.collect(),
        places: Vec::new(),
    };
    Story {
        verdict,
        word,
        sentence,
        notes,
        demonstration: answer.trouble.as_ref().map(|trouble| of_trouble(trouble)),
        fences: Some(fences),
        statistics: fence_effort(&answer.effort),
        file: answer.file.clone(),
        model: Some(answer.model),
        ..Story::default()
    }
}

pub fn places(answer: &FencePlaces) -> Story {
    let number = counted(answer.places.len() as u64, "place");
    let places = answer.places.iter().map(|place| (place.place.clone(), place.cost)).collect();
    Story {
        sentence: format!("Fences may go to {number} of {}.", answer.file),
        word: number,
        fences: Some(Fences { places, ..Fences::default() }),
        file: answer.file.clone(),
        ..Story::default()
    }
}
