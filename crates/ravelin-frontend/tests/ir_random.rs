//! Random functions as clang writes them for C: variables in memory, structured control, some type punning.

use ravelin_testing::Random;
use std::fmt::Write;

/// The array, and the variable whose address is stored. Others become values.
pub const IN_MEMORY: usize = 2;

pub struct Writer {
    random: Random,
    text: String,
    next: usize,
    /// Variables of inner blocks and counters of loops: they are allocated at the start.
    inner: usize,
    budget: usize,
    /// Where `break` and `continue` go.
    loops: Vec<(usize, usize)>,
    typed: bool,
}

/// A module with one function `@f` of two parameters.
pub fn module(seed: u64, typed: bool) -> String {
    let random = Random::new(seed);
    let mut writer = Writer { random, text: String::new(), next: 0, inner: 0, budget: 30, loops: Vec::new(), typed };
    for number in 0..4 {
        let value = if number < 2 { format!("%p{number}") } else { number.to_string() };
        writer.store("i32", &value, &format!("%v{number}"));
    }
    writer.store("i64", "7", "%w0");
    writer.store("i64", "-1", "%w1");
    writer.store_pointer("0", "%q");
    writer.store("i32", "5", "%e");
    for index in 0..4 {
        let element = writer.element("%a", &index.to_string());
        writer.store("i32", &index.to_string(), &element);
    }
    writer.escape();
    writer.statements(3);
    let mut sum = writer.load("i64", "%w0");
    for number in 0..4 {
        let value = writer.load("i32", &format!("%v{number}"));
        let wide = writer.line(&format!("sext i32 {value} to i64"));
        sum = writer.line(&format!("xor i64 {sum}, {wide}"));
    }
    let read = writer.read_cell();
    let wide = writer.line(&format!("zext i32 {read} to i64"));
    sum = writer.line(&format!("add i64 {sum}, {wide}"));
    _ = writeln!(writer.text, "  ret i64 {sum}");
    let pointer = if typed { "i32*" } else { "ptr" };
    let mut text = String::from("@cells = global [4 x i32] zeroinitializer\n");
    _ = writeln!(text, "@escaped = global {pointer} null");
    let byte = if typed { "i8*" } else { "ptr" };
    _ = writeln!(text, "declare void @llvm.lifetime.start.p0(i64, {byte})");
    _ = writeln!(text, "declare void @llvm.lifetime.end.p0(i64, {byte})");
    _ = writeln!(text, "define i64 @f(i32 %p0, i32 %p1) {{\nentry:");
    for number in 0..4 {
        _ = writeln!(text, "  %v{number} = alloca i32, align 4");
    }
    _ = writeln!(text, "  %w0 = alloca i64\n  %w1 = alloca i64\n  %q = alloca {pointer}\n  %e = alloca i32");
    _ = writeln!(text, "  %a = alloca [4 x i32]");
    for number in 0..writer.inner {
        _ = writeln!(text, "  %n{number} = alloca i32");
    }
    _ = writeln!(text, "  br label %start\nstart:");
    text + &writer.text + "}\n"
}

impl Writer {
    fn line(&mut self, operation: &str) -> String {
        self.next += 1;
        _ = writeln!(self.text, "  %t{} = {operation}", self.next);
        format!("%t{}", self.next)
    }

    fn label(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn begin(&mut self, label: usize) {
        _ = writeln!(self.text, "b{label}:");
    }

    fn jump(&mut self, label: usize) {
        _ = writeln!(self.text, "  br label %b{label}");
    }

    fn branch(&mut self, condition: &str, yes: usize, no: usize) {
        _ = writeln!(self.text, "  br i1 {condition}, label %b{yes}, label %b{no}");
    }

    fn pointer(&self, ty: &str) -> String {
        if self.typed { format!("{ty}*") } else { "ptr".to_owned() }
    }

    fn load(&mut self, ty: &str, address: &str) -> String {
        let pointer = self.pointer(ty);
        self.line(&format!("load {ty}, {pointer} {address}"))
    }

    fn store(&mut self, ty: &str, value: &str, address: &str) {
        let pointer = self.pointer(ty);
        _ = writeln!(self.text, "  store {ty} {value}, {pointer} {address}, align 4");
    }

    fn element(&mut self, array: &str, index: &str) -> String {
        let pointer = self.pointer("[4 x i32]");
        self.line(&format!("getelementptr inbounds [4 x i32], {pointer} {array}, i64 0, i32 {index}"))
    }

    /// A variable points to a cell.
    fn store_pointer(&mut self, index: &str, variable: &str) {
        let cell = self.element("@cells", index);
        let pointer = self.pointer("i32");
        self.store(&pointer, &cell, variable);
    }

    fn escape(&mut self) {
        let pointer = self.pointer("i32");
        self.store(&pointer, "%e", "@escaped");
    }

    fn read_cell(&mut self) -> String {
        let pointer = self.pointer("i32");
        let cell = self.load(&pointer, "%q");
        self.load("i32", &cell)
    }

    /// A variable of four bytes, perhaps through a cast of its address.
    fn variable(&mut self) -> String {
        let chosen = self.random.below(5 + self.inner.min(1));
        let name = if chosen == 4 { "%e".to_owned() } else { format!("%v{}", chosen % 4) };
        match self.random.below(6) {
            0 => {
                let pointer = self.pointer("i32");
                self.line(&format!("bitcast {pointer} {name} to {pointer}"))
            }
            1 => {
                let pointer = self.pointer("i32");
                self.line(&format!("getelementptr i32, {pointer} {name}, i64 0"))
            }
            _ => name,
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        match self.random.below(if depth == 0 { 3 } else { 9 }) {
            0 => (self.random.below(40) as i64 - 20).to_string(),
            1 | 2 => {
                let variable = self.variable();
                self.load("i32", &variable)
            }
            3 => {
                let (left, right) = (self.expression(depth - 1), self.expression(depth - 1));
                let condition = self.line(&format!("icmp slt i32 {left}, {right}"));
                self.line(&format!("select i1 {condition}, i32 {right}, i32 {left}"))
            }
            4 => {
                let index = self.expression(depth - 1);
                let index = self.line(&format!("and i32 {index}, 3"));
                let element = self.element("%a", &index);
                self.load("i32", &element)
            }
            5 => {
                let wide = self.load("i64", "%w0");
                self.line(&format!("trunc i64 {wide} to i32"))
            }
            6 => self.read_cell(),
            _ => {
                let (left, right) = (self.expression(depth - 1), self.expression(depth - 1));
                let op = ["add", "sub", "mul", "and", "or", "xor"][self.random.below(6)];
                self.line(&format!("{op} i32 {left}, {right}"))
            }
        }
    }

    fn condition(&mut self) -> String {
        let (left, right) = (self.expression(1), self.expression(1));
        let predicate = ["eq", "ne", "slt", "uge", "sgt", "ule"][self.random.below(6)];
        self.line(&format!("icmp {predicate} i32 {left}, {right}"))
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(4) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(if depth == 0 { 5 } else { 10 }) {
            0 | 1 => {
                let value = self.expression(2);
                let variable = self.variable();
                self.store("i32", &value, &variable);
            }
            2 => {
                // A pointer as an integer, as atomic accesses of clang 14 have it.
                let index = self.expression(1);
                let index = self.line(&format!("and i32 {index}, 3"));
                if self.random.below(2) == 0 {
                    self.store_pointer(&index, "%q");
                }
                let address = if self.typed { self.line("bitcast i32** %q to i64*") } else { "%q".to_owned() };
                let number = self.load("i64", &address);
                self.store("i64", &number, &address);
                let value = self.expression(1);
                let pointer = self.pointer("i32");
                let cell = self.load(&pointer, "%q");
                self.store("i32", &value, &cell);
            }
            3 => {
                let value = self.expression(2);
                let wide = self.line(&format!("sext i32 {value} to i64"));
                let other = self.load("i64", "%w1");
                let product = self.line(&format!("mul i64 {wide}, {other}"));
                self.store("i64", &product, "%w0");
                self.store("i64", &wide, "%w1");
            }
            4 => {
                let index = self.expression(1);
                let index = self.line(&format!("and i32 {index}, 3"));
                let element = self.element("%a", &index);
                let value = self.expression(1);
                self.store("i32", &value, &element);
            }
            5 | 6 => self.choice(depth),
            7 => self.repetition(depth),
            8 => self.inner_variable(depth),
            _ => self.leave(),
        }
    }

    fn choice(&mut self, depth: usize) {
        let end = self.label();
        if self.random.below(3) == 0 {
            let value = self.expression(1);
            let labels: Vec<usize> = (0..3).map(|_| self.label()).collect();
            let [one, two, other] = labels[..] else { return };
            _ = writeln!(
                self.text,
                "  switch i32 {value}, label %b{other} [\n    i32 1, label %b{one}\n    i32 -2, label %b{two}\n    i32 3, label %b{one}\n  ]"
            );
            for label in labels {
                self.begin(label);
                self.statements(depth - 1);
                self.jump(end);
            }
        } else {
            let condition = self.condition();
            let (yes, no) = (self.label(), self.label());
            self.branch(&condition, yes, no);
            self.begin(yes);
            self.statements(depth - 1);
            self.jump(end);
            self.begin(no);
            if self.random.below(2) == 0 {
                self.statements(depth - 1);
            }
            self.jump(end);
        }
        self.begin(end);
    }

    /// A loop that ends, because its counter is a variable of its own.
    fn repetition(&mut self, depth: usize) {
        let counter = format!("%n{}", self.inner);
        self.inner += 1;
        self.store("i32", "3", &counter);
        let (head, body, end) = (self.label(), self.label(), self.label());
        self.jump(head);
        self.begin(head);
        let left = self.load("i32", &counter);
        let fewer = self.line(&format!("sub i32 {left}, 1"));
        self.store("i32", &fewer, &counter);
        let goes_on = self.line(&format!("icmp sgt i32 {left}, 0"));
        self.branch(&goes_on, body, end);
        self.begin(body);
        self.loops.push((head, end));
        self.statements(depth - 1);
        self.loops.pop();
        self.jump(head);
        self.begin(end);
    }

    /// A variable with a lifetime of its own.
    fn inner_variable(&mut self, depth: usize) {
        let variable = format!("%n{}", self.inner);
        self.inner += 1;
        let address = if self.typed { self.line(&format!("bitcast i32* {variable} to i8*")) } else { variable.clone() };
        let byte = self.pointer("i8");
        _ = writeln!(self.text, "  call void @llvm.lifetime.start.p0(i64 4, {byte} {address})");
        let value = self.expression(1);
        self.store("i32", &value, &variable);
        self.statements(depth - 1);
        let value = self.load("i32", &variable);
        let more = self.line(&format!("add i32 {value}, 1"));
        self.store("i32", &more, &variable);
        let to = self.variable();
        let value = self.load("i32", &variable);
        self.store("i32", &value, &to);
        _ = writeln!(self.text, "  call void @llvm.lifetime.end.p0(i64 4, {byte} {address})");
    }

    /// `break`, `continue` or `return`; what follows is not reached, or only if a condition says so.
    fn leave(&mut self) {
        let after = self.label();
        if self.random.below(3) > 0 {
            let condition = self.condition();
            let go = self.label();
            self.branch(&condition, go, after);
            self.begin(go);
        }
        match self.loops.last() {
            Some(&(head, end)) => {
                let to = if self.random.below(2) == 0 { head } else { end };
                self.jump(to);
            }
            None => {
                let value = self.load("i64", "%w1");
                _ = writeln!(self.text, "  ret i64 {value}");
            }
        }
        self.begin(after);
    }
}
