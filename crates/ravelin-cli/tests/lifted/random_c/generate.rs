//! Makes a program from a seed.
//!
//! What could be undefined is avoided where it is written: operators compute with unsigned types or with small numbers,
//! shifts and indices are masked, divisors are positive, and variables have a value from the start. A call is a statement
//! of its own.

use super::values::joined;
use super::{CProgram, Caller, Function, INTS, Int, Piece};

/// Elements of every array.
pub(super) const LENGTH: u64 = 4;
pub(super) const BOOL: Int = INTS[8];

pub fn program(seed: u64) -> CProgram {
    let mut random = Random::new(seed);
    let (definitions, cells, globals) = globals(&mut random);
    let count = 1 + random.below(4) as usize;
    let mut functions = Vec::new();
    // From the last one to the first, so that what can be called is known.
    for index in (0..count).rev() {
        let function = Writer::new(&mut random, &globals, &functions).function(index);
        functions.push(function);
    }
    functions.reverse();
    let functions = functions.into_iter().map(|(function, _)| function).collect();
    CProgram {
        definitions,
        cells,
        functions,
        caller: *random.pick(&[Caller::Main, Caller::Thread, Caller::LaterThread]),
    }
}

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }

    pub(super) fn int(&mut self) -> Int {
        *self.pick(&INTS)
    }
}

/// What has a name where a statement is written.
#[derive(Clone, Default)]
pub(super) struct Scope {
    /// Integers that may be assigned to.
    pub(super) variables: Vec<(String, Int)>,
    /// Counters of loops.
    pub(super) constants: Vec<String>,
    /// Arrays of `LENGTH` integers.
    pub(super) arrays: Vec<(String, Int)>,
    /// Structs, as a place (`s0`, `t1[2]`, `(*q)`), by the number of their type.
    pub(super) structs: Vec<(String, usize)>,
    /// Arrays of `LENGTH` structs.
    pub(super) struct_arrays: Vec<(String, usize)>,
    /// Pointers that may be assigned to, to two integers.
    pub(super) pointers: Vec<(String, Int)>,
    pub(super) struct_pointers: Vec<(String, usize)>,
}

/// The types of structs: fields that are integers, some of them bit-fields, one that is an array of two, and an earlier struct.
#[derive(Clone, Default)]
pub(super) struct Globals {
    pub(super) scope: Scope,
    pub(super) structs: Vec<Struct>,
}

#[derive(Clone)]
pub(super) struct Struct {
    pub(super) fields: Vec<Int>,
    pub(super) pair: Option<Int>,
    pub(super) inner: Option<usize>,
}

impl Globals {
    /// The integers of a struct, as C names them.
    fn paths(&self, of: usize, place: &str) -> Vec<(String, Int)> {
        let Struct { fields, pair, inner } = &self.structs[of];
        let fields = fields.iter().enumerate().map(|(index, int)| (format!("{place}.m{index}"), *int));
        let pair = pair.iter().flat_map(|int| (0..2).map(move |index| (format!("{place}.pair[{index}]"), *int)));
        let inner = inner.map(|of| self.paths(of, &format!("{place}.in"))).unwrap_or_default();
        fields.chain(pair).chain(inner).collect()
    }

    /// Whether every value of the bytes of a struct is one of its fields.
    pub(super) fn has_no_bool(&self, of: usize) -> bool {
        self.paths(of, "").iter().all(|(_, int)| *int != BOOL)
    }
}

fn globals(random: &mut Random) -> (Vec<String>, Vec<(String, Int)>, Globals) {
    let (mut definitions, mut cells, mut globals) = (Vec::new(), Vec::new(), Globals::default());
    for number in 0..random.below(4) {
        let fields: Vec<Int> = (0..1 + random.below(3)).map(|_| random.int()).collect();
        let pair = random.chance(40).then(|| random.int());
        let inner = (number > 0 && random.chance(50)).then(|| random.below(number) as usize);
        let mut text = String::new();
        for (index, int) in fields.iter().enumerate() {
            // Compilers differ in what wider ones are in arithmetic.
            let width = match random.chance(12) && *int != BOOL && int.bits <= 32 {
                true => format!(" : {}", 2 + random.below(u64::from(int.bits) - 2)),
                false => String::new(),
            };
            text.push_str(&format!("  {} m{index}{width};\n", int.name));
        }
        text.extend(pair.map(|int| format!("  {} pair[2];\n", int.name)));
        text.extend(inner.map(|of| format!("  struct s{of} in;\n")));
        definitions.push(format!("struct s{number} {{\n{text}}};"));
        globals.structs.push(Struct { fields, pair, inner });
    }
    let scope = &mut globals.scope;
    for number in 0..2 + random.below(4) {
        let (int, name) = (random.int(), format!("g{number}"));
        definitions.push(format!("static {} {name} = {};", int.name, random.below(100)));
        cells.push((name.clone(), int));
        scope.variables.push((name, int));
    }
    for number in 0..1 + random.below(2) {
        let (int, name) = (random.int(), format!("a{number}"));
        definitions.push(format!("static {} {name}[{LENGTH}] = {{1, {}}};", int.name, random.below(100)));
        cells.extend((0..LENGTH).map(|index| (format!("{name}[{index}]"), int)));
        if random.chance(30) {
            definitions.push(format!("static {} *p{name} = &{name}[{}];", int.name, random.below(LENGTH - 1)));
            scope.pointers.push((format!("p{name}"), int));
        }
        scope.arrays.push((name, int));
    }
    if random.chance(30) {
        let int = random.int();
        definitions.push(format!("static {} m[2][{LENGTH}] = {{{{1}}, {{0, {}}}}};", int.name, random.below(100)));
        for row in 0..2 {
            cells.extend((0..LENGTH).map(|index| (format!("m[{row}][{index}]"), int)));
            scope.arrays.push((format!("m[{row}]"), int));
        }
    }
    // Both are read and written in one size.
    if random.chance(20) {
        definitions.push("static union { int16_t i; uint16_t u; } u;".to_owned());
        cells.push(("u.i".to_owned(), INTS[2]));
        scope.variables.extend([("u.i".to_owned(), INTS[2]), ("u.u".to_owned(), INTS[3])]);
    }
    for number in 0..globals.structs.len() {
        if random.chance(50) {
            let name = format!("t{number}");
            definitions.push(format!("static struct s{number} {name}[{LENGTH}];"));
            cells.extend((0..LENGTH).flat_map(|index| globals.paths(number, &format!("{name}[{index}]"))));
            globals.scope.struct_arrays.push((name, number));
        } else {
            let name = format!("r{number}");
            definitions.push(format!("static struct s{number} {name} = {{{}}};", random.below(2)));
            cells.extend(globals.paths(number, &name));
            globals.scope.structs.push((name, number));
        }
    }
    for (name, value) in [("h0", "x * 3 + 1"), ("h1", "x ^ 0x55")] {
        definitions.push(format!("static uint32_t {name}(uint32_t x) {{ return {value}; }}"));
    }
    (definitions, cells, globals)
}

/// What a parameter is.
#[derive(Clone, Copy)]
enum Parameter {
    Int(Int),
    Pointer(Int),
    Struct(usize),
    /// By value.
    Copy(usize),
}

type Callee = (Function, Vec<Parameter>);

pub(super) struct Writer<'a> {
    pub(super) random: &'a mut Random,
    pub(super) globals: &'a Globals,
    callees: &'a [Callee],
    pub(super) scope: Scope,
    returns: Int,
    /// Statements that may still be written.
    left: u32,
    loops: u32,
    names: u32,
    /// How deep expressions in an index may be: those in an index of an index have no parts.
    pub(super) depth_of_indices: u32,
}

impl<'a> Writer<'a> {
    fn new(random: &'a mut Random, globals: &'a Globals, callees: &'a [Callee]) -> Writer<'a> {
        let returns = random.int();
        let left = 6 + random.below(14) as u32;
        Writer {
            random,
            globals,
            callees,
            scope: globals.scope.clone(),
            returns,
            left,
            loops: 0,
            names: 0,
            depth_of_indices: 1,
        }
    }

    fn function(mut self, index: usize) -> Callee {
        let mut parameters = Vec::new();
        // The first one is called by `main`.
        for number in 0..if index == 0 { 0 } else { 1 + self.random.below(3) } {
            let structs = self.globals.structs.len() as u64;
            let (parameter, text) = match self.random.below(10) {
                0..2 => {
                    let arrays = &self.globals.scope.arrays;
                    let (int, name) = (self.random.pick(arrays).1, format!("x{number}"));
                    self.scope.pointers.push((name.clone(), int));
                    (Parameter::Pointer(int), format!("{} *{name}", int.name))
                }
                2..4 if structs > 0 => {
                    let (of, name) = (self.random.below(structs) as usize, format!("x{number}"));
                    self.scope.structs.push((format!("(*{name})"), of));
                    (Parameter::Struct(of), format!("struct s{of} *{name}"))
                }
                4 if structs > 0 => {
                    let (of, name) = (self.random.below(structs) as usize, format!("x{number}"));
                    self.scope.structs.push((name.clone(), of));
                    (Parameter::Copy(of), format!("struct s{of} {name}"))
                }
                _ => {
                    let (int, name) = (self.random.int(), format!("x{number}"));
                    self.scope.variables.push((name.clone(), int));
                    (Parameter::Int(int), format!("{} {name}", int.name))
                }
            };
            parameters.push((parameter, text));
        }
        let locals = self.locals(index);
        let mut body = self.statements(0);
        // Every function is called.
        body.extend(self.callees.last().and_then(|callee| self.call(callee)));
        let result = self.cast(self.returns);
        let text: Vec<String> = parameters.iter().map(|(_, text)| text.clone()).collect();
        let function = Function {
            name: format!("f{index}"),
            parameters: if text.is_empty() { "void".to_owned() } else { text.join(", ") },
            returns: self.returns,
            locals,
            body,
            result,
        };
        (function, parameters.into_iter().map(|(parameter, _)| parameter).collect())
    }

    fn locals(&mut self, index: usize) -> Vec<String> {
        let mut locals = Vec::new();
        for number in 0..1 + self.random.below(3) {
            let (int, name) = (self.random.int(), format!("v{number}"));
            let kept = if self.random.chance(8) { "static " } else { "" };
            locals.push(format!("{kept}{} {name} = {};", int.name, self.random.below(9)));
            self.scope.variables.push((name, int));
        }
        if self.random.chance(40) {
            let int = self.random.int();
            locals.push(format!("{} l{index}[{LENGTH}] = {{{}, 2, 3}};", int.name, self.random.below(100)));
            self.scope.arrays.push((format!("l{index}"), int));
        }
        for of in 0..self.globals.structs.len() {
            if self.random.chance(30) {
                locals.push(format!("struct s{of} w{of} = {{1}};"));
                self.scope.structs.push((format!("w{of}"), of));
            }
            let place = self.struct_place(of).filter(|_| self.random.chance(40));
            if let Some(place) = place {
                locals.push(format!("struct s{of} *q{of} = &{};", constant(&place)));
                self.scope.structs.push((format!("(*q{of})"), of));
                self.scope.struct_pointers.push((format!("q{of}"), of));
            }
        }
        let arrays = self.scope.arrays.clone();
        if self.random.chance(60) {
            let (array, int) = self.random.pick(&arrays).clone();
            locals.push(format!("{} *p = {array} + {};", int.name, self.random.below(LENGTH - 1)));
            self.scope.pointers.push(("p".to_owned(), int));
            if self.random.chance(40) {
                locals.push(format!("{} **pp = &p;", int.name));
                self.scope.pointers.push(("(*pp)".to_owned(), int));
            }
        }
        locals
    }

    fn statements(&mut self, depth: u32) -> Vec<Piece> {
        let count = 1 + self.random.below(if depth == 0 { 8 } else { 3 }) + if depth == 0 { 2 } else { 0 };
        let mut all = Vec::new();
        for _ in 0..count {
            if self.left > 0 {
                self.left -= 1;
                let statement = self.statement(depth);
                let jumps = statement.as_ref().is_some_and(Piece::jumps);
                all.extend(statement);
                if jumps {
                    break;
                }
            }
        }
        all
    }

    fn statement(&mut self, depth: u32) -> Option<Piece> {
        let nested = depth < 3;
        Some(match self.random.below(100) {
            0..36 => self.assignment(),
            36..48 => self.update(),
            48..58 if nested => {
                let condition = self.condition(1);
                let then = self.statements(depth + 1);
                let piece = Piece::of("if ({}) {", vec![condition]);
                match self.random.chance(50) {
                    true => piece.body(then, "} else {").body(self.statements(depth + 1), "}"),
                    false => piece.body(then, "}"),
                }
            }
            58..70 if nested && self.loops < 2 => self.looping(depth),
            70..76 if nested => self.switch(depth),
            76..86 if self.loops < 2 && !self.callees.is_empty() => {
                let callee = self.random.pick(self.callees);
                self.call(callee)?
            }
            86..89 if depth > 0 => Piece::of("return {};", vec![self.cast(self.returns)]),
            89..92 if self.loops > 0 && depth > 1 => Piece::text(*self.random.pick(&["break;", "continue;"])),
            92..95 => self.pointing()?,
            95..97 => self.copy()?,
            97 => self.bytes()?,
            98 if nested => self.jump(depth),
            _ => self.trick(),
        })
    }

    /// A `goto`, out of a block or back to its start.
    fn jump(&mut self, depth: u32) -> Piece {
        let (label, condition) = (self.name("l"), self.condition(1));
        match self.random.chance(50) {
            true => {
                let head = joined(
                    Piece::text("if ("),
                    "",
                    Piece(vec![super::Part::Value(condition)]),
                    &format!(") goto {label}; {{"),
                );
                head.body(self.statements(depth + 1), &format!("}} {label}:;"))
            }
            false if self.loops < 2 => {
                self.loops += 1;
                let body = self.statements(depth + 1);
                self.loops -= 1;
                // What is left with `break` or `continue` belongs to a loop around.
                let head = Piece::text(format!("{{ uint8_t {label}n = 3; {label}:; do {{")).body(body, "} while (0); ");
                joined(
                    head,
                    &format!("if (--{label}n > 0 && "),
                    Piece(vec![super::Part::Value(condition)]),
                    &format!(") goto {label}; }}"),
                )
            }
            false => Piece::text(";"),
        }
    }

    /// Bytes are set or copied by functions of the C library.
    fn bytes(&mut self) -> Option<Piece> {
        let structs = self.globals.structs.len() as u64;
        if structs > 0 && self.random.chance(50) {
            let of = self.random.below(structs) as usize;
            let (to, from) = (self.struct_place(of)?, self.struct_place(of)?);
            let set = if self.globals.has_no_bool(of) { self.random.below(256) } else { self.random.below(2) };
            return Some(match self.random.chance(50) {
                true => joined(Piece::text("memset(&"), "", to, &format!(", {set}, sizeof(struct s{of}));")),
                false => joined(
                    joined(Piece::text("memmove(&"), "", to, ", &"),
                    "",
                    from,
                    &format!(", sizeof(struct s{of}));"),
                ),
            });
        }
        let arrays = self.scope.arrays.clone();
        let (array, int) = self.random.pick(&arrays).clone();
        let (first, count) = (self.random.below(2), 1 + self.random.below(LENGTH - 2));
        if self.random.chance(50) {
            let set = if int == BOOL { self.random.below(2) } else { self.random.below(256) };
            // Sometimes a part of an integer, which is refused.
            let size = if self.random.chance(5) { "".to_owned() } else { format!(" * sizeof({})", int.name) };
            return Some(Piece::text(format!("memset({array} + {first}, {set}, {count}{size});")));
        }
        let from = self.pointer_to(int)?;
        Some(joined(
            Piece::text(format!("memmove({array} + {first}, ")),
            "",
            from,
            &format!(", sizeof({}) * 2);", int.name),
        ))
    }

    fn looping(&mut self, depth: u32) -> Piece {
        let counter = self.name("i");
        let (count, kind) = (1 + self.random.below(5), self.random.below(5));
        let condition = self.condition(1);
        let before = self.scope.constants.len();
        self.scope.constants.push(counter.clone());
        self.loops += 1;
        let body = self.statements(depth + 1);
        self.loops -= 1;
        self.scope.constants.truncate(before);
        match kind {
            0 => Piece::of(
                &format!("for (uint8_t {counter} = {count}; {counter} > 0 && {{}}; {counter}--) {{"),
                vec![condition],
            )
            .body(body, "}"),
            1 => Piece::text(format!("{{ int64_t {counter} = {count}; while ({counter}-- > 0) {{")).body(body, "} }"),
            2 => Piece::text(format!("{{ uint32_t {counter} = {count}; do {{"))
                .body(body, &format!("}} while (--{counter} != 0); }}")),
            3 => Piece::text(format!("for (int16_t {counter} = {count};;) {{ if ({counter}-- == 0) break; "))
                .body(body, "}"),
            _ => Piece::text(format!("for (int {counter} = 0; {counter} < {count}; {counter}++) {{")).body(body, "}"),
        }
    }

    fn switch(&mut self, depth: u32) -> Piece {
        let cases = 2 + self.random.below(4);
        let value = self.value(2);
        let large = self.random.chance(30);
        let mut piece = match large {
            true => Piece::of(
                &format!("switch (({}){{}}) {{", self.random.pick(&["int8_t", "int32_t", "int64_t"])),
                vec![value],
            ),
            false => Piece::of(&format!("switch ((uint64_t){{}} % {cases}u) {{"), vec![value]),
        };
        for number in 0..cases {
            let case = if large { [-1, 0, 5, 127, -128, 20][number as usize] } else { number as i64 };
            let head = if number + 1 == cases && self.random.chance(70) {
                "default:".to_owned()
            } else {
                format!("case {case}:")
            };
            let body = self.statements(depth + 1);
            let end = *self.random.pick(&["break; ", "break; ", ""]);
            piece = Piece([piece.0, Piece::text(format!(" {head}")).0].concat()).body(body, end);
        }
        Piece([piece.0, Piece::text("; }").0].concat())
    }

    fn assignment(&mut self) -> Piece {
        let (place, int) = self.place();
        let value = self.cast(int);
        joined(place, " = ", value, ";")
    }

    /// `+=` and the like, on types in which nothing overflows.
    fn update(&mut self) -> Piece {
        let (place, int) = self.place();
        if int == BOOL {
            let value = self.condition(1);
            let operator = *self.random.pick(&[" |= ", " &= ", " ^= "]);
            return joined(place, operator, value, ";");
        }
        let narrow = int.bits < 32;
        if (narrow || int.name.starts_with('u')) && self.random.chance(40) {
            let after = *self.random.pick(&["++;", "--;"]);
            return Piece([place.0, Piece::text(after).0].concat());
        }
        let value = self.value(2);
        let (operator, value) = match self.random.below(6) {
            0 if narrow || int.name.starts_with('u') => (" += ", Piece::of("(uint8_t){}", vec![value])),
            1 if narrow || int.name.starts_with('u') => (" -= ", Piece::of("(uint8_t){}", vec![value])),
            2 => (" >>= ", Piece::of(&format!("({{}} & {})", int.bits - 1), vec![value])),
            3 => (" %= ", Piece::of("(({} & 63) + 1)", vec![value])),
            4 => (" /= ", Piece::of("(({} & 7) + 1)", vec![value])),
            _ => (*self.random.pick(&[" &= ", " |= ", " ^= "]), Piece::of(&format!("({}){{}}", int.name), vec![value])),
        };
        joined(place, operator, value, ";")
    }

    /// A call, with its value in a variable.
    fn call(&mut self, (function, parameters): &Callee) -> Option<Piece> {
        let mut arguments = Vec::new();
        for parameter in parameters {
            arguments.push(match *parameter {
                Parameter::Int(int) => self.cast(int),
                Parameter::Pointer(int) => self.pointer_to(int)?,
                Parameter::Struct(of) => joined(Piece::text("&"), "", self.struct_place(of)?, ""),
                Parameter::Copy(of) => self.struct_place(of)?,
            });
        }
        let variables = self.scope.variables.clone();
        let (variable, int) = self.random.pick(&variables).clone();
        let through_pointer = self.random.chance(20);
        let mut piece = match through_pointer {
            true => {
                let (returns, parameters) = (function.returns.name, &function.parameters);
                let call =
                    format!("{{ {returns} (*fp)({parameters}) = {}; {variable} = ({})fp(", function.name, int.name);
                Piece::text(call).0
            }
            false => Piece::text(format!("{variable} = ({}){}(", int.name, function.name)).0,
        };
        for (number, argument) in arguments.into_iter().enumerate() {
            piece.extend(Piece::text(if number == 0 { "" } else { ", " }).0);
            piece.extend(argument.0);
        }
        piece.extend(Piece::text(if through_pointer { "); }" } else { ");" }).0);
        Some(Piece(piece))
    }

    /// A pointer gets another target.
    fn pointing(&mut self) -> Option<Piece> {
        if self.random.chance(50) && !self.scope.struct_pointers.is_empty() {
            let pointers = self.scope.struct_pointers.clone();
            let (pointer, of) = self.random.pick(&pointers).clone();
            return Some(joined(Piece::text(format!("{pointer} = &")), "", self.struct_place(of)?, ";"));
        }
        let pointers = self.scope.pointers.clone();
        // Global pointers would keep the addresses of local variables.
        let own: Vec<_> = pointers.into_iter().filter(|(name, _)| !name.starts_with("pa")).collect();
        let (pointer, int) = (!own.is_empty()).then(|| self.random.pick(&own).clone())?;
        Some(joined(Piece::text(format!("{pointer} = ")), "", self.pointer_to(int)?, ";"))
    }

    /// A struct is copied as a whole.
    fn copy(&mut self) -> Option<Piece> {
        let structs = self.globals.structs.len() as u64;
        let of = (structs > 0).then(|| self.random.below(structs) as usize)?;
        let (to, from) = (self.struct_place(of)?, self.struct_place(of)?);
        if self.random.chance(25) {
            let first = self.globals.structs[of].fields[0];
            let value = Piece(vec![super::Part::Value(self.cast(first))]);
            return Some(joined(to, &format!(" = (struct s{of}){{.m0 = "), value, "};"));
        }
        // The source may be the target, which an assignment allows.
        Some(joined(to, " = ", from, ";"))
    }

    /// Idioms of bit manipulation.
    fn trick(&mut self) -> Piece {
        let (place, int) = self.place();
        let bits = *self.random.pick(&[32, 64]);
        let value = self.value(2);
        let template = match self.random.below(6) {
            0 => format!("((uint{bits}_t){{}} & -(uint{bits}_t){{}})"),
            1 => format!("((uint{bits}_t){{}} & ((uint{bits}_t){{}} - 1))"),
            2 => "(((uint32_t){} << 7) | ((uint32_t){} >> 25))".to_owned(),
            3 => format!("(~(uint{bits}_t){{}} ^ ((uint{bits}_t){{}} >> 1))"),
            4 => "((((uint32_t){} & 0x55555555u) << 1) | (((uint32_t){} >> 1) & 0x55555555u))".to_owned(),
            _ => format!("((uint{bits}_t){{}} * 0x9e3779b9u + (uint{bits}_t){{}})"),
        };
        let value = Piece::of(&template, vec![value.clone(), value]);
        joined(place, &format!(" = ({})", int.name), value, ";")
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }
}

/// A place without what may change: the first element of an array.
fn constant(place: &Piece) -> String {
    let mut text = String::new();
    let whole = Piece(
        place
            .0
            .iter()
            .map(|part| match part {
                super::Part::Value(_) => super::Part::Text("1".to_owned()),
                other => other.clone(),
            })
            .collect(),
    );
    whole.write(0, &mut text);
    text
}
