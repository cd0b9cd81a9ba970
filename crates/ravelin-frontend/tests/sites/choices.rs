//! Whatever is chosen, the changed text is the program that `repaired` makes. Claimed for the examples, for the files that the front
//! ends are tested with, and for random programs.

use super::same::check;
use ravelin_frontend::sites::{NoSites, RepairKind, SiteRequest, Sites, sites};
use ravelin_frontend::{Language, parse, print};
use ravelin_program::{
    Change, FenceStrength, Instruction, Lowering, Order, OrderSlot, Source, ThreadId, ThreadTransition, TransitionId,
};
use ravelin_testing::programs::{Config, Generator};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn the_changed_text_of_every_example_is_the_repaired_program() {
    assert!(check_files("../../examples", 4) > 20);
}

#[test]
fn the_changed_text_of_every_file_of_the_front_ends_is_the_repaired_program() {
    for (folder, files) in [
        ("litmus_corpus", 20),
        ("memorax_corpus", 10),
        ("rocker_corpus", 15),
        ("trencher_corpus", 5),
        ("rav_corpus", 5),
    ] {
        let found = check_files(&format!("tests/{folder}"), 4);
        assert!(found >= files, "{folder} has {found} programs");
    }
}

#[test]
fn the_changed_text_of_random_programs_is_the_repaired_program() {
    for (config, seeds) in [(Config::all(), 0..150), (Config::c11(), 150..200)] {
        let generator = Generator::new(config);
        for seed in seeds {
            let text = print::rav(&generator.program(seed));
            check_all(&format!("seed {seed}"), &text, Language::Rav, 2);
        }
    }
}

/// Checks all programs below a folder; how many there were.
fn check_files(folder: &str, rounds: u64) -> usize {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    let mut programs = 0;
    for path in files {
        let (Some(language), Ok(text)) = (Language::from_path(&path), fs::read_to_string(&path)) else { continue };
        if parse(Source::new("", text.clone()), language).program.is_some() {
            check_all(&path.display().to_string(), &text, language, rounds);
            programs += 1;
        }
    }
    programs
}

/// Checks with every request that the language can serve.
fn check_all(name: &str, text: &str, language: Language, rounds: u64) {
    for repair in [RepairKind::Fence, RepairKind::Rmw, RepairKind::Strengthen] {
        for (existing, copies, lower) in [
            (false, None, Lowering::Nothing),
            (true, Some(2), Lowering::Nothing),
            (true, None, Lowering::Accesses),
            (true, None, Lowering::Stores),
            (true, None, Lowering::SeqCstStores),
        ] {
            if repair == RepairKind::Rmw && lower != Lowering::Nothing {
                continue;
            }
            let request = SiteRequest { repair, existing, lower, copies };
            if let Err(NoSites::NotExpressible(_)) = sites(&Source::new(name, text), language, &request) {
                assert_ne!(repair, RepairKind::Fence, "{name}");
                continue;
            }
            let found = check(name, text, language, &request, rounds);
            if repair != RepairKind::Rmw {
                every_store_can_be_fenced(name, &found);
            }
            if repair == RepairKind::Strengthen {
                every_order_can_be_chosen(name, language, lower, &found);
            }
        }
    }
}

/// Behind every store there is a site, unless a fence stands there or the bus is locked.
fn every_store_can_be_fenced(name: &str, found: &Sites) {
    let fenced: HashSet<(usize, usize)> =
        found.sites.iter().flat_map(|site| &site.edges).map(|edge| (edge.thread.0, edge.transition.0)).collect();
    for (number, thread) in found.program.threads.iter().enumerate() {
        if thread.transitions.iter().any(|transition| transition.instruction == Instruction::BusLock) {
            continue;
        }
        for (id, transition) in thread.transitions.iter().enumerate() {
            let store = matches!(transition.instruction, Instruction::Store { .. });
            let fence = |next: &Instruction| *next == Instruction::Fence(Order::SeqCst);
            // Nothing can be put between the steps of one instruction.
            let followed = thread
                .outgoing(transition.to)
                .any(|(_, next)| fence(&next.instruction) || next.span == transition.span);
            assert!(!store || followed || fenced.contains(&(number, id)), "{name}: {} step {id}", thread.name);
        }
    }
}

/// Every order that is optional, or not as strong as it can be below seq_cst, belongs to one site.
fn every_order_can_be_chosen(name: &str, language: Language, lower: Lowering, found: &Sites) {
    let mut chosen: Vec<(ThreadTransition, OrderSlot)> = Vec::new();
    for site in &found.sites {
        if let Change::Order(slot) = site.change {
            chosen.extend(site.edges.iter().map(|edge| (*edge, slot)));
        }
    }
    chosen.sort_unstable();
    let slots: &[OrderSlot] =
        if language == Language::Rocker { &[OrderSlot::Both] } else { &[OrderSlot::Main, OrderSlot::Failure] };
    let mut expected = Vec::new();
    for (number, thread) in found.program.threads.iter().enumerate() {
        for (id, transition) in thread.transitions.iter().enumerate() {
            for &slot in slots {
                let access = &transition.instruction;
                let Some(written) = slot.order(access) else { continue };
                let weak = slot.levels(access).iter().filter(|level| **level != FenceStrength::Full);
                let stronger = weak.into_iter().any(|level| !written.is_at_least(level.order()));
                if lower.floor(slot, access).is_some() || lower == Lowering::Nothing && stronger {
                    expected.push((ThreadTransition { thread: ThreadId(number), transition: TransitionId(id) }, slot));
                }
            }
        }
    }
    assert_eq!(chosen, expected, "{name} {lower:?}");
}
