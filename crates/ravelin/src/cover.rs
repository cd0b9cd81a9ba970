//! `cover`: can a marking of a Petri net be covered?

use crate::answers::coverability;
use crate::error::Error;
use crate::setters::setters;
use ravelin_answer::Answer;
use ravelin_backward::nets::{certify, spec};
use ravelin_explore::Budget;

/// A Petri net that was read, with its initial markings and its targets.
#[derive(Debug)]
pub struct Net {
    pub(crate) name: String,
    pub(crate) net: ravelin_backward::nets::Net,
}

impl Net {
    /// Reads a net in the format of MIST (`.spec`).
    pub fn parse(name: impl Into<String>, text: &str) -> Result<Net, Error> {
        let name = name.into();
        match spec::parse(text) {
            Ok(net) => Ok(Net { name, net }),
            Err(error) => Err(Error::Question(format!("{name}: {error}"))),
        }
    }

    /// The net itself, for direct use of the lower crates.
    pub fn inner(&self) -> &ravelin_backward::nets::Net {
        &self.net
    }
}

/// Asks whether a target of a net can be covered.
///
/// ```
/// use ravelin::{Net, Verdict};
///
/// let text = "vars a b rules a >= 1 -> a' = a - 1, b' = b + 1; init a = 1, b = 0 target b >= 1";
/// let net = Net::parse("one.spec", text)?;
/// assert_eq!(ravelin::cover(&net).run()?.0.verdict(), Some(Verdict::Violated));
/// # Ok::<(), ravelin::Error>(())
/// ```
pub fn cover(net: &Net) -> Cover<'_> {
    Cover { net, budget: Budget::default() }
}

/// The question whether a target can be covered; made by [`cover`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a question is asked with `run`"]
pub struct Cover<'a> {
    net: &'a Net,
    budget: Budget<'a>,
}

impl<'a> Cover<'a> {
    setters!(budget);

    /// Asks. If no target can be covered, returns a proof with the answer: JSON that `ravelin certificate --net`
    /// checks.
    pub fn run(self) -> Result<(Answer, Option<String>), Error> {
        let found = ravelin_backward::nets::cover(&self.net.net, self.budget);
        let proof = certify(&self.net.net, &found).and_then(|proof| serde_json::to_string(&proof).ok());
        Ok((Answer::Coverability(Box::new(coverability(&self.net.name, &self.net.net, &found))), proof))
    }
}
