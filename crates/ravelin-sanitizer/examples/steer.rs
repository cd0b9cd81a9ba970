use ravelin_sanitizer::*;
use ravelin_verify::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let watch = WatchCommand {
        program: args[1].clone().into(),
        options: vec!["no-robustness".into()],
        streams: Streams { input: Some("/dev/null".into()), silent: false },
        ..WatchCommand::default()
    };
    let mut program = SteeredProgram::start(watch, false, 1000).unwrap();
    eprintln!("{:?}", program.fresh_reason());
    let choices = args[2..].iter().map(|w| Choice { thread: w.parse().unwrap(), times_out: false }).collect();
    let t = std::time::Instant::now();
    for i in 0..500 {
        let run = program.run(&Script { choices: Vec::clone(&choices), sleepers: vec![] }, None).unwrap().unwrap();
        if i == 0 {
            for e in run.run.events.iter().take(25) {
                eprintln!(
                    "{} {:?} {:?} {:x}+{} read {} wrote {} flags {} state {:x} pc {:x}",
                    e.thread,
                    e.operation.act,
                    e.operation.order,
                    e.operation.address,
                    e.operation.size,
                    e.read,
                    e.written,
                    e.flags,
                    e.state,
                    e.pc
                );
            }
            eprintln!("pending {:?}", run.run.pending);
            eprintln!(
                "end {:?} exit {} {:?} doubts {}",
                run.run.end, run.watched.exit_code, run.watched.signal, run.doubts
            );
        }
    }
    eprintln!("{:?} per run", t.elapsed() / 500);
}
