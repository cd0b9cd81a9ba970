//! One trace, all answers.

use crate::judged::judges::{Graph, Judgement, LocationClocks, Matrices};
use crate::judged::traces::{Act, Ask, LOCATIONS, Random, Step, World};
use crate::judged::watched::{Habits, Watched};
use ravelin_clocks::{AccessViolation, CasKind, WitnessMode};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Which judges are asked: graphs are too slow for long traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    All,
    LocationClocks,
}

/// How much there was to agree on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub asked: u64,
    pub violations: u64,
    pub predicted: u64,
}

/// Runs a trace; `Err` tells the first difference.
pub fn compare(trace: &[Step], habits: Habits, against: Against) -> Result<Seen, String> {
    catch_unwind(AssertUnwindSafe(|| Comparison::new(habits, against).run(trace)))
        .unwrap_or_else(|_| Err("a panic".to_owned()))
}

/// The violations of a trace, by the number of the step. All judges agree on them.
pub fn violations(trace: &[Step]) -> Result<Vec<(usize, AccessViolation)>, String> {
    let mut comparison = Comparison::new(
        Habits { prune: 0, reuse: false, stride: 1, folds: true, synchronises: false, buffers: false, tells: 0 },
        Against::All,
    );
    comparison.every_pair = true;
    comparison.run(trace)?;
    Ok(comparison.found)
}

struct Comparison {
    against: Against,
    world: World,
    predicting: Watched,
    standard: Watched,
    clocks: LocationClocks,
    graph: Graph,
    matrices: Matrices,
    /// Where the writes of each location are, in modification order.
    sites: Vec<Vec<usize>>,
    random: Random,
    /// Happens-before is asked about all events and threads, not just some.
    every_pair: bool,
    found: Vec<(usize, AccessViolation)>,
}

impl Comparison {
    fn new(habits: Habits, against: Against) -> Comparison {
        Comparison {
            against,
            world: World::new(),
            predicting: Watched::new(WitnessMode::Predict, habits),
            standard: Watched::new(WitnessMode::Standard, habits),
            clocks: LocationClocks::new(),
            graph: Graph::new(),
            matrices: Matrices::new(),
            sites: vec![vec![0]; LOCATIONS],
            random: Random::new(11),
            every_pair: false,
            found: Vec::new(),
        }
    }

    fn run(&mut self, trace: &[Step]) -> Result<Seen, String> {
        let mut seen = Seen::default();
        for (number, &step) in trace.iter().enumerate() {
            let Some(event) = self.world.perform(step) else { continue };
            let remembered = match event.act {
                Act::Access { x, .. } => self.predicting.remembers_all(x),
                _ => true,
            };
            let violation = self.predicting.perform(event, number);
            let standard = self.standard.perform(event, number);
            if let Act::Access { x, ask, does } = event.act {
                let judged = self.clocks.check(event.thread, x, ask);
                let at = |text: String| format!("at step {number} ({step}): {text}");
                self.same(x, ask, violation, &judged, remembered).map_err(at)?;
                seen.asked += 1;
                seen.violations += u64::from(judged.is_some());
                seen.predicted += u64::from(judged.as_ref().is_some_and(|judged| judged.predicted));
                if self.against == Against::All {
                    let drawn = self.graph.check(event.thread, x, ask);
                    if drawn != judged {
                        return Err(at(format!("graph {drawn:?}, location clocks {judged:?}")));
                    }
                }
                let matrices = self.matrices.check(event.thread, x, ask);
                let forgotten = !remembered && matches!(ask, Ask::Wait(_) | Ask::CompareExchange(..)) && matrices;
                if matrices != standard.is_some() && !forgotten {
                    return Err(at(format!("matrices {matrices}, crate (standard) {standard:?}")));
                }
                self.found.extend(violation.map(|violation| (number, violation)));
                if does.writes().is_some() {
                    self.sites[x].push(number);
                }
            }
            self.clocks.perform(event);
            self.matrices.perform(event);
            if self.against == Against::All {
                self.graph.perform(event);
                self.happens_before().map_err(|text| format!("after step {number} ({step}): {text}"))?;
            }
        }
        Ok(seen)
    }

    /// The answer of the crate against that of the location clocks, in all its parts.
    fn same(
        &self,
        x: usize,
        ask: Ask,
        violation: Option<AccessViolation>,
        judged: &Option<Judgement>,
        remembered: bool,
    ) -> Result<(), String> {
        let different = || Err(format!("crate {violation:?}, location clocks {judged:?}"));
        let valued = matches!(ask, Ask::Wait(_) | Ask::CompareExchange(CasKind::Strong | CasKind::Blocking, _));
        let (violation, judged) = match (violation, judged) {
            (None, None) => return Ok(()),
            (None, Some(_)) if valued && !remembered => return Ok(()),
            (Some(violation), Some(judged)) => (violation, judged),
            _ => return different(),
        };
        let agree = violation.missed.timestamp == judged.missed as u64
            && violation.missed.site == self.sites[x][judged.missed] as u64;
        if !agree {
            return different();
        }
        // If some values are forgotten, a strong compare-exchange may be blamed for succeeding instead of failing.
        if valued && !remembered {
            return Ok(());
        }
        let listed = &violation.values[..violation.listed];
        let values = judged.values.len().min(violation.values.len());
        if violation.predicted != judged.predicted
            || violation.reads != judged.reads
            || remembered && listed != &judged.values[..values]
            || remembered && matches!(ask, Ask::Load) && violation.complete != (values == judged.values.len())
        {
            return different();
        }
        Ok(())
    }

    /// Some earlier events and some threads: does one happen before what the other does next?
    fn happens_before(&mut self) -> Result<(), String> {
        if self.predicting.moments.len() != self.graph.len() {
            return Err(format!("{} moments, {} events", self.predicting.moments.len(), self.graph.len()));
        }
        let running = self.world.running();
        let events = self.graph.len();
        let pairs: Vec<(usize, usize)> = if self.every_pair {
            (0..events).flat_map(|event| running.iter().map(move |&thread| (event, thread))).collect()
        } else {
            (0..4).map(|_| (self.random.below(events), self.random.pick(&running))).collect()
        };
        for (event, thread) in pairs {
            let (tid, epoch, since) = self.predicting.moments[event];
            let expected = self.graph.happens_before(event, thread);
            for epoch in [epoch, since] {
                let got = self.predicting.thread(thread).is_some_and(|thread| thread.happens_after(tid, epoch));
                if got != expected {
                    return Err(format!(
                        "event {event} ({tid}@{epoch}) happens before the next of thread {thread}: crate {got}, graph {expected}"
                    ));
                }
            }
        }
        Ok(())
    }
}
