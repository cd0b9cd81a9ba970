//! Searches by several processes: the same answers as by one, also when some of them are killed.

use crate::running;

use running::{Scratch, code, examples, has_cluster, interruptible, ravelin};
use serde_json::Value;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A few hundred thousand states under sc, and a violation as far away as can be.
const PROGRAM: &str = "static x: 0..=63; static y: 0..=63; static z: 0..=63;
    thread a { while x.load() < 60 { x.store(x.load() + 1); } }
    thread b { while y.load() < 60 { y.store(y.load() + 1); } }
    thread c { while z.load() < 60 { z.store(z.load() + 1); } }
    never x == 60 && y == 60 && z == 60;";

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Of each answer: the file, the verdict, the states and the length of the witness.
fn essence(output: &Output) -> Vec<(String, String, u64, usize)> {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)));
    let answers = document["answers"].as_array().expect("answers");
    assert!(!answers.is_empty());
    let each = |answer: &Value| {
        let text = |field: &str| answer[field].as_str().unwrap_or("missing").to_owned();
        let states = answer["statistics"]["states"].as_u64().or(answer["explored"]["states"].as_u64());
        let steps = answer["witness"]["steps"].as_array().map_or(0, Vec::len);
        (text("file"), text("verdict"), states.unwrap_or(0), steps)
    };
    answers.iter().map(each).collect()
}

#[test]
fn one_to_four_processes_find_the_same_in_all_examples() {
    if !has_cluster() {
        return;
    }
    let mut files = examples();
    // Any number of threads is another kind of search.
    files.retain(|file| !std::fs::read_to_string(file).expect("a text").contains("[*]"));
    // Each with limits on states: what the first limit ends is asked about again with the next. Of an answer that the
    // last one ends only the verdict is compared, and no goal is settled, and no witness is shortened, by more states
    // than these. How violations are graded takes as many states as a limit allows, and is found by one process alone.
    // Models are asked about one by one: one process lets one of them follow from another.
    let questions: [(&[&str], &[&str]); 9] = [
        (&["check", "--model", "tso"], &["150000"]),
        (&["check", "--model", "pso"], &["150000"]),
        (&["check", "--model", "tso", "--attacks"], &["150000"]),
        (&["check", "--model", "tso", "--engine", "single"], &["150000"]),
        (&["check", "--model", "tso", "--engine", "attacks"], &["150000"]),
        (&["check", "--model", "ra"], &["6000", "150000"]),
        (&["check", "--model", "rc20"], &["6000", "150000"]),
        (&["reach", "--model", "tso", "--engine", "bounded"], &["30000"]),
        (&["reach", "--model", "rc20", "--engine", "bounded"], &["20000"]),
    ];
    // Each question with two numbers of processes, in turns; with `RAVELIN_CASES_ALL=1` with all four.
    let all = std::env::var_os("RAVELIN_CASES_ALL").is_some();
    for (number, (question, limits)) in questions.into_iter().enumerate() {
        let processes: &[&str] = match number % 2 {
            _ if all => &["1", "2", "3", "4"],
            0 => &["2", "4"],
            _ => &["1", "3"],
        };
        let mut files = files.clone();
        for states in limits {
            let names: Vec<&str> = files.iter().map(String::as_str).collect();
            let mut found = compare_processes(question, &names, states, processes);
            found.retain(|(_, verdict, ..)| verdict == "unknown");
            files = found.into_iter().map(|(file, ..)| file).collect();
            files.dedup();
        }
        assert!(question[0] == "reach" || files.is_empty(), "{question:?} is not settled for {files:?}");
    }
}

/// Asks one process, and several numbers of them in a cluster. Returns what the one process answers.
fn compare_processes(
    question: &[&str],
    files: &[&str],
    states: &str,
    numbers: &[&str],
) -> Vec<(String, String, u64, usize)> {
    let common = [&question[1..], files, &["--format", "json", "--workers", "1", "--max-states", states]].concat();
    let expected = ravelin(&[&question[..1], &common[..]].concat(), "");
    let alone = essence(&expected);
    for &processes in numbers {
        // At once, or the beginning, which is all of a small space, is explored by one of them.
        let share_from = if processes == "4" { "1000" } else { "0" };
        let words = [&["cluster", question[0], "--local", processes, "--share-from", share_from], &common[..]].concat();
        let output = ravelin(&words, "");
        assert_eq!(code(&output), code(&expected), "{}", String::from_utf8_lossy(&output.stderr));
        let together = essence(&output);
        assert_eq!(alone.len(), together.len());
        for (alone, together) in alone.iter().zip(together) {
            // Attacks that are spread are all asked about at once, so those after the first feasible one count, too.
            let spread = question.contains(&"attacks") && alone.1 == "violated";
            // How far beyond a limit a round goes depends on the number of processes.
            let limited = alone.1 == "unknown";
            // Messages outgrow their words now and then. Processes that keep no order take a finding of the same level
            // all the same, where one process begins again with more words.
            let outgrown = question == ["reach", "--model", "rc20", "--engine", "bounded"] && alone.1 == "violated";
            let differs = spread || limited || outgrown;
            let counted = |answer: &(String, String, u64, usize)| if differs { 0 } else { answer.2 };
            assert_eq!((&alone.0, &alone.1), (&together.0, &together.1), "{processes} processes, {question:?}");
            assert_eq!(counted(alone), counted(&together), "states of {} with {processes}, {question:?}", alone.0);
            // Of stored steps there are as many, which the engine's own tests compare. A stored step of `check` is a
            // step of a thread with the local ones after it, and of equally short ways one or the other is told.
            let length = |steps: usize| if question[0] == "reach" { steps } else { usize::from(steps > 0) };
            let about = format!("witness of {} with {processes}, {question:?}", alone.0);
            assert_eq!(length(alone.3), length(together.3), "{about}");
        }
    }
    alone
}

fn start(words: &[&str]) -> Child {
    interruptible()
        .args(words)
        .current_dir(ROOT)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// The processes that `ravelin cluster` started.
fn children(parent: u32) -> Vec<u32> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn kill(process: u32) {
    let _ = Command::new("kill").args(["-9", &process.to_string()]).stderr(Stdio::null()).status();
}

/// Some thousand states, of which few fit into the memory that they get.
const SPILLED: &str = "static x: 0..=31; static y: 0..=31; static z: 0..=31;
    thread a { while x.load() < 24 { x.store(x.load() + 1); } }
    thread b { while y.load() < 24 { y.store(y.load() + 1); } }
    thread c { while z.load() < 24 { z.store(z.load() + 1); } }
    never x == 24 && y == 24 && z == 24;";

/// Twenty times a process is killed, of a search that spills, keeps checkpoints and is made by several processes.
#[test]
fn killed_processes_end_the_run_and_any_number_of_them_goes_on() {
    if !has_cluster() {
        return;
    }
    let scratch = Scratch::new("cluster-kill");
    let program = scratch.write("program.rav", SPILLED);
    let beside = |name: &str| PathBuf::from(&program).with_file_name(name).display().to_string();
    let spill = beside("spill");
    let question = ["reach", &program, "--model", "sc", "--no-symmetry", "--format", "json"];
    let expected = ravelin(&[&question[..], &["--engine", "bounded", "--workers", "1"]].concat(), "");
    assert_eq!(code(&expected), 1, "{}", said(&expected));
    let expected = essence(&expected);
    let (mut kills, mut random) = (0, 7u64);
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    for round in 0.. {
        let kept = beside(&format!("kept-{round}"));
        let common = ["--checkpoint-every", "0s", "--spill", &spill, "--max-memory", "64K", "--local"];
        // How far it has come is seen by the size of what it keeps, so that kills come on the way on whatever machine.
        let kept_bytes = || {
            let files = std::fs::read_dir(&kept).into_iter().flatten().flatten();
            files.filter_map(|file| Some(file.metadata().ok()?.len())).sum::<u64>()
        };
        for attempt in 0..6 {
            if kills == 20 {
                break;
            }
            let processes = (2 + next(2)).to_string();
            let first = [&question[..], &["--checkpoint", &kept]].concat();
            let words = if attempt == 0 { first } else { vec!["resume", &kept] };
            let mut run = start(&[&["cluster"], &words[..], &common, &[&processes]].concat());
            let enough = kept_bytes() + next(60_000);
            while kept_bytes() <= enough && run.try_wait().expect("a child").is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let started = children(run.id());
            if let Some(&victim) = started.get(next(started.len().max(1) as u64) as usize)
                && run.try_wait().expect("a child").is_none()
            {
                kills += 1;
                kill(victim);
            }
            let ending = Instant::now();
            let output = run.wait_with_output().expect("it ends");
            assert!(ending.elapsed() < Duration::from_secs(60), "the others notice");
            // It may have been done before.
            assert!([1, 3].contains(&code(&output)), "{}", said(&output));
            if code(&output) == 3 {
                let said = said(&output);
                assert!(said.contains("ended by signal 9") || said.contains("was lost"), "{said}");
            }
        }
        let processes = (1 + next(3)).to_string();
        let output = ravelin(&["cluster", "resume", &kept, "--local", &processes], "");
        assert_eq!(code(&output), 1, "{}", said(&output));
        let found = essence(&output);
        assert_eq!((&found[0].1, found[0].3), (&expected[0].1, expected[0].3), "round {round}");
        assert_eq!(std::fs::read_dir(&spill).expect("it was made").count(), 0, "nothing is left on disk");
        if kills == 20 {
            break;
        }
        assert!(round < 20, "{kills} kills came before the end");
    }
}

#[test]
fn without_a_checkpoint_a_killed_process_is_said() {
    if !has_cluster() {
        return;
    }
    let scratch = Scratch::new("cluster-lost");
    let program = scratch.write("program.rav", &PROGRAM.replace("60 &&", "61 &&").replace("< 60", "< 63"));
    for victim in [0, 1, 2] {
        let run = start(&["cluster", "reach", &program, "--model", "sc", "--no-symmetry", "--local", "3"]);
        while children(run.id()).len() < 3 {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(60));
        kill(children(run.id())[victim]);
        let output = run.wait_with_output().expect("it ends");
        assert_eq!(code(&output), 3, "{}", said(&output));
        assert!(said(&output).contains(&format!("process {victim} was ended by signal 9")), "{}", said(&output));
        assert!(!said(&output).contains("panicked"), "{}", said(&output));
    }
}

#[test]
fn processes_on_named_hosts_answer_together() {
    if !has_cluster() {
        return;
    }
    let scratch = Scratch::new("cluster-hosts");
    let taken: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let lines: Vec<String> = taken.iter().map(|port| port.local_addr().expect("an address").to_string()).collect();
    drop(taken);
    let hosts = scratch.write("hosts.txt", &lines.join("\n"));
    let words = |process: &'static str| ["check", "examples/dekker.rav", "--cluster", &hosts, "--process", process];
    let others = [start(&words("1")), start(&words("2"))];
    let first = ravelin(&words("0"), "");
    assert_eq!(code(&first), 1, "{}", said(&first));
    assert!(said(&first).contains("under tso: not robust") && said(&first).contains("under rc20: not robust"));
    for other in others {
        let output = other.wait_with_output().expect("it ends");
        assert_eq!((code(&output), said(&output).as_str()), (1, ""), "process 0 tells the answer");
    }
    // The same with another program on one of the machines: it is noted, and the right one is waited for.
    let other = start(&["check", "examples/sb.rav", "--cluster", &hosts, "--process", "1", "--connect-timeout", "2s"]);
    let first = ravelin(&[&words("0")[..], &["--connect-timeout", "2s"]].concat(), "");
    assert_eq!(code(&first), 2);
    let note = "about something else: another program, other options, or another version of Ravelin; still waiting";
    assert!(said(&first).contains("process 1 at") && said(&first).contains(note), "{}", said(&first));
    assert!(said(&first).contains("waited 2 s without an answer from"), "{}", said(&first));
    let other = other.wait_with_output().expect("it ends");
    assert_eq!(code(&other), 2);
    assert!(
        said(&other).contains("process 0 at") && said(&other).contains("closes the connection"),
        "{}",
        said(&other)
    );
}

/// Addresses of this machine that are free.
fn free_hosts(scratch: &Scratch, processes: usize) -> String {
    let taken: Vec<TcpListener> = (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let lines: Vec<String> = taken.iter().map(|port| port.local_addr().expect("an address").to_string()).collect();
    scratch.write("hosts.txt", &lines.join("\n"))
}

#[test]
fn limits_of_time_and_formats_of_answers_need_not_agree() {
    if !has_cluster() {
        return;
    }
    let scratch = Scratch::new("cluster-differ");
    let hosts = free_hosts(&scratch, 2);
    let dekker = ["check", "examples/dekker.rav", "--cluster", &hosts, "--connect-timeout", "20s", "--process"];
    let other = start(&[&dekker[..], &["1", "--timeout", "30s", "--format", "json"]].concat());
    let first = ravelin(&[&dekker[..], &["0", "--timeout=1m", "--max-memory", "1G"]].concat(), "");
    assert_eq!(code(&first), 1, "{}", said(&first));
    assert_eq!(code(&other.wait_with_output().expect("it ends")), 1);
    // The time of one is over, and it ends for both.
    let program = scratch.write("program.rav", &PROGRAM.replace("60 &&", "61 &&").replace("< 60", "< 63"));
    let long = ["reach", &program, "--model", "sc", "--no-symmetry", "--cluster", &hosts, "--process"];
    let other = start(&[&long[..], &["1", "--timeout", "0.1s"]].concat());
    let first = ravelin(&[&long[..], &["0"]].concat(), "");
    assert_eq!(code(&first), 3, "{}", said(&first));
    assert!(said(&first).contains("time limit of 0.1 s"), "{}", said(&first));
    assert_eq!(code(&other.wait_with_output().expect("it ends")), 3);
}

#[test]
fn a_secret_is_shared_or_nobody_is_let_in() {
    if !has_cluster() {
        return;
    }
    let scratch = Scratch::new("cluster-secret");
    let hosts = free_hosts(&scratch, 2);
    let secret = |name: &str, text: &str, mode: u32| {
        let file = scratch.write(name, text);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("a mode");
        file
    };
    let right = secret("right", "0123456789abcdef0123456789abcdef\n", 0o600);
    let wrong = secret("wrong", "another secret that is long enough\n", 0o600);
    let open = secret("open", "0123456789abcdef0123456789abcdef\n", 0o644);
    let dekker = ["check", "examples/dekker.rav", "--cluster", &hosts, "--connect-timeout", "2s"];
    // From a file and from the environment.
    let mut other = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    other.args(dekker).args(["--process", "1"]).current_dir(ROOT).stdout(Stdio::null());
    let mut other = other.env("RAVELIN_SECRET", "0123456789abcdef0123456789abcdef").spawn().expect("it starts");
    let first = ravelin(&[&dekker[..], &["--process", "0", "--secret-file", &right]].concat(), "");
    assert_eq!(code(&first), 1, "{}", said(&first));
    assert_eq!(other.wait().expect("it ends").code(), Some(1));
    // With another one, or none.
    for others in [&["--secret-file", &wrong][..], &[]] {
        let other = start(&[&dekker[..], &["--process", "1"], others].concat());
        let first = ravelin(&[&dekker[..], &["--process", "0", "--secret-file", &right]].concat(), "");
        assert_eq!(code(&first), 2, "{}", said(&first));
        assert!(said(&first).contains("has another secret"), "{}", said(&first));
        assert_eq!(code(&other.wait_with_output().expect("it ends")), 2);
    }
    let refused = ravelin(&[&dekker[..], &["--process", "0", "--secret-file", &open]].concat(), "");
    assert_eq!(code(&refused), 2);
    assert!(said(&refused).contains("mode 644") && said(&refused).contains("chmod 600"), "{}", said(&refused));
    let short = secret("short", "short\n", 0o600);
    let refused = ravelin(&[&dekker[..], &["--process", "0", "--secret-file", &short]].concat(), "");
    assert!(said(&refused).contains("at least 16"), "{}", said(&refused));
    // Machines that are not this one, without a secret.
    let far = scratch.write("far.txt", "127.0.0.1:9\n192.0.2.1:7000\n");
    let words = ["check", "examples/dekker.rav", "--cluster", &far, "--process", "1", "--connect-timeout", "0.1s"];
    let warned = ravelin(&words, "");
    assert!(said(&warned).contains("warning: ") && said(&warned).contains("no secret"), "{}", said(&warned));
    let quiet = ravelin(&[&words[..], &["--secret-file", &right]].concat(), "");
    assert!(!said(&quiet).contains("warning: "), "{}", said(&quiet));
}

#[test]
fn silent_callers_prolong_neither_the_wait_nor_an_interrupt() {
    if !has_cluster() {
        return;
    }
    let scratch = Scratch::new("cluster-silent");
    for interrupted in [false, true] {
        let hosts = free_hosts(&scratch, 2);
        let address = std::fs::read_to_string(&hosts).expect("hosts").lines().next().expect("one").to_owned();
        let patience = if interrupted { "60s" } else { "1s" };
        let begun = Instant::now();
        let words =
            ["check", "examples/dekker.rav", "--cluster", &hosts, "--process", "0", "--connect-timeout", patience];
        let first = start(&words);
        let _callers: Vec<TcpStream> = (0..8)
            .map(|_| {
                loop {
                    match TcpStream::connect(&address) {
                        Ok(stream) => break stream,
                        Err(_) => std::thread::sleep(Duration::from_millis(5)),
                    }
                }
            })
            .collect();
        if interrupted {
            let _ = Command::new("kill").args(["-INT", &first.id().to_string()]).status();
        }
        let output = first.wait_with_output().expect("it ends");
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        let expected = if interrupted { "interrupted while waiting" } else { "waited 1 s without an answer" };
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
}

#[test]
fn what_several_processes_cannot_do_is_said() {
    if !has_cluster() {
        return;
    }
    let scratch = Scratch::new("cluster-wrong");
    let hosts = scratch.write("hosts.txt", "localhost:7001\nnonsense\n");
    let refused = |words: &[&str], message: &str| {
        let output = ravelin(words, "");
        assert_eq!(code(&output), 2, "{}", said(&output));
        assert!(said(&output).contains(message), "{}", said(&output));
    };
    let dekker = "examples/dekker.rav";
    refused(&["check", dekker, "--cluster", &hosts, "--process", "0"], "line 2: `nonsense` is not an address");
    refused(&["check", dekker, "--cluster", "nowhere.txt", "--process", "0"], "nowhere.txt");
    refused(&["check", dekker, "--process", "0"], "--cluster");
    let one = scratch.write("one.txt", "localhost:7001\n");
    refused(&["check", dekker, "--cluster", &one, "--process", "1"], "there is no process 1");
    refused(&["check", "-", "--cluster", &one, "--process", "0"], "standard input");
    refused(&["cluster", "check", dekker, "--engine", "monitor"], "needs all states in one process");
    refused(&["cluster", "check", dekker, "--engine", "shared", "--spill", &one], "needs all states in memory");
    refused(&["cluster", "reach", dekker, "--engine", "lazy"], "for the engine `bounded`");
    refused(&["cluster", "check", dekker, "--local", "0"], "--local");
    refused(&["cluster", "check", "examples/missing.rav"], "missing.rav");
    refused(&["cluster", "check", dekker, "--cluster", &one, "--process", "0"], "starts the processes itself");
    let any = scratch.write("any.rav", "static x; thread p[*] { x.store(1); }");
    refused(&["cluster", "check", &any, "--model", "tso"], "any number of threads");
}

/// The options are in the help of every build, and one that cannot do it says how to get one that can.
#[cfg(not(feature = "cluster"))]
#[test]
fn without_the_feature_one_sentence_says_how_to_build_it() {
    let scratch = Scratch::new("cluster-absent");
    let hosts = scratch.write("hosts.txt", "127.0.0.1:1");
    let kept = PathBuf::from(&hosts).with_file_name("kept").display().to_string();
    let program = scratch.write("program.rav", PROGRAM);
    let stopped = ravelin(&["reach", &program, "--model", "sc", "--checkpoint", &kept, "--max-states", "9"], "");
    assert_eq!(code(&stopped), 3, "{}", said(&stopped));
    let fresh = PathBuf::from(&hosts).with_file_name("fresh");
    let to_fresh = fresh.display().to_string();
    for words in [
        &["cluster", "check", &program][..],
        &["cluster", "resume", &kept, "--local", "3"],
        &["check", &program, "--cluster", &hosts, "--process", "0", "--checkpoint", &to_fresh],
        &["reach", &program, "--cluster", &hosts, "--process", "0", "--checkpoint", &to_fresh],
        &["resume", &kept, "--cluster", &hosts, "--process", "0"],
    ] {
        let output = ravelin(words, "");
        assert_eq!(code(&output), 2, "{words:?}: {}", said(&output));
        assert_eq!(output.stdout, b"", "{words:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(message.lines().count(), 1, "{words:?}: {message}");
        assert!(message.starts_with("error: this `ravelin` was built without `cluster`"), "{words:?}: {message}");
        assert!(message.contains("--features cluster"), "{words:?}: {message}");
    }
    assert!(!fresh.exists(), "a search that is refused keeps nothing");
    for (words, option) in [(&["check", "--help"][..], "--cluster"), (&["cluster", "--help"], "--local")] {
        let output = ravelin(words, "");
        assert!(code(&output) == 0 && said(&output).contains(option), "{words:?}: {}", said(&output));
    }
}
