//! The cycle of a finding of the sanitizer: an access that may be stale, the write that it may miss, and the path by which sequential
//! consistency orders the two.
//!
//! A finding names every access of the cycle, and accesses that follow each other in one thread are in program order. It does not name
//! fences between them, and no values. So stores get values of their own, a seq_cst store is followed by a fence, and what a fence in the
//! program forbids is not known here: `report.rs` asks only about findings that x86 allows.
//!
//! Two accesses of a thread that have the same stack and location are taken as one. In a loop they may be two.

use super::execution::{Access, AccessId, Execution, TestAccessKind, ThreadAccesses};
use ravelin_answer::sanitizer::WatchedLocation;
use ravelin_answer::sanitizer::{AccessKind as Watched, AccessOrder, Finding, PathStepKind, Problem, WatchedAccess};
use ravelin_program::Position;

/// What happens, and the accesses of the cycle, or why there are none.
pub fn cycle(finding: &Finding) -> Result<(String, Execution), String> {
    if finding.problem != Problem::StaleRead {
        return Err(format!("`{}` is not about a load that may miss a store", finding.sentence));
    }
    if finding.path.is_empty() {
        return Err("the finding does not say by which accesses sequential consistency orders the two".to_owned());
    }
    let mut execution = Execution::default();
    let other = place(&mut execution, &finding.other, &finding.location)?;
    let mut last = (other, &finding.other, &finding.location);
    for step in finding.path.iter().rev() {
        let before = continued(&mut execution, last, &step.before, &step.location)?;
        let after = place(&mut execution, &step.after, &step.location)?;
        match step.kind {
            PathStepKind::ReadsFrom => {
                let value = execution.access(before).written.unwrap_or(0);
                execution.threads[after.0].accesses[after.1].read = Some((value, Some(before)));
            }
            PathStepKind::Overwrites => execution.after_each_other(&step.location.words(), before, after),
            PathStepKind::OverwritesRead => {}
            PathStepKind::WhileHolding => return Err("a lock is part of its path".to_owned()),
        }
        last = (after, &step.after, &step.location);
    }
    continued(&mut execution, last, &finding.access, &finding.location)?;
    Ok((format!("{}.", finding.sentence.trim_end_matches('.')), execution))
}

/// An access of the thread that made the last one; the same access if it is that.
fn continued(
    execution: &mut Execution,
    (last, of_last, at_last): (AccessId, &WatchedAccess, &WatchedLocation),
    access: &WatchedAccess,
    location: &WatchedLocation,
) -> Result<AccessId, String> {
    if of_last.thread.number != access.thread.number {
        return Err(
            "two accesses of its path are in different threads, and nothing in the report relates them".to_owned()
        );
    }
    if location == at_last && access.kind == of_last.kind && access.stack == of_last.stack {
        return Ok(last);
    }
    push(execution, last.0, access, location)
}

/// An access of a thread that has none yet.
fn place(execution: &mut Execution, access: &WatchedAccess, location: &WatchedLocation) -> Result<AccessId, String> {
    let name = access.thread.words();
    match execution.threads.iter().position(|thread| thread.name == name) {
        // The access that may be stale is made by the thread in which the path ends.
        Some(_) => Err(format!("its path comes back to {name}")),
        None => {
            execution.threads.push(ThreadAccesses { name, accesses: Vec::new() });
            push(execution, execution.threads.len() - 1, access, location)
        }
    }
}

fn push(
    execution: &mut Execution,
    thread: usize,
    access: &WatchedAccess,
    location: &WatchedLocation,
) -> Result<AccessId, String> {
    let kind = match access.kind {
        Watched::Load | Watched::Wait => TestAccessKind::Load,
        Watched::Store => TestAccessKind::Store,
        Watched::CompareExchange if access.failed => TestAccessKind::LockedLoad,
        Watched::Update | Watched::CompareExchange | Watched::BlockingCompareExchange => TestAccessKind::Exchange,
        _ => return Err("an access of its path is not atomic".to_owned()),
    };
    let cell = location.words();
    let id = (thread, execution.threads[thread].accesses.len());
    let writes = matches!(kind, TestAccessKind::Store | TestAccessKind::Exchange);
    let stores = execution.coherence.entry(cell.clone()).or_default();
    let written = writes.then(|| {
        stores.push(id);
        stores.len() as i64
    });
    let line = access.stack.first().and_then(|frame| frame.line);
    let position = line.map(|line| Position { line: line as usize, column: 1 });
    let read = (kind != TestAccessKind::Store).then_some((0, None));
    execution.cycle.push(id);
    execution.threads[thread].accesses.push(Access { kind, cell, position, read, written });
    if kind == TestAccessKind::Store && access.order == AccessOrder::SeqCst {
        let fence = Access { kind: TestAccessKind::Fence, cell: String::new(), position, read: None, written: None };
        execution.threads[thread].accesses.push(fence);
    }
    Ok(id)
}
