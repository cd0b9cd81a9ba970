//! Diagnostics of Trencher files. Each fixture carries the findings expected of it as carets under the offending
//! characters: a line of carets and a message speaks about the line above it, and is taken out before parsing.

use crate::carets;
use ravelin_frontend::trencher;
use ravelin_program::Source;

/// The diagnostics of a fixture must be those that its carets announce, and no others.
fn check(fixture: &str) {
    let mut text = String::new();
    let mut expected = Vec::new();
    for line in fixture.lines() {
        let caret = line.len() - line.trim_start().len();
        if line.trim_start().starts_with('^') {
            let carets = line[caret..].chars().take_while(|&c| c == '^').count();
            let message = line[caret + carets..].trim().to_owned();
            expected.push((text.lines().count(), caret + 1, carets, message));
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    let parsed = trencher::parse(Source::new("test.txt", text));
    carets::assert_same(&parsed.source, &parsed.diagnostics, expected);
}

#[test]
fn the_size_of_memory_is_a_number_of_cells_and_is_given_once() {
    check(
        "
memory_size 4
# A comment.
memory_size 5
^^^^^^^^^^^^^ the size of memory is given twice
memory_size 0
            ^ expected a number of memory cells from 1 to 65536, found `0`
memory_size lots
            ^^^^ expected a number of memory cells from 1 to 65536, found `lots`
thread t
initial a
end
memory_size
          ^ expected the number of memory cells, found the end of the file
",
    );
}

#[test]
fn every_error_of_a_file_is_reported() {
    check(
        "
hello world
^^^^^ expected `thread` or a comment, found `hello`
thread t1
initial a
transition a b wirte 1 0
               ^^^^^ there is no instruction `wirte`
transition b c read r 1 2
                        ^ expected `initial`, `transition` or `end`, found `2`
transition c d check + 99999999999999999999 r
                       ^^^^^^^^^^^^^^^^^^^^ the number `99999999999999999999` does not fit 64 bits
end
thread t1
       ^^ there are two threads named `t1`
initial a
end
thread t2
       ^^ thread `t2` has no initial state (write `initial p` after the name)
transition p q noop
end
thread t3
^^^^^^^^^ thread `t3` has no `end`
initial a
",
    );
}

#[test]
fn a_forgotten_operand_is_found_where_it_is_missing() {
    check(
        "
thread t1
initial
transition a b write 1
^^^^^^^^^^ expected the name of a state, found the keyword `transition`
transition b c read r
^^^^^^^^^^ expected an address, found the keyword `transition`
transition c d read
^^^^^^^^^^ expected an address, found the keyword `transition`
transition d e check == r
^^^^^^^^^^ expected the register to read into, found the keyword `transition`
transition e
^^^^^^^^^^ expected the right operand, found the keyword `transition`
transition f g local r
^^^^^^^^^^ expected the state that the transition leads to, found the keyword `transition`
initial a
^^^^^^^ expected the value of the register, found the keyword `initial`
transition a b check
end
^^^ expected a condition, found the keyword `end`
thread t2
initial a
transition a b write 1
end
^^^ expected an address, found the keyword `end`
",
    );
}

#[test]
fn threads_need_their_end() {
    check(
        "
thread t1
initial a
thread t2
^^^^^^ thread `t1` has no `end`
initial a
transition a b mfence
end
end
^^^ expected `thread` or a comment, found `end`
thread t3
initial a
transition a b read
                  ^ expected the register to read into, found the end of the file
",
    );
}

#[test]
fn comments_are_lone_number_signs_between_threads() {
    check(
        "
# fine
#fine
^^^^^ a comment starts with a `#` that stands alone (put a blank after the `#`)
thread t # why
         ^ a comment cannot stand inside a thread (put it before the `thread`, or after its `end`)
initial a
# transition x y noop
^ a comment cannot stand inside a thread (put it before the `thread`, or after its `end`)
transition a b noop
end # fine
",
    );
}

#[test]
fn what_can_hardly_be_meant_is_a_warning() {
    check(
        "
thread t
initial z
        ^ warning: thread `t` has several initial states, and only the last counts
initial a
transition a b local count 5abc
                           ^^^^ warning: `5abc` is read as the number 5 (write `5`)
transition b c write cuont 0x10
                           ^^^^ warning: `0x10` is read as the number 0 (write `0`)
                     ^^^^^ warning: the register `cuont` is never set in this thread, so it is always 0
transition c d local 2nd + count cuont
transition d e check 2nd
                     ^^^ warning: Trencher reads the number 2 here, not the register `2nd` (give the register a name that does not start with a digit)
transition e f check == -count -1
                        ^^^^^^ warning: the register `-count` is never set in this thread, so it is always 0 (there is no unary minus; write `- 0 count`)
transition f g read 7 3000000000
                      ^^^^^^^^^^ warning: Trencher's numbers have 32 bits, and `3000000000` does not fit
                    ^ warning: the register named `7` can be set but never read
transition G h check |
           ^ warning: no transition leads from the initial state to `G`
                     ^ warning: the register `|` is never set in this thread, so it is always 0
end
",
    );
}

#[test]
fn operators_nest_only_so_deep() {
    for (operator, operand) in [("!", ""), ("+ 1", ""), ("-", " 1")] {
        for (depth, fits) in [(64, true), (65, false), (100_000, false)] {
            let term = format!("{}1{}", format!("{operator} ").repeat(depth), operand.repeat(depth));
            let text = format!("thread t initial a transition a b local r {term} transition b c noop end");
            let parsed = trencher::parse(Source::new("deep.txt", text));
            assert_eq!(parsed.program.is_some(), fits, "{operator} {depth} deep");
            assert_eq!(parsed.diagnostics.len(), usize::from(!fits));
        }
    }
}

/// Blanks are those of C. Others are parts of words, and so is a `#`; a line ends with either of its two characters.
#[test]
fn words_are_split_at_the_blanks_of_c_only() {
    let parse = |text: &str| trencher::parse(Source::new("test.txt", text));
    let parsed = parse("\u{feff}# a comment\r\nthread\tt\u{b}initial\u{c}a#\rtransition a# b\u{a0} noop end\n\n ");
    assert!(parsed.program.is_some() && parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let parsed = parse("thread t initial a transition a b noop\u{a0}end");
    let messages: Vec<&str> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(messages, ["thread `t` has no `end`", "there is no instruction `noop\u{a0}end`"]);
}
