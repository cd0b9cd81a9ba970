//! Pages of the last answers, kept so that they can be shown in a separate frame. The oldest are removed when there are
//! too many, or when they take too much room.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

const MOST: usize = 200;
const MOST_BYTES: usize = 128 << 20;

#[derive(Default)]
pub struct Results {
    kept: Mutex<StoredResult>,
    /// For numbers that others cannot guess.
    random: RandomState,
}

#[derive(Default)]
struct StoredResult {
    pages: VecDeque<(String, String)>,
    bytes: usize,
    given: u64,
}

impl Results {
    /// Keeps a page and returns its name.
    pub fn keep(&self, page: String) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.given += 1;
        let name = format!("{}-{:016x}", kept.given, self.random.hash_one(kept.given));
        kept.bytes += page.len();
        kept.pages.push_back((name.clone(), page));
        while kept.pages.len() > MOST || (kept.bytes > MOST_BYTES && kept.pages.len() > 1) {
            let gone = kept.pages.pop_front().map_or(0, |(_, page)| page.len());
            kept.bytes -= gone;
        }
        name
    }

    pub fn page(&self, name: &str) -> Option<String> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.pages.iter().find(|(known, _)| known == name).map(|(_, page)| page.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first() {
        let results = Results::default();
        let names: Vec<String> = (0..MOST + 5).map(|number| results.keep(number.to_string())).collect();
        assert_eq!(results.page(&names[4]), None);
        assert_eq!(results.page(&names[5]).as_deref(), Some("5"));
        let large = "x".repeat(MOST_BYTES);
        let name = results.keep(large);
        assert_eq!(results.page(&names[MOST]), None);
        assert!(results.page(&name).is_some(), "the last one is always there");
    }
}
