//! "Did you mean …?": the nearest of the names that would have been accepted.

/// The candidate that was most likely meant, if one is near enough.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(name, &mut candidates.into_iter())
}

/// The same, compiled once.
fn nearest_of<'a>(name: &str, candidates: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() > 64 {
        return None;
    }
    let limit = match letters.len() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other: Vec<char> = candidate.chars().collect();
        if candidate == name || other.len().abs_diff(letters.len()) > limit {
            continue;
        }
        let distance = distance(&letters, &other);
        // Two names of one or two letters are always near: they must at least share one.
        let alike = distance < letters.len().max(other.len());
        if alike && distance <= limit && best.is_none_or(|found| (distance, candidate) < found) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// A sentence for the help line.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, candidates).map(|found| format!("did you mean `{found}`?"))
}

/// Insertions, deletions, replacements and swaps of neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    rows[0] = (0..=b.len()).collect();
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        assert_eq!(nearest("flug", ["turn", "flag"]), Some("flag"));
        assert_eq!(nearest("trun", ["turn", "flag"]), Some("turn"));
        assert_eq!(nearest("comapre_exchange", ["compare_exchange", "swap"]), Some("compare_exchange"));
        assert_eq!(nearest("x", ["y", "z"]), None);
        assert_eq!(nearest("zebra", ["flag", "turn"]), None);
    }
}
