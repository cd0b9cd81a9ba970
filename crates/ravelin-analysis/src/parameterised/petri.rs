//! A program's attacks as one Petri net, for other tools.

use super::attack::{Target, attack_net};
use super::robust::targets;
use crate::AnalysisError;
use crate::reachability::finite::Finite;
use crate::robustness::Attack;
use ravelin_nets::{Initial, Marking, Net};
use ravelin_program::Program;

/// The net whose target can be covered exactly if the attack is feasible in some instance; without an attack, if the program is not robust.
/// Nets for several attackers stand side by side.
pub fn petri_net_of_attacks(program: &Program, attack: Option<Attack>) -> Result<Net, AnalysisError> {
    if let Some(attack) = attack {
        let finite = Finite::of_accesses(program)?;
        let (stores, loads) = ([attack.store].into_iter().collect(), [attack.load].into_iter().collect());
        return Ok(attack_net(&finite, &Target { thread: attack.thread.0, stores, loads }).net);
    }
    let (finite, _, targets) = targets(program)?;
    let mut net = Net::default();
    for target in &targets {
        let attacker = &finite.program.threads[target.thread].name;
        let prefix = if targets.len() > 1 { format!("{attacker}/") } else { String::new() };
        net.put_beside(&attack_net(&finite, target).net, &prefix);
    }
    if targets.is_empty() {
        // Every attack was dismissed: a place that nothing ever comes to says so.
        let never = net.place("no_attack_is_left", Initial::Exactly(0));
        net.targets.push(Marking::new([(never, 1)]));
    }
    Ok(net)
}
