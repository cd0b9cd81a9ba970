//! Final states.

use ravelin_analysis::states::{self as analysis, final_goal};
use ravelin_answer::{EndRun, EndState, EndThread, FinalCondition, FinalStates, Quantifier};
use ravelin_program::{Goal, GoalKind, Notation, Program, Value};
use std::collections::HashMap;

/// The answer to `states`.
pub fn final_states(file: &str, program: &Program, found: &analysis::FinalStates) -> FinalStates {
    let notations = notations(program);
    FinalStates {
        file: file.to_owned(),
        name: program.name.clone(),
        model: found.model,
        condition: final_goal(program).map(|goal| condition(program, goal)),
        complete: found.is_complete(),
        buffer: found.buffer,
        messages: found.messages,
        seq_cst_open: found.seq_cst_open,
        cut_off: found.cut_off,
        limit: found.limit.map(Into::into),
        finals: found.finals.iter().map(|state| end_state(state, &notations)).collect(),
        stuck: found.stuck.iter().map(|state| end_state(state, &notations)).collect(),
        statistics: (&found.statistics).into(),
        stops: None,
    }
}

/// How values are written that are not signed numbers, by cell and by `thread.register`.
fn notations(program: &Program) -> HashMap<String, &Notation> {
    let memory = &program.memory;
    let cells = memory.named_addresses().map(|address| (memory.name_of(address), memory.notation_at(address)));
    let registers = program.threads.iter().flat_map(|thread| {
        let registers = thread.registers.iter().filter(|register| !register.hidden);
        registers.map(|register| (format!("{}.{}", thread.name, register.name), &register.notation))
    });
    cells.chain(registers).filter(|(_, notation)| **notation != Notation::Signed).collect()
}

fn end_state(state: &analysis::EndState, notations: &HashMap<String, &Notation>) -> EndState {
    let shown = &state.shown;
    let threads = shown.threads.iter().map(|thread| EndThread {
        thread: thread.name.clone(),
        location: thread.location.clone(),
        at_end: thread.at_end,
        registers: thread.registers.clone(),
    });
    let name = |name: String, value: Value| Some((notations.get(&name)?.special(value)?, name));
    let registers = shown.threads.iter().flat_map(|thread| {
        thread.registers.iter().filter_map(|(register, value)| name(format!("{}.{register}", thread.name), *value))
    });
    let cells = shown.memory.iter().filter_map(|(cell, value)| name(cell.clone(), *value));
    let names = registers.chain(cells).map(|(shown, name)| (name, shown)).collect();
    EndState {
        names,
        threads: threads.collect(),
        memory: shown.memory.clone(),
        shown: shown.text.clone(),
        condition: shown.condition,
        beyond_sc: state.beyond_sc,
        run: state.run.as_ref().map(|run| Box::new(end_run(run))),
    }
}

fn end_run(run: &analysis::EndRun) -> EndRun {
    EndRun {
        initial: run.initial.clone(),
        steps: run.steps.clone(),
        events: run.graph.as_ref().map(|graph| graph.events.clone()),
        edges: run.graph.as_ref().map(|graph| graph.edges.clone()),
        cycle: run.graph.as_ref().map(|graph| graph.cycle.clone()),
    }
}

fn condition(program: &Program, goal: &Goal) -> FinalCondition {
    let quantifier = match goal.kind {
        GoalKind::Finally => Quantifier::Forall,
        GoalKind::NeverFinally => Quantifier::NotExists,
        GoalKind::Exists | GoalKind::Never => Quantifier::Exists,
    };
    FinalCondition { quantifier, text: condition_text(program, goal) }
}

/// The condition as written, without its quantifier and outer parentheses.
fn condition_text(program: &Program, goal: &Goal) -> String {
    let quoted = program.source.quote(goal.span).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = quoted.trim_end_matches(';').trim();
    for quantifier in ["~exists", "exists", "forall", "finally never", "finally"] {
        if let Some(rest) = text.strip_prefix(quantifier) {
            text = rest.trim();
            break;
        }
    }
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    match inner {
        _ if quoted.is_empty() => program.show_condition(&goal.condition),
        Some(inner) if is_balanced(inner) => inner.to_owned(),
        _ => text.to_owned(),
    }
}

fn is_balanced(text: &str) -> bool {
    let mut open = 0i64;
    for letter in text.chars() {
        open += i64::from(letter == '(') - i64::from(letter == ')');
        if open < 0 {
            return false;
        }
    }
    open == 0
}
