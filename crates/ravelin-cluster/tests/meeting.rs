//! Who is let in while the processes come together: those of the run, whatever else calls meanwhile.

use ravelin_cluster::{ConnectError, Hosts, Introduction, Links, Secret, UnexpectedPeer, WaitPolicy, connect};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);
/// What is over before this was not kept waiting by anybody.
const SOON: Duration = Duration::from_secs(8);

fn loopback(processes: usize) -> Hosts {
    let taken: Vec<TcpListener> = (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let lines: Vec<String> = taken.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect();
    Hosts::parse(&lines.join("\n")).unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(text.as_bytes()).unwrap()
}

fn meet(hosts: &Hosts, process: usize, fingerprint: u64, waiting: &WaitPolicy) -> Result<Links, ConnectError> {
    connect(hosts, Introduction { process, fingerprint }, waiting)
}

/// A connection to where process 0 listens, as soon as it does.
fn dial(hosts: &Hosts) -> TcpStream {
    loop {
        match TcpStream::connect(hosts.addresses[0].to_string()) {
            Ok(stream) => break stream,
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// What is said until the connection is closed, in order or by force.
fn heard(stream: &mut TcpStream) -> Vec<u8> {
    let mut heard = Vec::new();
    let mut byte = [0; 1];
    while stream.read_exact(&mut byte).is_ok() {
        heard.push(byte[0]);
    }
    heard
}

fn hello(processes: u64, from: u64, to: u64) -> Vec<u8> {
    let mut hello = b"ravelin\x02".to_vec();
    [processes, from, to].iter().for_each(|number| hello.extend(number.to_be_bytes()));
    hello.extend([9; 32]);
    hello
}

#[test]
fn silent_connections_and_single_bytes_do_not_prolong_the_wait() {
    for talks in [false, true] {
        let hosts = loopback(2);
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                let start = Instant::now();
                let result = meet(&hosts, 0, 7, &WaitPolicy::new(Duration::from_millis(400))).map(|_| ());
                ended.store(true, Ordering::Relaxed);
                (result, start.elapsed())
            });
            let mut callers: Vec<TcpStream> = (0..8).map(|_| dial(&hosts)).collect();
            for byte in hello(2, 1, 0) {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                // One that is closed by now has ended its part.
                callers.iter_mut().filter(|_| talks).for_each(|caller| drop(caller.write_all(&[byte])));
                std::thread::sleep(Duration::from_millis(50));
            }
            let (result, time) = first.join().unwrap();
            assert!(matches!(result, Err(ConnectError::Missing { .. })), "{result:?}");
            assert!(time < SOON, "{time:?}");
        });
    }
}

#[test]
fn silent_connections_do_not_keep_the_right_ones_out() {
    let hosts = loopback(3);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| meet(&hosts, 0, 7, &WaitPolicy::new(PATIENCE)).map(|_| ()));
        // More than are kept, and some that begin well.
        let mut strangers: Vec<TcpStream> = (0..300).map(|_| dial(&hosts)).collect();
        strangers.iter_mut().skip(250).for_each(|stranger| drop(stranger.write_all(&hello(3, 1, 0)[..20])));
        let start = Instant::now();
        let others = [1, 2].map(|process| {
            let hosts = &hosts;
            scope.spawn(move || meet(hosts, process, 7, &WaitPolicy::new(PATIENCE)).map(|_| ()))
        });
        assert!(first.join().unwrap().is_ok());
        others.into_iter().for_each(|other| assert!(other.join().unwrap().is_ok()));
        assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    });
}

#[test]
fn strangers_are_closed_without_a_word() {
    let hosts = loopback(2);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| meet(&hosts, 0, 7, &WaitPolicy::new(PATIENCE)).map(|_| ()));
        drop(dial(&hosts));
        let not_processes: [&[u8]; 4] = [
            b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n",
            b"ravelin\x01",
            &hello(2, 9, 0),
            &hello(2, 1, 1),
        ];
        for words in not_processes {
            let mut stranger = dial(&hosts);
            stranger.write_all(words).unwrap();
            assert!(heard(&mut stranger).is_empty(), "{words:?}");
        }
        assert!(meet(&hosts, 1, 7, &WaitPolicy::new(PATIENCE)).is_ok());
        assert!(first.join().unwrap().is_ok());
    });
}

/// A process with something wrong comes first and is noted once, then the right one comes.
#[test]
fn one_about_something_else_or_with_another_secret_is_noted_and_the_right_one_is_let_in() {
    let ours = secret("the secret of this run");
    let theirs = secret("the secret of another run");
    let address = |hosts: &Hosts| hosts.addresses[1].clone();
    type Wrong<'a> = (u64, Option<&'a Secret>, fn(&Hosts) -> UnexpectedPeer);
    let wrongs: [Wrong; 3] = [
        (8, Some(&ours), |hosts| UnexpectedPeer::Different { process: 1, address: hosts.addresses[1].clone() }),
        (7, Some(&theirs), |hosts| UnexpectedPeer::Secret { process: 1, address: hosts.addresses[1].clone() }),
        (7, None, |hosts| UnexpectedPeer::Secret { process: 1, address: hosts.addresses[1].clone() }),
    ];
    for (fingerprint, secret, expected) in wrongs {
        let hosts = loopback(2);
        let noted: Mutex<Vec<UnexpectedPeer>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                let note = |sighting: &UnexpectedPeer| noted.lock().unwrap().push(sighting.clone());
                let waiting = WaitPolicy { secret: Some(&ours), note: Some(&note), ..WaitPolicy::new(PATIENCE) };
                meet(&hosts, 0, 7, &waiting).map(|_| ())
            });
            // Long enough for several attempts.
            let waiting = WaitPolicy { secret, ..WaitPolicy::new(Duration::from_millis(1_500)) };
            let Err(error) = meet(&hosts, 1, fingerprint, &waiting).map(|_| ()) else { panic!("it was let in") };
            let ConnectError::Missing { seen, .. } = &error else { panic!("{error}") };
            assert_eq!(seen, &[UnexpectedPeer::Refuses { process: 0, address: hosts.addresses[0].clone() }]);
            assert!(error.to_string().contains("closes the connection"), "{error}");
            let right = WaitPolicy { secret: Some(&ours), ..WaitPolicy::new(PATIENCE) };
            assert!(meet(&hosts, 1, 7, &right).is_ok());
            assert!(first.join().unwrap().is_ok());
        });
        assert_eq!(noted.into_inner().unwrap(), [expected(&hosts)], "{}", address(&hosts));
    }
}

#[test]
fn at_the_deadline_it_is_said_who_came() {
    let hosts = loopback(2);
    std::thread::scope(|scope| {
        let waiting = WaitPolicy::new(Duration::from_millis(1_500));
        let first = scope.spawn(|| meet(&hosts, 0, 7, &WaitPolicy::new(Duration::from_millis(1_500))).map(|_| ()));
        let second = meet(&hosts, 1, 8, &waiting).map(|_| ());
        assert!(second.is_err());
        drop(dial_or_late(&hosts));
        let Err(error) = first.join().unwrap() else { panic!("it is about something else") };
        assert!(
            error.to_string().contains("without an answer from") && error.to_string().contains("about something else"),
            "{error}"
        );
    });
}

/// One more caller, if it is still listened to.
fn dial_or_late(hosts: &Hosts) -> Option<TcpStream> {
    TcpStream::connect(hosts.addresses[0].to_string()).ok()
}

/// A relay that writes down what the caller says, and ends the connection when the caller has said all.
#[test]
fn what_was_heard_of_another_handshake_opens_nothing() {
    let ours = secret("the secret of this run");
    let hosts = loopback(2);
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let detour = Hosts::parse(&format!("{}\n{}", relay.local_addr().unwrap(), hosts.addresses[1])).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (ours, hosts) = (&ours, &hosts);
        let first = scope.spawn(move || {
            let noted: Mutex<Vec<UnexpectedPeer>> = Mutex::new(Vec::new());
            let note = |sighting: &UnexpectedPeer| noted.lock().unwrap().push(sighting.clone());
            let waiting = WaitPolicy { secret: Some(ours), note: Some(&note), ..WaitPolicy::new(PATIENCE) };
            let result = meet(hosts, 0, 7, &waiting).map(|_| ());
            (result, noted.lock().unwrap().clone())
        });
        let stop = &stop;
        let caller = scope.spawn(move || {
            let waiting = WaitPolicy { secret: Some(ours), stop: Some(stop), ..WaitPolicy::new(PATIENCE) };
            meet(&detour, 1, 7, &waiting).map(|_| ())
        });
        let (mut caller_side, _) = relay.accept().unwrap();
        let mut listener_side = dial(hosts);
        let mut said_hello = [0; 64];
        caller_side.read_exact(&mut said_hello).unwrap();
        listener_side.write_all(&said_hello).unwrap();
        let mut challenge = [0; 40];
        listener_side.read_exact(&mut challenge).unwrap();
        caller_side.write_all(&challenge).unwrap();
        let mut proofs = [0; 64];
        caller_side.read_exact(&mut proofs).unwrap();
        // The proofs are good, and are kept from the listener; that connection is over.
        listener_side.shutdown(Shutdown::Both).unwrap();
        // A listener's proof that is one of the caller's own, sent back, is none.
        caller_side.write_all(&proofs[32..]).unwrap();
        assert!(heard(&mut caller_side).is_empty());
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(caller.join().unwrap(), Err(ConnectError::Stopped)));
        // What was heard, in another connection: the listener has another nonce there.
        let mut replay = dial(hosts);
        replay.write_all(&said_hello).unwrap();
        let mut other_challenge = [0; 40];
        replay.read_exact(&mut other_challenge).unwrap();
        assert_ne!(challenge, other_challenge);
        replay.write_all(&proofs).unwrap();
        assert!(heard(&mut replay).is_empty());
        let right = WaitPolicy { secret: Some(ours), ..WaitPolicy::new(PATIENCE) };
        assert!(meet(hosts, 1, 7, &right).is_ok());
        let (result, noted) = first.join().unwrap();
        assert!(result.is_ok());
        assert_eq!(noted, [UnexpectedPeer::Secret { process: 1, address: hosts.addresses[1].clone() }]);
    });
}

#[test]
fn who_answers_a_call_without_the_secret_is_not_believed() {
    let hosts = loopback(2);
    let impostor = TcpListener::bind(hosts.addresses[0].to_string()).unwrap();
    let ours = secret("the secret of this run");
    std::thread::scope(|scope| {
        let caller = scope.spawn(|| {
            let waiting = WaitPolicy { secret: Some(&ours), ..WaitPolicy::new(Duration::from_millis(600)) };
            meet(&hosts, 1, 7, &waiting).map(|_| ())
        });
        let (mut stream, _) = impostor.accept().unwrap();
        stream.read_exact(&mut [0; 64]).unwrap();
        stream.write_all(b"ravelin\x02").unwrap();
        stream.write_all(&[5; 32]).unwrap();
        stream.read_exact(&mut [0; 64]).unwrap();
        stream.write_all(&[6; 32]).unwrap();
        assert!(heard(&mut stream).is_empty());
        let Err(ConnectError::Missing { seen, .. }) = caller.join().unwrap() else { panic!("it believes anything") };
        assert_eq!(seen, [UnexpectedPeer::Secret { process: 0, address: hosts.addresses[0].clone() }]);
    });
}

#[test]
fn it_stops_soon_whatever_it_is_waiting_for() {
    // A machine that does not answer, and callers that say nothing.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hosts = Hosts::parse(&format!("192.0.2.1:7000\n{port}\n127.0.0.1:9")).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let waiting = WaitPolicy { stop: Some(&stop), ..WaitPolicy::new(PATIENCE) };
            meet(&hosts, 1, 7, &waiting).map(|_| ())
        });
        let _callers: Vec<TcpStream> = (0..8)
            .map(|_| {
                loop {
                    match TcpStream::connect(port) {
                        Ok(stream) => break stream,
                        Err(_) => std::thread::sleep(Duration::from_millis(5)),
                    }
                }
            })
            .collect();
        let start = Instant::now();
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(waiting.join().unwrap(), Err(ConnectError::Stopped)));
        assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    });
}
