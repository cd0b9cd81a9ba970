//! What to learn from something wrong that was seen: clauses that every set of offers satisfies which stops it.
//!
//! Offers only take away: what is left by a set M of offers is left by every subset of M. So every set that stops it has an
//! offer that is not in M. The clause is what is not in M, and small if M is large: M is grown from the set under which it
//! was seen, by one offer after the other, as long as it is still left. One thing gives several clauses: the next one
//! is grown from M with the whole first clause taken, if that leaves it, as it does where two offers are needed together.

/// Clauses about something that the offers in `taken` leave. They have no offer in common, and none with `taken`. An
/// empty one says that all offers together leave it.
///
/// `offers` are those that can matter. The first ones are kept out of the clauses if that is possible: if they are the
/// cheap ones, what remains in a clause is dear and raises the bound. `leaves` is asked about sets.
pub fn clauses<E>(
    offers: &[usize],
    taken: &[usize],
    leaves: &mut dyn FnMut(&[usize]) -> Result<bool, E>,
) -> Result<Vec<Vec<usize>>, E> {
    let mut clauses: Vec<Vec<usize>> = Vec::new();
    let mut base = taken.to_vec();
    while clauses.is_empty() || leaves(&base)? {
        let open: Vec<usize> = offers.iter().copied().filter(|offer| !base.contains(offer)).collect();
        let mut clause = Vec::new();
        grow(&mut base.clone(), &open, &mut clause, leaves)?;
        clause.sort_unstable();
        let is_last = clause.is_empty();
        base.extend(&clause);
        clauses.push(clause);
        if is_last {
            break;
        }
    }
    Ok(clauses)
}

/// Takes as many of the open offers as leave it, the first ones first; the others go to the clause. What can be taken
/// together is tried together: that it makes no difference follows from the same argument as that of the clauses.
fn grow<E>(
    grown: &mut Vec<usize>,
    open: &[usize],
    clause: &mut Vec<usize>,
    leaves: &mut dyn FnMut(&[usize]) -> Result<bool, E>,
) -> Result<(), E> {
    if open.is_empty() {
        return Ok(());
    }
    let before = grown.len();
    grown.extend(open);
    if leaves(grown)? {
        return Ok(());
    }
    grown.truncate(before);
    if let [only] = open {
        clause.push(*only);
        return Ok(());
    }
    let (first, second) = open.split_at(open.len() / 2);
    grow(grown, first, clause, leaves)?;
    grow(grown, second, clause, leaves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// The clauses about something that each of these sets stops, if nothing is taken.
    fn learned(offers: usize, stopped_by: &[&[usize]]) -> Vec<Vec<usize>> {
        let offers: Vec<usize> = (0..offers).collect();
        let stops = |set: &[usize], taken: &[usize]| set.iter().all(|offer| taken.contains(offer));
        let mut leaves = |taken: &[usize]| Ok::<bool, Infallible>(!stopped_by.iter().any(|set| stops(set, taken)));
        let Ok(clauses) = clauses(&offers, &[], &mut leaves);
        clauses
    }

    #[test]
    fn a_clause_has_what_stops_it() {
        assert_eq!(learned(4, &[&[1], &[3]]), [vec![1, 3]]);
    }

    #[test]
    fn where_two_offers_are_needed_each_has_a_clause() {
        assert_eq!(learned(4, &[&[0, 2]]), [vec![2], vec![0]]);
    }

    #[test]
    fn cheap_offers_stay_out_of_a_clause_if_they_can() {
        assert_eq!(learned(3, &[&[0, 2], &[1, 2]]), [vec![2], vec![0, 1]]);
    }

    #[test]
    fn what_nothing_stops_gives_an_empty_clause() {
        assert_eq!(learned(3, &[]), [vec![]; 1]);
    }
}
