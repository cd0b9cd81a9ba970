//! A program's attacks as one Petri net, for other tools.

use super::attack::{ThreadAttacks, attack_net};
use super::robust::targets;
use crate::AnalysisError;
use crate::reachability::finite::Finite;
use crate::robustness::Attack;
use ravelin_backward::nets::{InitialTokens, Marking, Net};
use ravelin_explore::Watch;
use ravelin_program::Program;

/// The net whose target can be covered exactly if the attack is feasible in some instance; without an attack, if the program is not robust.
/// Nets for several attackers stand side by side.
pub fn petri_net_of_attacks(program: &Program, attack: Option<Attack>) -> Result<Net, AnalysisError> {
    let watch = Watch::unlimited();
    let (finite, targets) = match attack {
        Some(Attack { thread, store, load }) => {
            let (stores, loads) = ([store].into_iter().collect(), [load].into_iter().collect());
            (Finite::of_accesses(program, &watch)?, vec![ThreadAttacks { thread: thread.0, stores, loads }])
        }
        None => {
            let (finite, _, targets) = targets(program, &watch)?;
            (finite, targets)
        }
    };
    let mut net = Net::default();
    for target in &targets {
        let attacker = &finite.program.threads[target.thread].name;
        let prefix = if targets.len() > 1 { format!("{attacker}/") } else { String::new() };
        net.put_beside(&attack_net(&finite, target, &watch)?.net, &prefix);
    }
    if net.targets.is_empty() {
        // Every attack was dismissed, or no access is ever reached: a place that nothing ever comes to says so.
        let never = net.place("no_attack_is_left", InitialTokens::Exactly(0));
        net.targets.push(Marking::new([(never, 1)]));
    }
    Ok(net)
}
