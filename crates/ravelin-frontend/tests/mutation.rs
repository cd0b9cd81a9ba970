//! Damaged texts, the same ones in every run: to show that no text whatever makes a front end fail.

use ravelin_testing::Random;

/// The texts with one to three mutations each. `parts` are what the language's texts are made of.
pub struct Mutants<'a> {
    seeds: &'a [String],
    parts: &'a [&'a str],
    random: Random,
}

impl<'a> Mutants<'a> {
    pub fn new(seeds: &'a [String], parts: &'a [&'a str], seed: u64) -> Mutants<'a> {
        Mutants { seeds, parts, random: Random::new(seed) }
    }

    fn mutate(&mut self, text: &mut Vec<u8>) {
        let Mutants { seeds, parts, random } = self;
        let at = random.below(text.len() + 1);
        let end = (at + random.below(12)).min(text.len());
        match random.below(10) {
            0 => text.truncate(at),
            1 | 2 => _ = text.splice(at..end, std::iter::empty()),
            3 => {
                let copied = text[at..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, copied);
            }
            4 => {
                if let Some(byte) = text.get_mut(at) {
                    *byte = random.below(256) as u8;
                }
            }
            5 => {
                let other = seeds[random.below(seeds.len())].as_bytes();
                let from = random.below(other.len() + 1);
                text.splice(at.., other[from..].iter().copied());
            }
            6 | 7 => {
                // A whole line goes, or comes twice.
                let lines: Vec<Vec<u8>> = text.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
                if !lines.is_empty() {
                    let chosen = random.below(lines.len());
                    let times = random.below(2) * 2;
                    let repeated =
                        |(number, line): (usize, &Vec<u8>)| line.repeat(if number == chosen { times } else { 1 });
                    *text = lines.iter().enumerate().flat_map(repeated).collect();
                }
            }
            _ => _ = text.splice(at..at, parts[random.below(parts.len())].bytes()),
        }
    }
}

impl Iterator for Mutants<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut text = self.seeds[self.random.below(self.seeds.len())].clone().into_bytes();
        for _ in 0..=self.random.below(3) {
            self.mutate(&mut text);
        }
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}
