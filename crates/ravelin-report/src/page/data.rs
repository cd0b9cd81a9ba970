//! A run for the script: compact, as changes, with every text stored once.
//!
//! An object with these fields: `t` (thread names), `c` (the threads that have columns), `b` (1 if there are buffers),
//! `d` (the decisive number of steps), `p` (the meanings of parts by name), `s` (texts; everything else refers to them
//! by number), `m` (initial memory: cell, value, cell, value, …), `r`
//! (initial registers by thread, in the same form) and `x`, the steps. Each step is `[thread, line or 0, text, effect,
//! part or -1, flush, memory changes, register changes, written, splice]`. The splice describes how the thread's buffer
//! changes: the position, how many entries are removed, and the cells and values that are added (cell -1 is a marker).
//! Empty values at the end of a step are omitted.

use super::run::written;
use crate::story::{Demonstration, Step};
use ravelin_answer::{BufferEntry, CellValue, RegisterValue};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// The text of a script element.
pub fn of(demonstration: &Demonstration, shown: &[usize]) -> String {
    let run = &demonstration.run;
    let mut texts = Texts::default();
    let memory: Vec<Value> = run
        .memory
        .iter()
        .flat_map(|cell| [json!(texts.number(&cell.cell)), exact(cell.value, cell.name.as_deref())])
        .collect();
    let mut registers = Vec::new();
    for thread in &run.threads {
        let values = thread.registers.iter();
        registers.push(
            values
                .flat_map(|register| {
                    [json!(texts.number(&register.register)), exact(register.value, register.name.as_deref())]
                })
                .collect::<Vec<_>>(),
        );
    }
    let mut steps = Vec::with_capacity(run.steps.len());
    let mut buffers: Vec<&[BufferEntry]> = vec![&[]; run.threads.len()];
    for step in &run.steps {
        steps.push(told(step, buffers[step.thread], &mut texts));
        buffers[step.thread] = &step.buffers[step.thread];
    }
    let threads: Vec<&str> = run.threads.iter().map(|thread| thread.thread.as_str()).collect();
    let parts: BTreeMap<&str, &str> =
        run.steps.iter().filter_map(|step| step.part).map(|part| (part.name(), part.meaning())).collect();
    let data = json!({
        "t": threads, "c": shown, "b": u8::from(run.buffered), "d": demonstration.decisive, "p": parts, "s": texts.list, "m": memory, "r": registers, "x": steps,
    });
    // Inside a script element only `<` could end it or begin a comment.
    data.to_string().replace('<', "\\u003c")
}

fn told(step: &Step, before: &[BufferEntry], texts: &mut Texts) -> Value {
    let after = &step.buffers[step.thread];
    let part = step.part.map_or(json!(-1), |part| json!(texts.number(part.name())));
    let mut told = vec![
        json!(step.thread),
        json!(step.line.unwrap_or(0)),
        json!(texts.number(&step.text)),
        json!(texts.number(&step.effect)),
        part,
        json!(u8::from(step.flush)),
    ];
    let cell = |texts: &mut Texts, of: &CellValue| [json!(texts.number(&of.cell)), exact(of.value, of.name.as_deref())];
    let register = |texts: &mut Texts, of: &RegisterValue| {
        [json!(texts.number(&of.register)), exact(of.value, of.name.as_deref())]
    };
    let written = written(step);
    told.push(step.memory.iter().flat_map(|of| cell(texts, of)).collect());
    told.push(step.registers.iter().flat_map(|of| register(texts, of)).collect());
    told.push(match written == step.memory {
        true => json!(0),
        false => written.iter().flat_map(|of| cell(texts, of)).collect(),
    });
    told.push(splice(before, after, texts));
    while told.len() > 6 && told.last().is_some_and(|last| last == &json!([]) || last == &json!(0)) {
        told.pop();
    }
    Value::Array(told)
}

/// Where a buffer changes, how many entries are removed there, and what is added.
fn splice(before: &[BufferEntry], after: &[BufferEntry], texts: &mut Texts) -> Value {
    let same = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let (old, new) = (&before[same..], &after[same..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    if old.is_empty() && new.is_empty() {
        return json!([]);
    }
    let entry = |entry: &BufferEntry| match entry {
        BufferEntry::Store(cell) => [json!(texts.number(&cell.cell)), exact(cell.value, cell.name.as_deref())],
        BufferEntry::Marker => [json!(-1), json!(0)],
    };
    let come = new.iter().flat_map(entry).collect::<Vec<_>>();
    Value::Array([vec![json!(same), json!(old.len())], come].concat())
}

/// A JavaScript number holds 53 bits; larger values are texts, and so are values with a name.
fn exact(value: i64, name: Option<&str>) -> Value {
    if let Some(name) = name {
        return json!(name);
    }
    if value.unsigned_abs() < 1 << 53 { json!(value) } else { json!(value.to_string()) }
}

/// Texts and their numbers.
#[derive(Default)]
struct Texts {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Texts {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.list.push(text.to_owned());
        self.numbers.insert(text.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }
}
