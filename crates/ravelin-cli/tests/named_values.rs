//! Values with names, numbers without a sign, and calls of functions, as answers show them.

use crate::running::{Scratch, ravelin};

const PROGRAM: &str = "enum Color { Red, Green }
static color: Color;
static wide: u64;
fn paint(to: Color) {
    color.store(to);
}
thread painter {
    paint(Color::Green);
    wide.store(18446744073709551615);
    let seen = color.load();
}
never color == Color::Green && wide > 5;
";

fn answer(words: &[&str]) -> String {
    let scratch = Scratch::new("named-values");
    let file = scratch.write("paint.rav", PROGRAM);
    let output = ravelin(&[words, &[&file]].concat(), "");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn runs_show_names_and_calls() {
    let text = answer(&["reach", "--model", "sc"]);
    for part in [
        "color.store(Color::Green) in paint (from line 8)",
        "writes color = Green",
        "writes wide = 18446744073709551615",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&answer(&["reach", "--model", "sc", "--format", "json"])).expect("JSON");
    let json = json.to_string();
    for part in [
        r#"{"cell":"color","name":"Green","value":1}"#,
        r#""calls":[{"column":5,"function":"paint","line":8}]"#,
        r#"{"cell":"wide","name":"18446744073709551615","value":-1}"#,
    ] {
        assert!(json.contains(part), "{part} in\n{json}");
    }
}

#[test]
fn final_states_show_names() {
    let text = answer(&["states", "--model", "tso"]);
    let row = text.lines().find(|line| line.contains("Green")).unwrap_or_else(|| panic!("{text}"));
    let row: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(row, ["Green", "Green", "18446744073709551615"], "{text}");
    let json = answer(&["states", "--model", "tso", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let state = &json["answers"][0]["final"][0];
    assert_eq!(state["names"]["color"], "Green");
    assert_eq!(state["names"]["painter.seen"], "Green");
    assert_eq!(state["memory"]["color"], 1);
}
