//! Places where a text can be changed, and the changed texts.

mod c;
mod choices;
mod hostile;
mod orders;
mod same;
mod texts;
