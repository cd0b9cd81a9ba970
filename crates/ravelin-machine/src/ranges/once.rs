//! Which steps a thread takes, or takes with effect, at most once.
//!
//! A step outside of every loop is taken at most once. So is the success of a compare-exchange after which the thread
//! leaves the loop (`while !x.compare_exchange(…) {}`): from behind it, with the register that says so at 1, no path leads
//! back to it.

use super::components::components;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Copies, Instruction, LocId, RegId, Thread, TransitionId};

/// By transition: it writes to memory, or to a register that is not what it has read, at most once in a run.
pub(crate) fn taken_once(thread: &Thread, watch: &Watch) -> Result<Vec<bool>, Limit> {
    if thread.copies == Copies::Any {
        return Ok(vec![false; thread.transitions.len()]);
    }
    let edges: Vec<Vec<usize>> = (0..thread.locations.len())
        .map(|location| thread.outgoing(LocId(location)).map(|(_, transition)| transition.to.0).collect())
        .collect();
    let component = components(&edges, watch)?;
    let mut once = Vec::with_capacity(thread.transitions.len());
    for (id, transition) in thread.transitions.iter().enumerate() {
        let repeated = component[transition.from.0] == component[transition.to.0];
        once.push(!repeated || succeeds_once(thread, TransitionId(id), watch)?);
    }
    Ok(once)
}

/// The transition is a compare-exchange, and when it has succeeded the thread never comes back to it.
fn succeeds_once(thread: &Thread, id: TransitionId, watch: &Watch) -> Result<bool, Limit> {
    let exchange = &thread.transitions[id.0];
    let Instruction::CompareExchange { old, ok: Some(ok), .. } = &exchange.instruction else { return Ok(false) };
    if *old == Some(*ok) {
        return Ok(false);
    }
    // By location, and whether the register still says that it has succeeded.
    let mut seen = vec![[false; 2]; thread.locations.len()];
    let mut left = vec![(exchange.to, true)];
    while let Some((location, known)) = left.pop() {
        watch.step()?;
        if location == exchange.from {
            return Ok(false);
        }
        if std::mem::replace(&mut seen[location.0][usize::from(known)], true) {
            continue;
        }
        for (_, transition) in thread.outgoing(location) {
            if known && fails_with(&transition.instruction, *ok) {
                continue;
            }
            let stays = known && !transition.instruction.written_registers().contains(ok);
            left.push((transition.to, stays));
        }
    }
    Ok(true)
}

/// It is an assumption about this register alone that is false when the register is 1.
fn fails_with(instruction: &Instruction, ok: RegId) -> bool {
    let Instruction::Assume(condition) = instruction else { return false };
    let mut alone = true;
    condition.for_each_atom(&mut |register| alone &= *register == ok);
    alone && condition.eval(&mut |_| 1) == Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_frontend::Language;
    use ravelin_program::Source;

    /// The instructions of the first thread that are taken once, as they are shown.
    fn once(text: &str) -> Vec<bool> {
        let parsed = ravelin_frontend::parse(Source::new("t.rav", text), Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{:#?}", parsed.diagnostics));
        let thread = &program.threads[0];
        let taken = taken_once(thread, &Watch::unlimited()).expect("no limit");
        let writes = thread.transitions.iter().zip(taken);
        writes.filter(|(t, _)| t.instruction.accesses().iter().any(|a| a.writes)).map(|(_, once)| once).collect()
    }

    #[test]
    fn writes_outside_of_loops_and_exchanges_that_end_theirs_happen_once() {
        for (text, expected) in [
            ("static x; thread t { x.store(1); x.fetch_add(1); }", vec![true, true]),
            ("static x; thread t { loop { x.fetch_add(1); } }", vec![false]),
            (
                "static x; thread t { x.store(1); loop { x.store(2); if x.load() == 3 { break; } } x.store(3); }",
                vec![true, false, true],
            ),
            ("static x; thread t[2] { x.fetch_add(1); }", vec![true]),
            ("static x; thread t[*] { x.fetch_add(1); }", vec![false]),
            ("static x; thread t { while x.compare_exchange(0, 1).is_err() {} }", vec![true]),
            ("static x; thread t { loop { while x.compare_exchange(0, 1).is_err() {} } }", vec![false]),
            (
                "static x; thread t { let old; let ok = 0; while !ok { (old, ok) = x.compare_exchange(old, old + 1); } }",
                vec![true],
            ),
            // What says that it has succeeded is lost before the loop asks for it.
            (
                "static x; thread t { let old; let ok = 0; while !ok { (old, ok) = x.compare_exchange(old, old + 1); ok = 0; } }",
                vec![false],
            ),
            (
                "static x; thread t { let old; let ok = 1; while ok { (old, ok) = x.compare_exchange(0, 1); } }",
                vec![false],
            ),
        ] {
            assert_eq!(once(text), expected, "{text}");
        }
    }
}
