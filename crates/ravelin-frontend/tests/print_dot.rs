//! Control-flow graphs: what is in them, and that Graphviz reads them whatever the names.

use ravelin_frontend::print;
use ravelin_program::{Copies, Expr, Instruction, Order, Program, ProgramBuilder, Variable};
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn a_graph_has_a_cluster_a_thread_and_an_edge_a_transition() {
    let mut builder = ProgramBuilder::new("two");
    let x = builder.variable(Variable::scalar("x"));
    let mut thread = builder.thread("writer");
    thread.store(x, Expr::Const(1), Order::Release);
    thread.label("done");
    thread.finish();
    let mut thread = builder.thread("p");
    thread.thread.copies = Copies::Any;
    thread.edge(thread.here(), Instruction::Nop, thread.here());
    thread.finish();
    let expected = r#"digraph "two" {
    node [shape=circle, fontname="monospace"];
    edge [fontname="monospace"];
    subgraph cluster_0 {
        label="writer";
        t0_start [shape=point, label=""];
        t0_start -> t0_l0;
        t0_l0 [label="0"];
        t0_l1 [label="1\n@done", shape=doublecircle];
        t0_l0 -> t0_l1 [label="x.store(1, release)"];
    }
    subgraph cluster_1 {
        label="p[*]";
        t1_start [shape=point, label=""];
        t1_start -> t1_l0;
        t1_l0 [label="0"];
        t1_l0 -> t1_l0 [label="nop"];
    }
}
"#;
    let text = print::dot(&builder.finish().unwrap());
    assert_eq!(text, expected);
    graphviz_accepts(&text);
}

#[test]
fn any_name_is_escaped() {
    let text = print::dot(&strange());
    for escaped in [r#"digraph "a\\\"b\nc""#, r#"label="t\\""#, r#"label="1\n@\"]; x\N""#, r#"r\n = "#] {
        let escaped = escaped.replace(r"\N", r"\\N");
        assert!(text.contains(&escaped), "{escaped} in\n{text}");
    }
    graphviz_accepts(&text);
}

fn strange() -> Program {
    let mut builder = ProgramBuilder::new("a\\\"b\nc");
    let x = builder.variable(Variable::scalar("\"x\\\""));
    let mut thread = builder.thread("t\\");
    let r = thread.register("r\n");
    thread.load(r, x, Order::Relaxed);
    thread.label("\"]; x\\N");
    thread.finish();
    builder.finish().unwrap()
}

fn graphviz_accepts(text: &str) {
    if !ravelin_testing::has("dot", "-V", "graphviz") {
        return;
    }
    let mut dot = Command::new("dot");
    dot.arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut dot = dot.spawn().expect("dot starts");
    dot.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = dot.wait_with_output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !complaints.contains("syntax"), "{complaints}\n{text}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("<svg"));
}
