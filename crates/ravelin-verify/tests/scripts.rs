//! Scripts as text.

use ravelin_verify::Script;

#[test]
fn scripts_are_read_as_they_are_written() {
    let texts =
        ["steps:", "steps:0x3,1,2t", "steps:0x3,1;stale:5@2", "steps:0x3,1;stale:5", "steps:0x3,1;stale:2=5@0;seed:7"];
    for text in texts {
        assert_eq!(text.parse::<Script>().map(|script| script.to_string()), Ok(text.to_owned()));
    }
    let last = "steps:0x3,1;stale:3=5".parse::<Script>().expect("a script");
    assert_eq!(last.to_string(), "steps:0x3,1;stale:5");
}

/// A stale value comes from an earlier step, and there is a step that reads it.
#[test]
fn impossible_stale_steps_are_refused() {
    let texts =
        ["steps:;stale:5", "steps:0x3;stale:3=5", "steps:0x3;stale:5@2", "steps:0x3;stale:1=5@1", "steps:0x3;stale:x"];
    for text in texts {
        assert!(text.parse::<Script>().is_err(), "{text}");
    }
}
