//! SARIF documents against the schema that OASIS publishes.

use serde_json::Value;
use std::sync::LazyLock;

/// Made once: it takes longer than to validate a document.
static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let mut schema: Value = serde_json::from_str(include_str!("sarif-schema-2.1.0.json")).expect("the schema");
    // The pattern of a field that is not used here has a bracket too many, over which validators disagree.
    for object in ["run", "toolComponent"] {
        let language = schema["definitions"][object]["properties"]["language"].as_object_mut();
        language.and_then(|language| language.remove("pattern")).expect("the pattern is there");
    }
    jsonschema::validator_for(&schema).expect("the schema is one")
});

/// What is wrong with a document, in the schema's view and beyond: `ruleIndex` points at `ruleId`, only failures have a level, and
/// relative addresses have a base.
pub fn validate(document: &Value) {
    let errors: Vec<String> =
        VALIDATOR.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, [""; 0], "{document:#}");
    let run = &document["runs"][0];
    for result in run["results"].as_array().expect("results") {
        let index = result["ruleIndex"].as_u64().expect("a number") as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        let fails = result.get("kind").is_none_or(|kind| kind == "fail");
        assert_eq!(fails, result["level"] != "none", "{result:#}");
    }
    fn bases(value: &Value) {
        match value {
            Value::Object(fields) => {
                if let Some(location) = fields.get("artifactLocation") {
                    let uri = location["uri"].as_str().unwrap_or("file:");
                    assert_eq!(uri.starts_with("file:"), location.get("uriBaseId").is_none(), "{location}");
                    assert!(uri.is_ascii() && !uri.contains(' '), "{uri}");
                }
                fields.values().for_each(bases);
            }
            Value::Array(values) => values.iter().for_each(bases),
            _ => {}
        }
    }
    bases(document);
}
