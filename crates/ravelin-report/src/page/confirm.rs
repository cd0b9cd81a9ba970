//! What a machine showed: the histogram of each test, and the test with fences.

use maud::{Markup, html};
use ravelin_answer::text::grouped;
use ravelin_answer::{Confirmation, HardwareTest, TestCounts};

pub fn confirmation(found: &Confirmation) -> Markup {
    html! { @for test in &found.tests { (tested(test)) } }
}

fn tested(test: &HardwareTest) -> Markup {
    html! {
        h2 { "On this machine" }
        (histogram(&test.measured))
        @if let Some(fenced) = &test.fenced {
            h2 { "With fences" }
            p { (fenced.fences.join("; ")) }
            (histogram(&fenced.measured))
        }
    }
}

fn histogram(counts: &TestCounts) -> Markup {
    if counts.is_empty() {
        let seconds = format!("{:.3}", counts.seconds);
        return html! { p { "The test did not complete a single batch in " (seconds) " s." } };
    }
    let most = counts.histogram.iter().map(|row| row.count).max().unwrap_or(0).max(1);
    html! {
        p.faint { (grouped(counts.iterations)) " iterations in " (format!("{:.3}", counts.seconds)) " s" }
        div.scroll tabindex="0" role="group" aria-label="histogram" {
            table.histogram {
                thead { tr { th { "times" } th { "share" } th { "allowed by" } th { "outcome" } } }
                tbody {
                    @for row in &counts.histogram {
                        tr {
                            td { (grouped(row.count)) }
                            td { meter min="0" max=(most) value=(row.count) aria-label=(format!("{} times", row.count)) { (row.count) } }
                            td { (row.allowed.words()) }
                            td { (row.outcome) @if row.wanted { " (the witness)" } }
                        }
                    }
                }
            }
        }
    }
}
