//! The places and values of random programs: expressions without effects.
//!
//! What could be undefined is avoided here: operators compute with unsigned types or with small numbers, shifts and
//! indices are masked, and divisors are positive.

use super::generate::{BOOL, LENGTH, Struct, Writer};
use super::{Int, Piece};

impl Writer<'_> {
    /// An integer in memory, and its type.
    pub(super) fn place(&mut self) -> (Piece, Int) {
        let scope = self.scope.clone();
        match self.random.below(10) {
            0..2 if !scope.arrays.is_empty() => {
                let (array, int) = self.random.pick(&scope.arrays).clone();
                (Piece::of(&format!("{array}[{{}} & {}]", LENGTH - 1), vec![self.index()]), int)
            }
            2..4 if !scope.pointers.is_empty() => {
                let (pointer, int) = self.random.pick(&scope.pointers).clone();
                match self.random.chance(40) {
                    true => (Piece::text(format!("(*{pointer})")), int),
                    false => (Piece::of(&format!("{pointer}[{{}} & 1]"), vec![self.index()]), int),
                }
            }
            4..6 if !self.globals.structs.is_empty() => {
                let of = self.random.below(self.globals.structs.len() as u64) as usize;
                match self.struct_place(of) {
                    Some(place) => self.field(place, of),
                    None => self.variable(),
                }
            }
            _ => self.variable(),
        }
    }

    pub(super) fn variable(&mut self) -> (Piece, Int) {
        let variables = self.scope.variables.clone();
        let (name, int) = self.random.pick(&variables).clone();
        (Piece::text(name), int)
    }

    pub(super) fn field(&mut self, place: Piece, of: usize) -> (Piece, Int) {
        let Struct { fields, pair, inner } = self.globals.structs[of].clone();
        if let Some(of) = inner.filter(|_| self.random.chance(40)) {
            return self.field(joined(place, ".in", Piece::default(), ""), of);
        }
        if let Some(int) = pair.filter(|_| self.random.chance(40)) {
            let index = Piece::of(".pair[{} & 1]", vec![self.index()]);
            return (joined(place, "", index, ""), int);
        }
        let field = self.random.below(fields.len() as u64) as usize;
        (joined(place, &format!(".m{field}"), Piece::default(), ""), fields[field])
    }

    pub(super) fn struct_place(&mut self, of: usize) -> Option<Piece> {
        let whole: Vec<String> =
            self.scope.structs.iter().filter(|(_, other)| *other == of).map(|(name, _)| name.clone()).collect();
        let arrays: Vec<String> =
            self.scope.struct_arrays.iter().filter(|(_, other)| *other == of).map(|(name, _)| name.clone()).collect();
        let around = self.globals.structs.iter().position(|other| other.inner == Some(of));
        if let Some(around) = around.filter(|_| self.random.chance(30)) {
            return Some(joined(self.struct_place(around)?, ".in", Piece::default(), ""));
        }
        if !whole.is_empty() && (arrays.is_empty() || self.random.chance(50)) {
            return Some(Piece::text(self.random.pick(&whole).clone()));
        }
        let array = (!arrays.is_empty()).then(|| self.random.pick(&arrays).clone())?;
        Some(Piece::of(&format!("{array}[{{}} & {}]", LENGTH - 1), vec![self.index()]))
    }

    /// A pointer to two integers of a type.
    pub(super) fn pointer_to(&mut self, int: Int) -> Option<Piece> {
        let arrays: Vec<String> =
            self.scope.arrays.iter().filter(|(_, other)| *other == int).map(|(name, _)| name.clone()).collect();
        let array = (!arrays.is_empty()).then(|| self.random.pick(&arrays).clone())?;
        Some(match self.random.below(4) {
            3 => Piece::of(&format!("({{}} ? {array} : {array} + 2)"), vec![self.condition(0)]),
            0 => Piece::text(array),
            1 => Piece::text(format!("&{array}[{}]", self.random.below(LENGTH - 1))),
            _ => Piece::of(&format!("({array} + ({{}} & 1))"), vec![self.index()]),
        })
    }

    /// A value with the type of a place.
    pub(super) fn cast(&mut self, int: Int) -> Piece {
        if int == BOOL && self.random.chance(70) {
            return self.condition(2);
        }
        Piece::of(&format!("({}){{}}", int.name), vec![self.value(3)])
    }

    pub(super) fn condition(&mut self, depth: u32) -> Piece {
        let (left, right) = (self.value(depth), self.value(depth));
        let pointers = &self.scope.pointers;
        let pairs = pointers.iter().zip(pointers.iter().skip(1)).find(|((_, a), (_, b))| a == b);
        let same = pairs.map(|((a, _), (b, _))| format!("({a} == {b})"));
        match self.random.below(9) {
            8 if same.is_some() => Piece::text(same.unwrap_or_default()),
            0 => Piece::of("((int64_t){} != 0)", vec![left]),
            1 => Piece::of("((int64_t){} < 5 && (int64_t){} > -5)", vec![left, right]),
            2 => Piece::of("((int64_t){} == 1 || (int64_t){} <= 7)", vec![left, right]),
            3 => Piece::of("((uint64_t){} >= (uint64_t){})", vec![left, right]),
            4 => Piece::of("((uint32_t){} <= (uint32_t){})", vec![left, right]),
            5 => Piece::of("(!((int64_t){} < (int64_t){}))", vec![left, right]),
            6 => Piece::of("((int8_t){} > (int8_t){})", vec![left, right]),
            _ => Piece::of("((int32_t){} != (int32_t){})", vec![left, right]),
        }
    }

    /// The part of an index that is masked.
    pub(super) fn index(&mut self) -> Piece {
        let depth = self.depth_of_indices;
        self.depth_of_indices = 0;
        let value = self.value(depth);
        self.depth_of_indices = depth;
        value
    }

    /// An integer of any type, in parentheses if it has several parts. Without effects.
    pub(super) fn value(&mut self, depth: u32) -> Piece {
        if depth == 0 || self.random.chance(25) {
            return self.leaf();
        }
        let bits = *self.random.pick(&[32, 64]);
        let (left, right) = (self.value(depth - 1), self.value(depth - 1));
        match self.random.below(18) {
            16 => {
                let operator = *self.random.pick(&["/", "%"]);
                Piece::of(
                    &format!("((int{bits}_t){{}} {operator} (((int{bits}_t){{}} & 127) - 200))"),
                    vec![left, right],
                )
            }
            17 => Piece::of("(({} ? h0 : h1)((uint32_t){}))", vec![self.condition(0), left]),
            0..5 => {
                let operator = *self.random.pick(&["+", "-", "*", "&", "|", "^"]);
                Piece::of(&format!("((uint{bits}_t){{}} {operator} (uint{bits}_t){{}})"), vec![left, right])
            }
            5 => Piece::of(&format!("((uint{bits}_t){{}} << ({{}} & {}))", bits - 1), vec![left, right]),
            6 => {
                let sign = *self.random.pick(&["u", ""]);
                Piece::of(&format!("(({sign}int{bits}_t){{}} >> ({{}} & {}))", bits - 1), vec![left, right])
            }
            7 => {
                let operator = *self.random.pick(&["/", "%"]);
                Piece::of(&format!("((uint{bits}_t){{}} {operator} ((uint{bits}_t){{}} | 1))"), vec![left, right])
            }
            8 => {
                let operator = *self.random.pick(&["/", "%"]);
                Piece::of(&format!("((int{bits}_t){{}} {operator} (((int{bits}_t){{}} & 127) + 1))"), vec![left, right])
            }
            9 => Piece::of("(({} & 1023) - ({} & 255))", vec![left, right]),
            10 => Piece::of("(((int16_t){}) * ((int8_t){}))", vec![left, right]),
            11 => Piece::of(
                &format!("({{}} ? (int{bits}_t){{}} : (int{bits}_t){{}})"),
                vec![self.condition(depth - 1), left, right],
            ),
            12 => Piece::of(&format!("(~(uint{bits}_t){{}})"), vec![left]),
            13 => Piece::of(&format!("(-(uint{bits}_t){{}})"), vec![left]),
            14 => self.condition(depth - 1),
            _ => Piece::of(&format!("(({}){{}})", self.random.int().name), vec![left]),
        }
    }

    pub(super) fn leaf(&mut self) -> Piece {
        match self.random.below(10) {
            _ if self.depth_of_indices == 0 && self.random.chance(50) => Piece::text(self.random.below(5).to_string()),
            0..2 => Piece::text(self.random.below(20).to_string()),
            2 => {
                let large =
                    ["255", "-1", "65536", "0x7fffffff", "0x80000000u", "0xffffffffffffffffu", "-128", "0x123456789a"];
                Piece::text(format!("({})", self.random.pick(&large)))
            }
            3 if !self.scope.constants.is_empty() => {
                let constants = self.scope.constants.clone();
                Piece::text(self.random.pick(&constants).clone())
            }
            _ => self.place().0,
        }
    }
}

pub(super) fn joined(before: Piece, between: &str, after: Piece, end: &str) -> Piece {
    Piece([before.0, Piece::text(between).0, after.0, Piece::text(end).0].concat())
}
