//! Changes of C texts. The programs are made by hand, as a compiler and the lifter would make them.

use ravelin_frontend::Language;
use ravelin_frontend::sites::{RepairKind, SiteRequest, Sites, sites_of};
use ravelin_program::{
    Change, Expr, FenceStrength, Instruction, Lowering, Order, Program, ProgramBuilder, Source, Span, VarId, Variable,
    repaired,
};
use std::collections::HashMap;

/// What a thread does: each step with the part of the text that it is.
enum Step {
    Load(usize, Order),
    Store(usize, Order),
    Exchange(usize, Order),
    CompareExchange(usize, Order, Order),
    Fence(Order),
    /// Back to a step, or on.
    Again(usize),
}

use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use Step::{Again, CompareExchange, Exchange, Fence, Load, Store};

/// The program of a text. Each step names the beginning of its access in the text, which is marked by `@` and its number.
fn program(name: &str, marked: &str, threads: &[&[(&str, Step)]]) -> Program {
    let mut text = String::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut rest = marked;
    while let Some((before, after)) = rest.split_once('@') {
        text.push_str(before);
        let length = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        places.insert(after[..length].to_owned(), text.len());
        rest = &after[length..];
    }
    text.push_str(rest);
    let mut builder = ProgramBuilder::new(name);
    let cells: Vec<VarId> = ["x", "y", "z"].iter().map(|name| builder.variable(Variable::scalar(*name))).collect();
    for (number, steps) in threads.iter().enumerate() {
        let mut thread = builder.thread(format!("t{number}"));
        let register = thread.register("r");
        let mut starts = Vec::new();
        for (place, step) in *steps {
            starts.push(thread.here());
            let at = places.get(*place).copied().unwrap_or(0);
            let address = |cell: &usize| thread.address(cells[*cell]);
            let (one, old) = (Expr::Const(1), None);
            let instruction = match step {
                Load(cell, order) => Instruction::Load { reg: register, address: address(cell), order: *order },
                Store(cell, order) => Instruction::Store { address: address(cell), value: one, order: *order },
                Exchange(cell, order) => Instruction::exchange(address(cell), one, *order),
                CompareExchange(cell, success, failure) => Instruction::CompareExchange {
                    address: address(cell),
                    expected: Expr::Const(0),
                    new: one,
                    success: *success,
                    failure: *failure,
                    weak: false,
                    old,
                    ok: None,
                },
                Fence(order) => Instruction::Fence(*order),
                Again(step) => {
                    let here = thread.here();
                    thread.edge(here, Instruction::Assume(Expr::atom(register)), starts[*step]);
                    Instruction::Assume(Expr::atom(register))
                }
            };
            let is_local = instruction.is_local();
            thread.push(instruction);
            if !is_local {
                let last = thread.thread.transitions.len() - 1;
                thread.thread.transitions[last].span = Span::new(at, at + 1);
            }
        }
        thread.finish();
    }
    let mut program = builder.finish().expect("a program");
    program.source = Source::new(name, text);
    program
}

const FENCES: SiteRequest = SiteRequest::new(RepairKind::Fence);
const STRONGER: SiteRequest = SiteRequest::new(RepairKind::Strengthen);
const RELAXED: SiteRequest = SiteRequest { lower: Lowering::Accesses, existing: true, ..STRONGER };

fn sites(program: &Program, request: &SiteRequest) -> Result<Sites, String> {
    sites_of(program, Language::C, request).map_err(|error| error.to_string())
}

fn names(sites: &Sites) -> Vec<&str> {
    sites.sites.iter().map(|site| site.name.as_str()).collect()
}

/// The text with one change.
fn with(sites: &Sites, name: &str, strength: FenceStrength) -> String {
    let number = sites.sites.iter().position(|site| site.name == name);
    let number = number.unwrap_or_else(|| panic!("{name} is not one of {:?}", names(sites)));
    sites.text(&[(number, strength)]).expect("a text")
}

fn dekker() -> Program {
    let text = "#include <stdatomic.h>
atomic_int x, y;
void one(void) {
    @1atomic_store_explicit(&x, 1, memory_order_relaxed);
    while (@2atomic_load_explicit(&y, memory_order_relaxed)) {
    }
}
void two(void) {
    @3atomic_store_explicit(&y, 1, memory_order_relaxed); // mine
    if (@4atomic_load_explicit(&x, memory_order_relaxed) == 0)
        @5atomic_store_explicit(&x, 2, memory_order_release);
    // last
}
";
    let one = [("1", Store(0, Relaxed)), ("2", Load(1, Relaxed)), ("", Again(1))];
    let two = [("3", Store(1, Relaxed)), ("4", Load(0, Relaxed)), ("5", Store(0, Release))];
    program("dekker.c", text, &[&one, &two])
}

#[test]
fn fences_are_statements_or_stand_in_expressions() {
    let found = sites(&dekker(), &FENCES).expect("sites");
    assert_eq!(names(&found), ["L5.12", "L5.5", "L10", "L11", "L13"]);
    let full = FenceStrength::Full;
    assert!(with(&found, "L5.5", full).contains(
        "memory_order_relaxed);\n    atomic_thread_fence(memory_order_seq_cst);\n    while (atomic_load_explicit(&y, "
    ));
    assert!(with(&found, "L5.12", full).contains(
        "while ((atomic_thread_fence(memory_order_seq_cst), atomic_load_explicit(&y, memory_order_relaxed))) {\n"
    ));
    assert!(with(&found, "L10", full).contains("; // mine\n    atomic_thread_fence(memory_order_seq_cst);\n    if (a"));
    assert!(with(&found, "L11", full).contains(
        "        { atomic_thread_fence(memory_order_seq_cst); atomic_store_explicit(&x, 2, memory_order_release); }\n"
    ));
    let weak = with(&found, "L13", FenceStrength::StoreStore);
    assert!(weak.contains("        { atomic_store_explicit(&x, 2, memory_order_release); atomic_thread_fence(memory_order_release); }\n"), "{weak}");
}

#[test]
fn a_fence_in_a_loop_is_passed_in_every_round() {
    let program = dekker();
    let found = sites(&program, &FENCES).expect("sites");
    let site = |name: &str| found.sites.iter().position(|site| site.name == name).expect("a site");
    assert_eq!(found.sites[site("L5.5")].edges.len(), 1);
    assert_eq!(found.sites[site("L5.12")].edges.len(), 2);
    let fenced = repaired(&program, &found.sites, &[(site("L5.12"), FenceStrength::Full)]);
    assert_eq!(fenced.threads[0].transitions.len(), program.threads[0].transitions.len() + 1);
}

#[test]
fn orders_change_where_they_are_written_or_left_unsaid() {
    let text = "#include <stdatomic.h>
void one(void) {
    int r = @1atomic_load(&x);
    @2atomic_store_explicit(&y, r, memory_order_relaxed);
    @3atomic_compare_exchange_strong(&z, &r, f(1, 2));
    @4atomic_compare_exchange_weak_explicit(&z, &r, 1, memory_order_relaxed,
        memory_order_relaxed);
    @5STORE(&x, 1);
    @6atomic_store_explicit(&y, r, ORDER);
    @7x = 1;
    @8__atomic_exchange_n(&x, 1, __ATOMIC_ACQUIRE);
}
";
    let one = [
        ("1", Load(0, SeqCst)),
        ("2", Store(1, Relaxed)),
        ("3", CompareExchange(2, SeqCst, SeqCst)),
        ("4", CompareExchange(2, Relaxed, Relaxed)),
        ("5", Store(0, Relaxed)),
        ("6", Store(1, Relaxed)),
        ("7", Store(0, SeqCst)),
        ("8", Exchange(0, Acquire)),
    ];
    let program = program("orders.c", text, &[&one]);
    let found = sites(&program, &RELAXED).expect("sites");
    let orders: Vec<&str> = names(&found).into_iter().filter(|name| name.contains(':')).collect();
    assert_eq!(orders, ["L3:order", "L4:order", "L5:order", "L5:failure", "L6:order", "L6:failure", "L11:order"]);
    let relaxed = found.text(&[]).expect("a text");
    assert!(relaxed.contains("atomic_load_explicit(&x, memory_order_relaxed);"), "{relaxed}");
    assert!(relaxed.contains(
        "atomic_compare_exchange_strong_explicit(&z, &r, f(1, 2), memory_order_relaxed, memory_order_relaxed);"
    ));
    assert!(relaxed.contains("__atomic_exchange_n(&x, 1, __ATOMIC_RELAXED);"));
    let acquire = with(&found, "L3:order", FenceStrength::Acquire);
    assert!(acquire.contains("atomic_load_explicit(&x, memory_order_acquire);"));
    let failure = with(&found, "L6:failure", FenceStrength::Acquire);
    assert!(failure.contains("&z, &r, 1, memory_order_relaxed,\n        memory_order_acquire);"), "{failure}");
    let stronger = sites(&program, &STRONGER).expect("sites");
    assert!(
        with(&stronger, "L4:order", FenceStrength::StoreStore)
            .contains("atomic_store_explicit(&y, r, memory_order_release)")
    );
}

#[test]
fn methods_of_cpp_get_orders_and_fences() {
    let text = "#include <atomic>
void one() {
    @1x.store(1);
    auto r = p->y.@2load(std::memory_order_relaxed);
    z.@3compare_exchange_strong(r, 1, std::memory_order_acquire);
    std::@4atomic_store(&x, 1);
    z.@5fetch_add(1, std::memory_order::relaxed);
    z.@6fetch_add(1, ORDER);
}
";
    let one = [
        ("1", Store(0, SeqCst)),
        ("2", Load(1, Relaxed)),
        ("3", CompareExchange(2, Acquire, Acquire)),
        ("4", Store(0, SeqCst)),
        ("5", Exchange(2, Relaxed)),
        ("6", Exchange(2, SeqCst)),
    ];
    let program = program("methods.cpp", text, &[&one]);
    let found = sites(&program, &RELAXED).expect("sites");
    let relaxed = found.text(&[]).expect("a text");
    assert!(relaxed.contains("    x.store(1, std::memory_order_relaxed);\n"), "{relaxed}");
    assert!(relaxed.contains("(r, 1, std::memory_order_relaxed);"), "{relaxed}");
    assert!(relaxed.contains("z.fetch_add(1, ORDER);"), "{relaxed}");
    assert!(relaxed.contains("std::atomic_store_explicit(&x, 1, std::memory_order_relaxed);"), "{relaxed}");
    let stronger = sites(&program, &STRONGER).expect("sites");
    assert!(with(&stronger, "L7:order", FenceStrength::AcqRel).contains("(1, std::memory_order::acq_rel);"));
    assert!(with(&stronger, "L5:order", FenceStrength::AcqRel).contains("(r, 1, std::memory_order_acq_rel);"));
    let fences = sites(&program, &FENCES).expect("sites");
    let fenced = with(&fences, "L4", FenceStrength::Full);
    assert!(fenced.contains("\n    std::atomic_thread_fence(std::memory_order_seq_cst);\n    auto r = "), "{fenced}");
}

#[test]
fn fences_that_stand_there_are_removed_or_become_weaker() {
    let text = "#include <stdatomic.h>
void one(void) {
    @1atomic_store_explicit(&x, 1, memory_order_relaxed);
    @2atomic_thread_fence(memory_order_seq_cst);
    if (@3atomic_load_explicit(&y, memory_order_relaxed)) @4atomic_thread_fence(memory_order_acquire);
    @5FENCE();
    @6atomic_store_explicit(&x, 2, memory_order_relaxed);
}
";
    let one = [
        ("1", Store(0, Relaxed)),
        ("2", Fence(SeqCst)),
        ("3", Load(1, Relaxed)),
        ("4", Fence(Acquire)),
        ("5", Fence(AcqRel)),
        ("6", Store(0, Relaxed)),
    ];
    let found = sites(&program("fences.c", text, &[&one]), &SiteRequest { existing: true, ..FENCES }).expect("sites");
    let kept: Vec<&str> =
        found.sites.iter().filter(|site| site.change == Change::Keep).map(|site| site.name.as_str()).collect();
    assert_eq!(kept, ["L4", "L5.57#2"]);
    let none = found.text(&[]).expect("a text");
    assert!(
        none.contains("relaxed);\n    if (atomic_load_explicit(&y, memory_order_relaxed)) ;\n    FENCE();"),
        "{none}"
    );
    let weaker = with(&found, "L4", FenceStrength::StoreStore);
    assert!(weaker.contains("\n    atomic_thread_fence(memory_order_release);\n"), "{weaker}");
}

#[test]
fn stores_become_exchanges() {
    let text = "void one(void) {
    @1atomic_store_explicit(&x, 1, memory_order_release);
    y.@2store(1, std::memory_order_relaxed);
    @3__atomic_store_n(&z, 1, __ATOMIC_RELAXED);
    @4x = 1;
}
";
    let one = [
        ("1", Store(0, Release)),
        ("2", Store(1, Relaxed)),
        ("3", Store(2, Relaxed)),
        ("4", Store(0, Order::NonAtomic)),
    ];
    let found = sites(&program("locks.c", text, &[&one]), &SiteRequest::new(RepairKind::Rmw)).expect("sites");
    assert_eq!(names(&found), ["L2", "L3", "L4"]);
    let all: Vec<_> = (0..3).map(|site| (site, FenceStrength::Full)).collect();
    let locked = found.text(&all).expect("a text");
    assert!(locked.contains("atomic_exchange_explicit(&x, 1, memory_order_seq_cst);"));
    assert!(locked.contains("y.exchange(1, std::memory_order_seq_cst);"));
    assert!(locked.contains("__atomic_exchange_n(&z, 1, __ATOMIC_SEQ_CST);"));
}

#[test]
fn what_cannot_be_written_is_no_site() {
    let text = "#include <stdatomic.h>
void one(void) {
    @1LOAD(x);
    @2atomic_store(&x, get());
    r = a && @3atomic_load(&x);
    for (;; @4atomic_fetch_add(&y, 1)) {}
}
";
    let one = [("1", Load(0, SeqCst)), ("2", Store(0, SeqCst)), ("3", Load(0, SeqCst)), ("4", Exchange(1, SeqCst))];
    let found = sites(&program("hidden.c", text, &[&one]), &FENCES).expect("sites");
    assert_eq!(names(&found), ["L5", "L6"]);
    assert!(
        with(&found, "L5", FenceStrength::Full)
            .contains("a && (atomic_thread_fence(memory_order_seq_cst), atomic_load(&x));")
    );
}

#[test]
fn odd_texts_have_no_sites() {
    for text in
        ["", "@1", "@1)", "void f() { @1", "f(@1", "'@1", "/* @1", "x.@1load(", "((((@1))))", "é@1atomic_load(é"]
    {
        let program = program("odd.c", text, &[&[("1", Load(0, SeqCst))]]);
        for request in [FENCES, STRONGER, RELAXED, SiteRequest::new(RepairKind::Rmw)] {
            let found = sites(&program, &request).expect("sites");
            assert!(found.text(&[]).is_ok(), "{text}");
        }
    }
}
