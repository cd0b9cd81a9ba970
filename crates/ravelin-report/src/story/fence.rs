//! Answers of `fence`: sets of fences, the change as a diff, and why each fence is needed.

use super::facts::numbers;
use super::raw::RawLimit;
use super::telling::RawTrouble;
use super::{Story, Telling, Verdict, Wrong};
use crate::numbers::counted;
use serde::Deserialize;
use serde_json::Value;

/// What fences can do.
#[derive(Clone, Debug, Default)]
pub struct Fences {
    /// Cheapest first.
    pub sets: Vec<FenceSet>,
    /// There are more sets.
    pub truncated: bool,
    /// The change that the first set asks for, as a unified diff.
    pub diff: Option<String>,
    /// For each fence of the first set what goes wrong without it, if that was asked for.
    pub needed: Vec<Needed>,
    /// With `--places`: where fences may go, and nothing else.
    pub places: Vec<(Change, u64)>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct FenceSet {
    pub cost: u64,
    pub fences: u64,
    pub changes: Vec<Change>,
}

/// A place, and what is done there.
#[derive(Clone, Debug, Deserialize)]
pub struct Change {
    /// `L13`, `L13.9`, `t1:q4`.
    pub place: String,
    pub line: Option<u32>,
    /// `insert fence`, `strengthen` and so on; empty for a place where nothing is done.
    #[serde(default)]
    pub change: String,
    /// What stands before it, or is changed.
    pub after: String,
    pub threads: Vec<String>,
}

/// A fence, and what happens without it; none if a limit was met before that was found.
#[derive(Clone, Debug)]
pub struct Needed {
    pub place: String,
    pub telling: Option<Telling>,
}

#[derive(Deserialize)]
struct RawFence {
    file: String,
    model: String,
    purpose: String,
    outcome: String,
    sets: Vec<FenceSet>,
    truncated: bool,
    trouble: Option<RawTrouble>,
    unknown: Option<RawUnknown>,
    needed: Vec<RawNeeded>,
    checked: Option<String>,
    diff: Option<String>,
    effort: Value,
}

#[derive(Deserialize)]
struct RawUnknown {
    limit: Option<RawLimit>,
    one_delaying_thread: bool,
    unchecked: FenceSet,
}

#[derive(Deserialize)]
struct RawNeeded {
    place: String,
    trouble: Option<RawTrouble>,
}

#[derive(Deserialize)]
struct RawPlaces {
    file: String,
    places: Vec<RawCosted>,
}

#[derive(Deserialize)]
struct RawCosted {
    cost: u64,
    #[serde(flatten)]
    change: Change,
}

pub fn story(answer: &Value) -> Result<Story, Wrong> {
    if answer.get("places").is_some() {
        return Ok(places(RawPlaces::deserialize(answer)?));
    }
    let answer = RawFence::deserialize(answer)?;
    let (file, model) = (&answer.file, &answer.model);
    let quality = match answer.purpose.as_str() {
        "robustness" => "robust",
        "trf" => "free of triangular races",
        _ => "safe",
    };
    let under = if quality == "robust" { "against" } else { "under" };
    let mut notes = Vec::new();
    let (verdict, word, sentence) = match answer.outcome.as_str() {
        "not_needed" => (
            Verdict::Holds,
            "none needed".to_owned(),
            format!("{file} is {quality} {under} {model} as it is: no fence is needed."),
        ),
        "found" => {
            let first = answer.sets.first().ok_or_else(|| Wrong("sets were found, but there are none".to_owned()))?;
            let what = what_is_done(first);
            let number = counted(first.fences, what);
            let make = if first.fences == 1 { "makes" } else { "make" };
            let sentence = format!("{number} {make} {file} {quality} {under} {model}, and nothing cheaper does.");
            (Verdict::Holds, number, sentence)
        }
        "wrong_under_sc" => (
            Verdict::Violated,
            "wrong under sc".to_owned(),
            format!("No fence helps {file}: it is wrong under sc already."),
        ),
        "no_set" => (
            Verdict::Violated,
            "no set".to_owned(),
            format!("No set of fences at the places that are allowed makes {file} {quality} {under} {model}."),
        ),
        _ => {
            let why = match &answer.unknown {
                Some(RawUnknown { limit: Some(limit), .. }) => limit.words(),
                Some(RawUnknown { one_delaying_thread: true, .. }) => {
                    "robustness against pso is not proved where several threads can delay stores".to_owned()
                }
                _ => "the engine cannot settle it".to_owned(),
            };
            if let Some(unknown) = answer.unknown.as_ref().filter(|unknown| unknown.unchecked.cost > 0) {
                notes.push(format!("Any set costs at least {}.", unknown.unchecked.cost));
            }
            (
                Verdict::Unknown,
                "unknown".to_owned(),
                format!("Which fences make {file} {quality} {under} {model} is unknown: {why}."),
            )
        }
    };
    if answer.outcome == "no_set" {
        notes.push("This remains, whichever of them are taken.".to_owned());
    }
    notes.extend(answer.checked);
    // What is wrong under sc already is a run without buffers.
    let model_of_run = if answer.outcome == "wrong_under_sc" { "sc" } else { model };
    let telling = answer.trouble.map(|trouble| trouble.told(model_of_run)).transpose()?;
    let mut needed = Vec::new();
    for RawNeeded { place, trouble } in answer.needed {
        needed.push(Needed { place, telling: trouble.map(|trouble| trouble.told(model)).transpose()? });
    }
    let fences =
        Fences { sets: answer.sets, truncated: answer.truncated, diff: answer.diff, needed, places: Vec::new() };
    Ok(Story {
        verdict,
        word,
        sentence,
        notes,
        telling,
        fences: Some(fences),
        statistics: numbers(&answer.effort),
        file: answer.file,
        model: Some(answer.model),
        ..Story::default()
    })
}

/// The noun for the changes of a set.
fn what_is_done(set: &FenceSet) -> &'static str {
    let has = |change: &str| set.changes.iter().any(|one| one.change == change);
    if has("lock store") {
        "locked store"
    } else if has("strengthen") {
        "change"
    } else {
        "fence"
    }
}

fn places(answer: RawPlaces) -> Story {
    let number = counted(answer.places.len() as u64, "place");
    let places = answer.places.into_iter().map(|place| (place.change, place.cost)).collect();
    Story {
        sentence: format!("Fences may go to {number} of {}.", answer.file),
        word: number,
        fences: Some(Fences { places, ..Fences::default() }),
        file: answer.file,
        ..Story::default()
    }
}
