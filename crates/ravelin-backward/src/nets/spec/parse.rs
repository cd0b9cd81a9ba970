//! Reading `.spec`.

use crate::nets::{InitialTokens, Marking, Net, PlaceId};
use std::collections::{BTreeMap, HashMap};
use thiserror::Error;

/// The most tokens that a text may speak of at once.
const MOST_TOKENS: u64 = 1 << 30;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SpecError {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

/// Reads a net.
pub fn parse(text: &str) -> Result<Net, SpecError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, net: Net::default(), numbers: HashMap::new() };
    parser.file()?;
    Ok(parser.net)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word<'a> {
    Name(&'a str),
    Number(u32),
    Sign(&'static str),
    End,
}

struct Token<'a> {
    word: Word<'a>,
    line: usize,
    column: usize,
}

const SIGNS: [&str; 8] = [">=", "->", "=", "+", "-", "'", ",", ";"];
const SECTIONS: [&str; 5] = ["vars", "rules", "init", "target", "invariants"];

fn tokens(text: &str) -> Result<Vec<Token<'_>>, SpecError> {
    let mut tokens = Vec::new();
    let mut last_line = 1;
    for (number, line) in text.lines().enumerate() {
        last_line = number + 1;
        let code = line.split('#').next().unwrap_or_default();
        let mut rest = code.trim_start();
        // Counted on from the token before: a line may be the whole net.
        let (mut counted, mut column) = (0, 1);
        while let Some(first) = rest.chars().next() {
            let begins = code.len() - rest.len();
            column += code[counted..begins].chars().count();
            counted = begins;
            let place = |message: String| SpecError { line: number + 1, column, message };
            let length_of =
                |part: &str, in_word: fn(char) -> bool| part.find(|char| !in_word(char)).unwrap_or(part.len());
            let (word, length) = if first.is_ascii_digit() {
                let length = length_of(rest, |char| char.is_ascii_digit());
                let value = rest[..length].parse::<u64>().ok().filter(|value| *value <= MOST_TOKENS);
                let value =
                    value.ok_or_else(|| place(format!("`{}` is larger than {MOST_TOKENS}", &rest[..length])))?;
                (Word::Number(value as u32), length)
            } else if is_name(first) {
                let length = length_of(rest, is_name);
                (Word::Name(&rest[..length]), length)
            } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
                (Word::Sign(sign), sign.len())
            } else {
                return Err(place(format!("`{first}` means nothing here")));
            };
            tokens.push(Token { word, line: number + 1, column });
            rest = rest[length..].trim_start();
        }
    }
    tokens.push(Token { word: Word::End, line: last_line, column: 1 });
    Ok(tokens)
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '.' | '[' | ']' | '@' | ':' | '~' | '!')
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    net: Net,
    numbers: HashMap<&'a str, PlaceId>,
}

impl<'a> Parser<'a> {
    fn file(&mut self) -> Result<(), SpecError> {
        self.section("vars")?;
        while let Word::Name(name) = self.word() {
            if SECTIONS.contains(&name) {
                break;
            }
            if self.numbers.insert(name, self.net.places.len() as PlaceId).is_some() {
                return Err(self.problem(format!("`{name}` is declared twice")));
            }
            self.net.place(name, InitialTokens::default());
            self.at += 1;
        }
        self.section("rules")?;
        while !self.is_section() {
            self.rule()?;
        }
        self.section("init")?;
        self.init()?;
        self.section("target")?;
        loop {
            let target = self.target()?;
            self.net.targets.push(target);
            if self.is_section() {
                break;
            }
        }
        if self.word() == Word::Name("invariants") {
            return Ok(());
        }
        match self.word() {
            Word::End => Ok(()),
            _ => Err(self.problem("after the targets comes nothing but `invariants`".to_owned())),
        }
    }

    fn rule(&mut self) -> Result<(), SpecError> {
        let mut takes: BTreeMap<PlaceId, u32> = BTreeMap::new();
        if !self.eat("->") {
            loop {
                let place = self.place()?;
                let least = self.least("a guard", place)?;
                let known = takes.entry(place).or_default();
                *known = least.max(*known);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("->", "after the guard of a rule")?;
        }
        let mut changes: BTreeMap<PlaceId, i64> = BTreeMap::new();
        while !self.eat(";") {
            let (place, by) = self.change()?;
            if changes.insert(place, by).is_some() {
                return Err(
                    self.problem(format!("`{}` is changed twice in this rule", self.net.places[place as usize]))
                );
            }
            if !self.eat(",") {
                self.expect(";", "after a rule")?;
                break;
            }
        }
        let mut gives = takes.clone();
        for (place, by) in changes {
            let amount = by.unsigned_abs() as u32;
            let taken = takes.entry(place).or_default();
            if by < 0 {
                *taken = amount.max(*taken);
            }
            // Both are at most `MOST_TOKENS`, so the sum fits.
            gives.insert(place, if by < 0 { *taken - amount } else { *taken + amount });
        }
        self.net.transition(takes, gives);
        Ok(())
    }

    /// `a' = a + 1`.
    fn change(&mut self) -> Result<(PlaceId, i64), SpecError> {
        let place = self.place()?;
        let name = self.net.places[place as usize].clone();
        self.expect("'", "after the place that a rule changes")?;
        self.expect("=", "after the place that a rule changes")?;
        match self.word() {
            Word::Name(of) if of == name => self.at += 1,
            Word::Name(_) => {
                return Err(self.problem(format!(
                    "this transfers tokens to `{name}`, which a Petri net cannot do; write `{name}' = {name} + 1`"
                )));
            }
            Word::Number(_) => {
                return Err(self.problem(format!(
                    "this resets `{name}`, which a Petri net cannot do; write `{name}' = {name} - 1`"
                )));
            }
            _ => return Err(self.problem(format!("`{name}` was expected here, as in `{name}' = {name} + 1`"))),
        }
        let sign = match self.word() {
            Word::Sign("+") => 1,
            Word::Sign("-") => -1,
            _ => return Ok((place, 0)),
        };
        self.at += 1;
        match self.word() {
            Word::Number(by) => {
                self.at += 1;
                Ok((place, sign * i64::from(by)))
            }
            Word::Name(_) => Err(self.problem(
                "this transfers tokens from one place to another, which a Petri net cannot do; a number was expected"
                    .to_owned(),
            )),
            _ => Err(self.problem("a number was expected here".to_owned())),
        }
    }

    fn init(&mut self) -> Result<(), SpecError> {
        let mut seen = vec![false; self.net.places.len()];
        loop {
            let place = self.place()?;
            if std::mem::replace(&mut seen[place as usize], true) {
                return Err(self.problem(format!("`{}` has its initial tokens twice", self.net.places[place as usize])));
            }
            let from_on = match self.word() {
                Word::Sign("=") => false,
                Word::Sign(">=") => true,
                _ => return Err(self.problem("`=` or `>=` was expected here".to_owned())),
            };
            self.at += 1;
            let tokens = self.number()?;
            self.net.initial[place as usize] =
                if from_on { InitialTokens::AtLeast(tokens) } else { InitialTokens::Exactly(tokens) };
            if !self.eat(",") {
                return Ok(());
            }
        }
    }

    fn target(&mut self) -> Result<Marking, SpecError> {
        let mut tokens: BTreeMap<PlaceId, u32> = BTreeMap::new();
        loop {
            let place = self.place()?;
            let least = self.least("a target", place)?;
            let known = tokens.entry(place).or_default();
            *known = least.max(*known);
            if !self.eat(",") {
                return Ok(Marking::new(tokens));
            }
        }
    }

    /// `>= 2` after a place.
    fn least(&mut self, whose: &str, place: PlaceId) -> Result<u32, SpecError> {
        match self.word() {
            Word::Sign(">=") => {
                self.at += 1;
                self.number()
            }
            Word::Sign("=") => {
                let name = &self.net.places[place as usize];
                let message =
                    format!("{whose} of a Petri net cannot ask for an exact number of tokens; write `{name} >= …`");
                Err(self.problem(message))
            }
            _ => Err(self.problem(format!("`>=` and a number were expected in {whose}"))),
        }
    }

    fn number(&mut self) -> Result<u32, SpecError> {
        match self.word() {
            Word::Number(number) => {
                self.at += 1;
                Ok(number)
            }
            _ => Err(self.problem("a number was expected here".to_owned())),
        }
    }

    fn place(&mut self) -> Result<PlaceId, SpecError> {
        match self.word() {
            Word::Name(name) if !SECTIONS.contains(&name) => match self.numbers.get(name) {
                Some(place) => {
                    self.at += 1;
                    Ok(*place)
                }
                None => Err(self.problem(format!("`{name}` is not declared in `vars`"))),
            },
            _ => Err(self.problem("the name of a place was expected here".to_owned())),
        }
    }

    fn section(&mut self, name: &'static str) -> Result<(), SpecError> {
        if self.word() == Word::Name(name) {
            self.at += 1;
            return Ok(());
        }
        Err(self.problem(format!(
            "`{name}` was expected here: a net has `vars`, `rules`, `init` and `target`, in this order"
        )))
    }

    fn is_section(&self) -> bool {
        matches!(self.word(), Word::Name(name) if SECTIONS.contains(&name)) || self.word() == Word::End
    }

    fn eat(&mut self, sign: &'static str) -> bool {
        let eaten = self.word() == Word::Sign(sign);
        self.at += usize::from(eaten);
        eaten
    }

    fn expect(&mut self, sign: &'static str, place: &str) -> Result<(), SpecError> {
        if self.eat(sign) { Ok(()) } else { Err(self.problem(format!("`{sign}` was expected {place}"))) }
    }

    fn word(&self) -> Word<'a> {
        self.tokens[self.at].word
    }

    fn problem(&self, message: String) -> SpecError {
        let Token { line, column, .. } = self.tokens[self.at];
        SpecError { line, column, message }
    }
}
