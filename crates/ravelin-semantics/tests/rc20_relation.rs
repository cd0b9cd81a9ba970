//! The operators on relations.

use ravelin_semantics::rc20::Relation;

fn relation(size: usize, pairs: &[(usize, usize)]) -> Relation {
    Relation::of(size, |a, b| pairs.contains(&(a, b)))
}

#[test]
fn operators_agree_with_their_definitions() {
    let (a, b) = (relation(4, &[(0, 1), (1, 2)]), relation(4, &[(1, 3), (2, 0)]));
    assert_eq!(a.then(&b), relation(4, &[(0, 3), (1, 0)]));
    assert_eq!(a.inverse(), relation(4, &[(1, 0), (2, 1)]));
    assert_eq!(a.closure(), relation(4, &[(0, 1), (1, 2), (0, 2)]));
    assert_eq!(a.union(&b), relation(4, &[(0, 1), (1, 2), (1, 3), (2, 0)]));
    assert_eq!(a.optional().filter(|a, b| a == b), Relation::on(4, |_| true));
    assert!(a.is_acyclic() && !a.union(&b).is_acyclic() && a.union(&b).is_irreflexive());
}

#[test]
fn rows_may_be_longer_than_a_word() {
    let chain = Relation::of(130, |a, b| b == a + 1);
    assert!(chain.closure().contains(0, 129) && chain.is_acyclic());
    let ring = Relation::of(130, |a, b| b == (a + 1) % 130);
    assert!(ring.closure().contains(129, 0) && !ring.is_acyclic());
    assert_eq!(chain.then(&chain), Relation::of(130, |a, b| b == a + 2));
}
