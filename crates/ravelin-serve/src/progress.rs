//! How far running checks are. A client names its check by a token that it invents, and asks about that.

use crate::child::CheckProgress;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Longer tokens are ignored, and so are more checks at once.
const LONGEST: usize = 64;
const MOST: usize = 1024;

#[derive(Default)]
pub struct RunningChecks(Mutex<HashMap<String, CheckProgress>>);

/// A check, listed as long as this exists.
pub struct ListedCheck<'a> {
    checks: &'a RunningChecks,
    token: Option<String>,
    pub progress: CheckProgress,
}

impl RunningChecks {
    /// Lists a check. One without a token, or with a token that is in use, runs unlisted.
    pub fn list(&self, token: &str) -> ListedCheck<'_> {
        let progress = CheckProgress::default();
        let mut checks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_listed =
            !token.is_empty() && token.len() <= LONGEST && checks.len() < MOST && !checks.contains_key(token);
        if is_listed {
            checks.insert(token.to_owned(), Arc::clone(&progress));
        }
        ListedCheck { checks: self, token: is_listed.then(|| token.to_owned()), progress }
    }

    /// How far a check is; none if it does not run.
    pub fn of(&self, token: &str) -> Option<String> {
        let progress = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).map(Arc::clone)?;
        let text = progress.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Some(text)
    }
}

impl Drop for ListedCheck<'_> {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            self.checks.0.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_listed_while_it_runs() {
        let checks = RunningChecks::default();
        let first = checks.list("a");
        let second = checks.list("a");
        "half".clone_into(&mut first.progress.lock().expect("nobody panicked"));
        assert_eq!(checks.of("a").as_deref(), Some("half"));
        drop(second);
        assert!(checks.of("a").is_some(), "the second was not listed");
        drop(first);
        assert_eq!(checks.of("a"), None);
        drop(checks.list(&"x".repeat(100)));
        assert_eq!(checks.of(""), None);
    }
}
