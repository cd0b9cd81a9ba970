//! Processes, here threads with real sockets, that come together and exchange words.

use ravelin_cluster::{ConnectError, Hosts, Introduction, Links, WaitPolicy, connect};
use ravelin_explore::{LostProcess, Peers};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

/// Free ports of this machine.
fn loopback(processes: usize) -> Hosts {
    let taken: Vec<TcpListener> = (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let lines: Vec<String> = taken.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect();
    Hosts::parse(&lines.join("\n")).unwrap()
}

fn directory(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("ravelin-links-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn meet(hosts: &Hosts, process: usize, fingerprint: u64) -> Result<Links, ConnectError> {
    connect(hosts, Introduction { process, fingerprint }, &WaitPolicy::new(PATIENCE))
}

fn all<T: Send>(hosts: &Hosts, each: impl Fn(Links) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let start = |process| {
            scope.spawn({
                let each = &each;
                move || each(meet(hosts, process, 7).unwrap())
            })
        };
        let processes: Vec<_> = (0..hosts.addresses.len()).map(start).collect();
        processes.into_iter().map(|process| process.join().unwrap()).collect()
    })
}

/// What a process says to another in a round: different for all, and sometimes very much.
fn said(from: usize, to: usize, round: usize) -> Vec<u64> {
    let len = match (from + to * 3 + round * 7) % 11 {
        0 => 0,
        1 => 200_000,
        more => more * more * 13,
    };
    (0..len as u64).map(|at| at.wrapping_mul(0x9e37_79b9) ^ (from * 1_000_003 + to * 1_009 + round) as u64).collect()
}

#[test]
fn everybody_gets_what_is_meant_for_him_in_every_round() {
    for processes in [1, 2, 3, 5] {
        for hosts in [loopback(processes), Hosts::local(&directory("rounds"), processes)] {
            all(&hosts, |links| {
                for round in 0..60 {
                    let outgoing = (0..processes).map(|to| said(links.number(), to, round)).collect();
                    let incoming = links.exchange(outgoing).unwrap();
                    let expected: Vec<_> = (0..processes).map(|from| said(from, links.number(), round)).collect();
                    assert!(incoming == expected, "round {round}");
                }
            });
        }
    }
}

#[test]
fn nobody_listens_once_all_are_there() {
    let hosts = loopback(3);
    all(&hosts, |links| {
        links.exchange(vec![Vec::new(); 3]).unwrap();
        for address in &hosts.addresses {
            assert!(TcpStream::connect(address.to_string()).is_err());
        }
        links.exchange(vec![Vec::new(); 3]).unwrap();
    });
}

#[test]
fn connections_from_other_addresses_are_not_let_in() {
    // Process 1 is said to be elsewhere, so what comes from this machine is not it.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let here = Hosts::parse(&format!("{port}\n192.0.2.1:7000")).unwrap();
    std::thread::scope(|scope| {
        let introduction = Introduction { process: 0, fingerprint: 7 };
        let first =
            scope.spawn(move || connect(&here, introduction, &WaitPolicy::new(Duration::from_secs(2))).map(|_| ()));
        let pretended = Hosts::parse(&format!("{port}\n127.0.0.1:7001")).unwrap();
        let introduction = Introduction { process: 1, fingerprint: 7 };
        let second = connect(&pretended, introduction, &WaitPolicy::new(Duration::from_secs(1))).map(|_| ());
        assert!(matches!(second, Err(ConnectError::Missing { .. })), "{second:?}");
        assert!(matches!(first.join().unwrap(), Err(ConnectError::Missing { .. })));
    });
}

#[test]
fn waiting_ends_and_says_for_whom() {
    let hosts = loopback(3);
    let introduction = Introduction { process: 0, fingerprint: 7 };
    let Err(error) = connect(&hosts, introduction, &WaitPolicy::new(Duration::from_millis(100))) else {
        panic!("nobody else is there")
    };
    assert!(error.to_string().contains(&hosts.addresses[1].to_string()), "{error}");
    let stop = std::sync::atomic::AtomicBool::new(true);
    let waiting = WaitPolicy { stop: Some(&stop), ..WaitPolicy::new(PATIENCE) };
    assert!(matches!(connect(&hosts, introduction, &waiting), Err(ConnectError::Stopped)));
    assert!(matches!(meet(&hosts, 3, 7), Err(ConnectError::NoSuchProcess { process: 3, processes: 3 })));
    let _taken = TcpListener::bind(hosts.addresses[0].to_string()).unwrap();
    assert!(matches!(meet(&hosts, 0, 7), Err(ConnectError::Listen { .. })));
}

/// A process whose connection breaks: here between the two, where it is cut.
#[test]
fn a_process_that_dies_is_noticed() {
    let hosts = loopback(2);
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let detour = Hosts::parse(&format!("{}\n{}", relay.local_addr().unwrap(), hosts.addresses[1])).unwrap();
    let start = Instant::now();
    std::thread::scope(|scope| {
        let (met, is_met) = std::sync::mpsc::channel();
        let first_met = met.clone();
        let hosts = &hosts;
        let first = scope.spawn(move || {
            let links = meet(hosts, 0, 7).unwrap();
            links.exchange(vec![Vec::new(); 2]).unwrap();
            first_met.send(()).unwrap();
            let result = links.exchange(vec![Vec::new(), vec![1, 2, 3]]);
            // Also when nothing can be said any more, dropping ends.
            drop(links);
            result
        });
        let (cut, is_cut) = std::sync::mpsc::channel();
        let second = scope.spawn(move || {
            let links = meet(&detour, 1, 7).unwrap();
            links.exchange(vec![Vec::new(); 2]).unwrap();
            met.send(()).unwrap();
            // It says nothing more, and does not leave in order either.
            is_cut.recv().unwrap();
            drop(links);
        });
        let (caller, _) = relay.accept().unwrap();
        let listener = loop {
            match TcpStream::connect(hosts.addresses[0].to_string()) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        for (mut from, mut to) in [
            (caller.try_clone().unwrap(), listener.try_clone().unwrap()),
            (listener.try_clone().unwrap(), caller.try_clone().unwrap()),
        ] {
            scope.spawn(move || std::io::copy(&mut from, &mut to));
        }
        // Both: what one of them sent may still be on its way when the other one has its answer.
        is_met.recv().unwrap();
        is_met.recv().unwrap();
        for stream in [&caller, &listener] {
            stream.shutdown(std::net::Shutdown::Both).unwrap();
        }
        assert_eq!(first.join().unwrap(), Err(LostProcess { process: 1 }));
        cut.send(()).unwrap();
        second.join().unwrap();
    });
    assert!(start.elapsed() < PATIENCE);
}

/// Whoever has nothing more to say says so; the others must not take it for an answer.
#[test]
fn a_process_that_leaves_early_is_lost_to_the_others() {
    let hosts = loopback(3);
    let results = all(&hosts, |links| {
        if links.number() == 2 {
            return Ok(Vec::new());
        }
        links.exchange(vec![vec![1]; 3])
    });
    // Whoever notices it first leaves, too, and may be missed first by the other.
    assert!(results[0].is_err() && results[1].is_err());
}
