//! Positions in the source: `line` and `column` beside the other fields, or null.

use ravelin_program::Position;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instruction in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourcePlace {
    /// The instruction as written.
    pub text: String,
    /// Its position.
    #[serde(flatten, with = "crate::place")]
    #[cfg_attr(feature = "schema", schemars(with = "LineAndColumn"))]
    pub position: Option<Position>,
}

/// The two fields.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct LineAndColumn {
    line: Option<usize>,
    column: Option<usize>,
}

pub(crate) fn serialize<S: Serializer>(position: &Option<Position>, serializer: S) -> Result<S::Ok, S::Error> {
    let (line, column) = (position.map(|at| at.line), position.map(|at| at.column));
    LineAndColumn { line, column }.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Position>, D::Error> {
    let LineAndColumn { line, column } = LineAndColumn::deserialize(deserializer)?;
    Ok(line.zip(column).map(|(line, column)| Position { line, column }))
}
