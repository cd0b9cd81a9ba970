//! Strongly connected components of a graph (Tarjan), without recursion: graphs come from input.

use ravelin_explore::{Limit, Watch};

/// By node: the number of its component. A component has a greater number than those that it leads to.
pub(super) fn components(edges: &[Vec<usize>], watch: &Watch) -> Result<Vec<usize>, Limit> {
    const NONE: usize = usize::MAX;
    let mut component = vec![NONE; edges.len()];
    let mut number = vec![NONE; edges.len()];
    let mut least = vec![NONE; edges.len()];
    let (mut numbers, mut found) = (0, 0);
    // Nodes whose component is not known yet, and the walk with the next edge of each node.
    let (mut open, mut walk): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    for root in 0..edges.len() {
        if number[root] != NONE {
            continue;
        }
        walk.push((root, 0));
        while let Some((node, next)) = walk.pop() {
            watch.step()?;
            if next == 0 {
                number[node] = numbers;
                least[node] = numbers;
                numbers += 1;
                open.push(node);
            }
            match edges[node].get(next) {
                Some(&to) => {
                    walk.push((node, next + 1));
                    if number[to] == NONE {
                        walk.push((to, 0));
                    } else if component[to] == NONE {
                        least[node] = least[node].min(number[to]);
                    }
                }
                None => {
                    if least[node] == number[node] {
                        while let Some(member) = open.pop() {
                            component[member] = found;
                            if member == node {
                                break;
                            }
                        }
                        found += 1;
                    }
                    if let Some(&(before, _)) = walk.last() {
                        least[before] = least[before].min(least[node]);
                    }
                }
            }
        }
    }
    Ok(component)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(edges: &[&[usize]]) -> Vec<usize> {
        let edges: Vec<Vec<usize>> = edges.iter().map(|edges| edges.to_vec()).collect();
        components(&edges, &Watch::unlimited()).expect("no limit")
    }

    #[test]
    fn nodes_that_lead_to_each_other_are_together_and_behind_what_they_lead_to() {
        assert!(of(&[]).is_empty());
        assert_eq!(of(&[&[0]]), [0]);
        assert_eq!(of(&[&[1], &[2], &[]]), [2, 1, 0]);
        assert_eq!(of(&[&[1], &[2], &[0, 3], &[]]), [1, 1, 1, 0]);
        // Two loops with an edge between them, and a node that leads to both.
        assert_eq!(of(&[&[1], &[0, 3], &[3], &[2], &[0, 2]]), [1, 1, 0, 0, 2]);
        // Edges to what is already known join nothing.
        assert_eq!(of(&[&[], &[0], &[0, 1]]), [0, 1, 2]);
        // A long chain needs no stack.
        let chain: Vec<Vec<usize>> = (0..100_000).map(|node| vec![(node + 1) % 100_000]).collect();
        assert!(components(&chain, &Watch::unlimited()).expect("no limit").iter().all(|&number| number == 0));
    }
}
