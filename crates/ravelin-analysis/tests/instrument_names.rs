//! What attacks are called, and what is said about a name that is none.

use ravelin_analysis::robustness::{CannotInstrument, UnknownAttack, attack_name, attacks, find_attack, instrument};
use ravelin_frontend::Language;
use ravelin_program::{Domain, HardwareProgram, Source, Unnamed};
use std::path::Path;

fn parse(text: &str, language: Language) -> HardwareProgram {
    let parsed = ravelin_frontend::parse(Source::new("test", text), language);
    HardwareProgram::new(&parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics)))
}

const BOTH: &str = "\
static x; static y;
thread p[me in 0..2] {
    x.store(1);
    y.store(1); y.store(2);
    let r = x.load() + y.load();
    @again;
    r = x.load();
}
";

#[test]
fn names_are_as_short_as_they_can_be() {
    let program = parse(BOTH, Language::Rav);
    let names: Vec<String> = attacks(&program).into_iter().map(|attack| attack_name(&program, attack)).collect();
    assert_eq!(
        names[..9],
        [
            "p[0]:L3:L5.13",
            "p[0]:L3:L5.24",
            "p[0]:L3:L7",
            "p[0]:L4.5:L5.13",
            "p[0]:L4.5:L5.24",
            "p[0]:L4.5:L7",
            "p[0]:L4.17:L5.13",
            "p[0]:L4.17:L5.24",
            "p[0]:L4.17:L7",
        ]
    );
}

#[test]
fn names_may_be_given_in_several_ways() {
    let program = parse(BOTH, Language::Rav);
    let attack = find_attack(&program, "p[1]:L3:L7").expect("it is there");
    for name in ["p[1]:3:7", "p[1]:L3.5:L7.5", "p[1]:#0:again", "p[1]:L3:@again", " p[1] : L3 : L7 ", "p[1]:#0:#6"] {
        assert_eq!(find_attack(&program, name), Ok(attack), "{name}");
    }
}

#[test]
fn a_wrong_name_is_answered_with_what_there_is() {
    let program = parse(BOTH, Language::Rav);
    let cases = [
        (
            "L3:L5",
            "`L3:L5` is not the name of an attack; write THREAD:STORE:LOAD, such as `t1:L3:L5` with line numbers",
        ),
        ("q:L3:L5", "there is no thread `q`; there are p[0], p[1]"),
        (
            "p[0]:L5:L7",
            "thread `p[0]` has no store at `L5`; its stores are\n  L3  x.store(1)\n  L4.5  y.store(1)\n  L4.17  y.store(2)",
        ),
        (
            "p[0]:L4:L7",
            "thread `p[0]` has more than one store at `L4`; its stores are\n  L4.5  y.store(1)\n  L4.17  y.store(2)",
        ),
        (
            "p[0]:L3:nowhere",
            "thread `p[0]` has no load at `nowhere`; its loads are\n  L5.13  x.load()\n  L5.24  y.load()\n  L7  r = x.load()",
        ),
    ];
    for (name, expected) in cases {
        assert_eq!(find_attack(&program, name).expect_err(name).to_string(), expected);
    }
    let program = parse("static x; thread t { x.fetch_add(1); }", Language::Rav);
    let error = find_attack(&program, "t:L1:L1").expect_err("an exchange is no store");
    assert!(matches!(error, UnknownAttack::Access { .. }));
    assert_eq!(error.to_string(), "thread `t` has no store at `L1`; it has no store that could be part of an attack");
}

#[test]
fn every_attack_of_every_example_is_found_by_its_name() {
    let mut found = 0;
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of examples") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            // What a compiler has to read first is not read here.
            let read = |language: &Language| !matches!(language, Language::C | Language::Llvm);
            let Some(language) = Language::from_path(&path).filter(read) else { continue };
            let program = parse(&std::fs::read_to_string(&path).expect("a readable example"), language);
            for attack in attacks(&program) {
                let name = attack_name(&program, attack);
                assert_eq!(find_attack(&program, &name), Ok(attack), "{}: {name}", path.display());
                found += 1;
            }
        }
    }
    assert!(found > 500, "only {found} attacks");
}

#[test]
fn what_cannot_be_instrumented_is_refused_with_a_reason() {
    let any = parse("static x; thread p[*] { x.store(1); let r = x.load(); }", Language::Rav);
    let attack = attacks(&any)[0];
    assert_eq!(instrument(&any, attack), Err(CannotInstrument::AnyCopies("p".to_owned())));
    assert!(instrument(&HardwareProgram::new(&any.instance(2)), attack).is_ok());
    // Auxiliary addresses are computed with 64 bits, in whatever type the program itself wraps.
    for ty in ["0..=8_589_934_591", "0..2"] {
        let text =
            format!("arithmetic wrapping {ty}; thread t {{ let p = 0; mem[p + 1].store(1); p = mem[p].load(); }}");
        let program = parse(&text, Language::Rav);
        assert!(instrument(&program, attacks(&program)[0]).is_ok(), "{ty}");
    }
    let odd = parse("thread t { mem[7].store(1); let r = mem[8].load(); }", Language::Rav);
    assert!(instrument(&odd, attacks(&odd)[0]).is_ok());
    let mut odd = odd.into_inner();
    odd.memory.unnamed = Unnamed::Cells(Domain { lo: 1, hi: 2, ..Domain::FULL });
    let odd = HardwareProgram::new(&odd);
    let refusal = instrument(&odd, attacks(&odd)[0]);
    assert_eq!(refusal, Err(CannotInstrument::UnnamedDomain { lo: 1, hi: 2 }));
    let swapped = ravelin_analysis::robustness::Attack { store: attack.load, load: attack.store, ..attack };
    assert_eq!(instrument(&HardwareProgram::new(&any.instance(2)), swapped), Err(CannotInstrument::NoSuchAttack));
    let loads = "let r = x.load(); ".repeat(11);
    let many = parse(&format!("static x; thread t {{ x.store(1); locked {{ {loads} }} }}"), Language::Rav);
    let refusal = instrument(&many, attacks(&many)[0]);
    assert!(matches!(refusal, Err(CannotInstrument::TooManyWays { limit: 1024, .. })), "{refusal:?}");
}
