fn main() {
    use ravelin_explore::*; use ravelin_machine::*; use ravelin_semantics::Model;
    let lam = |n: u32| format!("const N = {n};\nstatic x: 0..=N;\nstatic y: 0..=N;\nthread p[me in 1..=N] {{ loop {{ x.store(me); if y.load() != 0 {{ continue; }} y.store(me); if x.load() == me {{ break; }} assume(y.load() != me); }} @critical; y.store(0); }}\nnever 2 of p@critical;\n");
    let cnt = |n: u32| format!("static a: [blocking 0..16; {n}]; thread p[me in 0..{n}] {{ loop {{ a[me].fetch_add(1); }} }}");
    for (name, text) in [("cnt4", cnt(4)), ("lam4", lam(4)),("cnt6", cnt(6)), ("lam5", lam(5))] {
        let parsed = ravelin_frontend::rav::parse(ravelin_program::Source::new("x.rav", text));
        let program = parsed.program.expect("ok");
        if name == "lam4" { for t in &program.threads[..1] { for tr in &t.transitions { println!("{} -> {}: {}", tr.from.0, tr.to.0, program.show_instruction(t, &tr.instruction)); } } }
        let s = Settings { reductions: Reductions::NONE, ..Settings::new(Model::Sc) };
        for workers in [1, 2] {
        let e = run(&program, s, &Options { workers, ..Options::default() }).unwrap();
        println!("{name} {:?} words {} ns/t {}", e.statistics(), e.words(), e.statistics().elapsed.as_nanos() as f64 / e.statistics().transitions as f64);
        }
    }
}
