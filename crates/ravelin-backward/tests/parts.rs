//! Markings, one step back in a net, and pairs of places that hold tokens together.

use ravelin_backward::nets::{InitialTokens, Marking, Net, Pairs};

#[test]
fn covering_is_by_place() {
    let marking = |tokens: &[(u32, u32)]| Marking::new(tokens.iter().copied());
    let large = marking(&[(7, 1), (2, 1), (5, 3), (2, 1)]);
    assert_eq!(large.iter().collect::<Vec<_>>(), [(2, 2), (5, 3), (7, 1)]);
    assert!(marking(&[(5, 3)]).is_covered_by(&large) && marking(&[]).is_covered_by(&large));
    assert!(!marking(&[(5, 4)]).is_covered_by(&large) && !marking(&[(6, 1)]).is_covered_by(&large));
    assert_eq!((large.count(5), large.count(6), large.total()), (3, 0, 6));
}

#[test]
fn one_step_back_is_the_least_marking() {
    let mut net = Net::default();
    let [a, b, c] = ["a", "b", "c"].map(|name| net.place(name, InitialTokens::Exactly(0)));
    let t = net.transition([(a, 2), (b, 1)], [(b, 1), (c, 3)]);
    assert_eq!(net.before(t, &Marking::new([(c, 4)])), Some(Marking::new([(a, 2), (b, 1), (c, 1)])));
    assert_eq!(net.before(t, &Marking::new([(b, 3), (c, 1)])), Some(Marking::new([(a, 2), (b, 3)])));
    let [zero, one] = [("x=0", 1), ("x=1", 0)].map(|(name, tokens)| net.place(name, InitialTokens::Exactly(tokens)));
    net.cell([zero, one]);
    let store = net.setting([(a, 1)], [], [one]);
    assert_eq!(net.before(store, &Marking::new([(one, 1), (c, 1)])), Some(Marking::new([(a, 1), (c, 1)])));
    assert_eq!(net.before(store, &Marking::new([(zero, 1)])), None);
    assert_eq!(net.show(&Marking::new([(a, 2), (b, 1)])), "2 a, b");
}

#[test]
fn a_token_that_moves_is_at_one_place() {
    let mut net = Net::default();
    let a = net.place("a", InitialTokens::Exactly(1));
    let b = net.place("b", InitialTokens::Exactly(0));
    let many = net.place("many", InitialTokens::AtLeast(0));
    net.transition([(a, 1)], [(b, 1)]);
    net.transition([(b, 1), (many, 1)], [(a, 1)]);
    let pairs = Pairs::new(&net, &mut || false).expect("in time");
    assert!(!pairs.can_meet(a, b) && !pairs.can_meet(a, a) && !pairs.can_meet(b, b));
    assert!(pairs.can_meet(a, many) && pairs.can_meet(b, many) && pairs.can_meet(many, many));
    assert!(!pairs.allow(&Marking::new([(a, 2)])) && pairs.allow(&Marking::new([(b, 1), (many, 7)])));
}
