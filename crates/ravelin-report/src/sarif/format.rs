//! The part of SARIF 2.1.0 that is written, as types. Names and meanings of fields are those of the standard
//! (OASIS, Static Analysis Results Interchange Format, section 3); serde writes them in its spelling.

use serde::Serialize;

/// A whole file: section 3.13.
#[derive(Serialize)]
pub(crate) struct SarifLog<'a> {
    #[serde(rename = "$schema")]
    pub schema: &'static str,
    pub version: &'static str,
    pub runs: [SarifRun<'a>; 1],
}

/// One run of the tool: 3.14.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SarifRun<'a> {
    pub tool: Tool<'a>,
    pub column_kind: ColumnKind,
    pub invocations: [Invocation; 1],
    pub results: Vec<SarifResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_uri_base_ids: Option<BaseIds>,
}

/// The unit of columns.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ColumnKind {
    /// As front ends count.
    UnicodeCodePoints,
    /// Approximately as compilers count: no tool accepts bytes.
    Utf16CodeUnits,
}

/// Folders that relative addresses refer to.
#[derive(Serialize)]
pub(crate) struct BaseIds {
    #[serde(rename = "%SRCROOT%")]
    pub root: ArtifactLocation,
}

/// 3.18.
#[derive(Serialize)]
pub(crate) struct Tool<'a> {
    pub driver: Driver<'a>,
}

/// 3.19.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Driver<'a> {
    pub name: &'static str,
    pub semantic_version: &'static str,
    pub rules: Vec<ReportingDescriptor<'a>>,
}

/// A rule: 3.49.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportingDescriptor<'a> {
    pub id: &'a str,
    pub name: String,
    pub short_description: SarifMessage,
    pub full_description: SarifMessage,
    pub default_configuration: Configuration,
}

/// 3.50.
#[derive(Serialize)]
pub(crate) struct Configuration {
    pub level: SarifLevel,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SarifLevel {
    None,
    Note,
    Warning,
    Error,
}

/// 3.20.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Invocation {
    pub execution_successful: bool,
    pub tool_execution_notifications: Vec<Notification>,
}

/// What went wrong with the input or the command: 3.58.
#[derive(Serialize)]
pub(crate) struct Notification {
    pub level: SarifLevel,
    pub message: SarifMessage,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<SarifLocation>,
}

/// 3.27.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SarifResult {
    pub rule_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_index: Option<usize>,
    pub kind: ResultKind,
    pub level: SarifLevel,
    pub message: SarifMessage,
    pub locations: [SarifLocation; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_locations: Vec<SarifLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code_flows: Vec<CodeFlow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<SarifFix>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurrence_count: Option<u64>,
    pub partial_fingerprints: Fingerprints,
}

/// How a rule was evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ResultKind {
    Fail,
    Pass,
    Open,
    NotApplicable,
}

/// What identifies a result when lines move.
#[derive(Serialize)]
pub(crate) struct Fingerprints {
    #[serde(rename = "ravelinPlaces/v1")]
    pub places: String,
}

/// Text: a message (3.11), and the content of an artifact (3.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SarifMessage {
    pub text: String,
}

impl<T: Into<String>> From<T> for SarifMessage {
    fn from(text: T) -> SarifMessage {
        SarifMessage { text: text.into() }
    }
}

/// 3.28.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SarifLocation {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<SarifMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_location: Option<PhysicalLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logical_locations: Vec<LogicalLocation>,
}

/// 3.29.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PhysicalLocation {
    pub artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
}

/// 3.4.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ArtifactLocation {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri_base_id: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<SarifMessage>,
}

/// 3.30.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Region {
    pub start_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<usize>,
}

/// 3.33.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogicalLocation {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fully_qualified_name: Option<String>,
    pub kind: &'static str,
}

/// 3.36.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CodeFlow {
    pub message: SarifMessage,
    pub thread_flows: Vec<ThreadFlow>,
}

/// 3.37.
#[derive(Serialize)]
pub(crate) struct ThreadFlow {
    pub id: String,
    pub locations: Vec<ThreadFlowLocation>,
}

/// 3.38.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ThreadFlowLocation {
    pub location: SarifLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nesting_level: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_order: Option<usize>,
}

/// 3.55.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SarifFix {
    pub description: SarifMessage,
    pub artifact_changes: [ArtifactChange; 1],
}

/// 3.56.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ArtifactChange {
    pub artifact_location: ArtifactLocation,
    pub replacements: Vec<Replacement>,
}

/// 3.57.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Replacement {
    pub deleted_region: Region,
    pub inserted_content: SarifMessage,
}
