//! Messages of a program that serves runs.

use ravelin_findings::serving::{ForkObstacle, Message};

#[test]
fn a_message_is_read_as_it_is_written() {
    let ended = |others| Message::Ended { code: 1, status: 139, others };
    let others = [Message::Ready(7), ended(true), ended(false), Message::NotBegun];
    for message in ForkObstacle::ALL.map(Message::Obstacle).into_iter().chain(others) {
        assert_eq!(Message::of(message.words()), Some(message));
    }
    for wrong in [[0; 4], [5, 0, 0, 0], [2, 99, 0, 0], [u64::MAX; 4]] {
        assert_eq!(Message::of(wrong), None, "{wrong:?}");
    }
}
