//! Random trees of one thread, and how they are written.

use ravelin_testing::Random;
use std::fmt;

/// A whole file.
pub struct Text {
    /// `max_value N how;`.
    pub max_value: Option<(i64, Escape)>,
    /// `arithmetic wrapping lo..=hi;`.
    pub arithmetic: Option<(i64, i64)>,
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
    pub registers: Vec<Type>,
    pub body: Vec<Statement>,
}

/// Its first registers are its parameters, and the last one is a local.
pub struct Function {
    pub parameters: Vec<Parameter>,
    pub local: (Type, Expr),
    pub result: Type,
    pub body: Vec<Statement>,
    pub value: Expr,
}

pub struct Parameter {
    pub ty: Type,
    pub mutable: bool,
}

pub struct Variable {
    pub name: String,
    pub ty: Type,
    pub cells: Option<usize>,
}

/// `None` is the default of the file.
pub type Type = Option<(i64, i64, Escape)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    Error,
    Wrap,
    Block,
    /// Of an integer type such as `u8`: operators wrap.
    Integer,
    /// Of `u64`.
    Unsigned,
}

pub enum Statement {
    Assign(usize, Expr),
    Add(usize, Expr),
    Load(usize, Place),
    Store(Place, Expr),
    /// The method, the target, and whether it stands in `checked(…)` or `wrapping(…)`.
    Fetch(&'static str, Option<usize>, Place, Expr, Option<Arithmetic>),
    If(Expr, Vec<Statement>, Vec<Statement>),
    /// Arms for intervals, and one for all other values.
    Match(Expr, Vec<((i64, i64), Vec<Statement>)>, Vec<Statement>),
    /// `r = f(…);`, or `f(…);`.
    Call(Option<usize>, Call),
    Return(Expr),
    For(usize, i64, i64, Vec<Statement>),
}

/// A variable, and the index of an array.
pub struct Place(pub usize, pub Option<Expr>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Checked,
    Wrapping(i64, i64),
}

pub enum Expr {
    Number(i64),
    Register(usize),
    /// The counter of the loop that many levels out.
    Counter(usize),
    Negative(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    In(Arithmetic, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Match(Box<Expr>, Vec<((i64, i64), Expr)>, Box<Expr>),
}

/// The function, and its arguments; the first may be a call as well.
pub struct Call(pub usize, pub Vec<Expr>, pub Option<Box<Call>>);

/// The text of a seed.
pub fn text(seed: u64) -> Text {
    let mut random = Draw(Random::new(seed));
    let max_value = random.maybe(2).then(|| (random.within(1, 6), random.escape()));
    let arithmetic = random.maybe(3).then(|| random.range());
    let variables = (0..random.within(1, 3)).map(|index| {
        let cells = random.maybe(2).then(|| random.within(1, 9) as usize);
        let name = ["x", "y", "z"][index as usize].to_owned();
        Variable { name, ty: random.ty(), cells }
    });
    let variables: Vec<Variable> = variables.collect();
    let registers: Vec<Type> = (0..3).map(|_| random.ty()).collect();
    let (assignable, functions) = (Vec::new(), Vec::new());
    let mut maker =
        Maker { random, variables: &variables, registers: 0, assignable, loops: 0, functions, result: false };
    let functions = maker.random.below(4);
    for _ in 0..functions {
        let function = maker.function();
        maker.functions.push(function);
    }
    (maker.registers, maker.assignable) = (registers.len(), (0..registers.len()).collect());
    let body = maker.block(5, 2);
    let functions = maker.functions;
    Text { max_value, arithmetic, variables, functions, registers, body }
}

struct Maker<'a> {
    random: Draw,
    variables: &'a [Variable],
    registers: usize,
    /// The registers that can be assigned to.
    assignable: Vec<usize>,
    /// How many loops are around.
    loops: usize,
    /// Those that can be called.
    functions: Vec<Function>,
    /// In a function.
    result: bool,
}

impl Maker<'_> {
    fn function(&mut self) -> Function {
        let parameters = self.random.within(1, 3);
        let parameters: Vec<Parameter> =
            (0..parameters).map(|_| Parameter { ty: self.random.ty(), mutable: self.random.maybe(3) }).collect();
        let count = parameters.len();
        let mutable = (0..count).filter(|&number| parameters[number].mutable);
        self.assignable = mutable.chain([count]).collect();
        self.registers = count;
        let local = (self.random.ty(), self.expr(1));
        self.registers = count + 1;
        self.result = true;
        let (body, value) = (self.block(3, 1), self.expr(2));
        self.result = false;
        Function { parameters, local, result: self.random.ty(), body, value }
    }

    fn call(&mut self) -> Call {
        let function = self.random.below(self.functions.len());
        let parameters = self.functions[function].parameters.len();
        // What is evaluated after a call changes nothing and has no fault.
        let mut rest: Vec<Expr> = Vec::new();
        for _ in 1..parameters {
            let register = Expr::Register(self.random.below(self.registers));
            rest.push(if self.random.maybe(2) { register } else { Expr::Number(self.random.within(0, 4)) });
        }
        if self.random.maybe(4) {
            let inner = self.call();
            return Call(function, rest, Some(Box::new(inner)));
        }
        rest.insert(0, self.expr(1));
        Call(function, rest, None)
    }

    fn interval(&mut self) -> (i64, i64) {
        let lo = self.random.within(-2, 4);
        (lo, lo + self.random.within(0, 2))
    }

    fn block(&mut self, most: i64, depth: usize) -> Vec<Statement> {
        (0..self.random.within(1, most)).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> Statement {
        let register = self.register();
        match self.random.below(if depth == 0 { 11 } else { 15 }) {
            9 | 10 if !self.functions.is_empty() => {
                Statement::Call((!self.random.maybe(4)).then_some(register), self.call())
            }
            9 if self.result && self.random.maybe(3) => Statement::Return(self.expr(1)),
            9 | 10 => Statement::Store(self.place(), self.expr(2)),
            11 if self.random.maybe(2) => {
                let arms = (0..self.random.within(1, 2)).map(|_| (self.interval(), self.block(2, depth - 1))).collect();
                Statement::Match(self.expr(1), arms, self.block(2, depth - 1))
            }
            0 | 1 => Statement::Assign(register, self.expr(2)),
            2 => Statement::Add(register, self.expr(1)),
            3 | 4 => Statement::Load(register, self.place()),
            5..=7 => Statement::Store(self.place(), self.expr(2)),
            8 => {
                let methods = ["fetch_add", "fetch_sub", "fetch_and", "fetch_xor", "swap", "fetch_max"];
                let method = methods[self.random.below(6)];
                let target = self.random.maybe(2).then_some(register);
                let inside = self.random.maybe(4).then(|| self.random.arithmetic());
                Statement::Fetch(method, target, self.place(), self.expr(1), inside)
            }
            11 | 12 => Statement::If(self.expr(2), self.block(2, depth - 1), self.block(2, depth - 1)),
            _ => {
                let lo = self.random.within(-1, 2);
                let end = lo + self.random.within(0, 5);
                self.loops += 1;
                let body = self.block(3, depth - 1);
                self.loops -= 1;
                Statement::For(self.loops, lo, end, body)
            }
        }
    }

    /// A register that no call can make a constant.
    fn held(&mut self) -> usize {
        if self.result { self.registers - 1 } else { self.random.below(self.registers) }
    }

    fn register(&mut self) -> usize {
        self.assignable[self.random.below(self.assignable.len())]
    }

    fn place(&mut self) -> Place {
        let variable = self.random.below(self.variables.len());
        let index = self.variables[variable].cells.map(|cells| {
            // Most often inside: a fault ends the run.
            match self.random.below(4) {
                0 => {
                    // A constant outside would be refused.
                    let register = Box::new(Expr::Register(self.held()));
                    Expr::Binary("+", register, Box::new(self.expr(1)))
                }
                1 if self.loops > 0 => Expr::Counter(self.random.below(self.loops)),
                2 => {
                    let inside = Expr::Number(cells as i64);
                    let value = Box::new(Expr::Register(self.held()));
                    Expr::In(Arithmetic::Checked, Box::new(Expr::Binary("%", value, Box::new(inside))))
                }
                _ => Expr::Number(self.random.below(cells) as i64),
            }
        });
        Place(variable, index)
    }

    fn expr(&mut self, depth: usize) -> Expr {
        match self.random.below(if depth == 0 { 4 } else { 10 }) {
            0 | 1 => Expr::Number(self.random.within(0, 4)),
            2 => Expr::Register(self.random.below(self.registers)),
            3 if self.loops > 0 => Expr::Counter(self.random.below(self.loops)),
            3 => Expr::Number(self.random.within(-3, 0)),
            8 if self.random.maybe(2) => {
                let (yes, no) = (Box::new(self.expr(depth - 1)), Box::new(self.expr(depth - 1)));
                Expr::If(Box::new(self.expr(depth - 1)), yes, no)
            }
            8 => {
                let arms = (0..self.random.within(1, 2)).map(|_| (self.interval(), self.expr(depth - 1))).collect();
                Expr::Match(Box::new(self.expr(depth - 1)), arms, Box::new(self.expr(depth - 1)))
            }
            4 => Expr::Negative(Box::new(self.expr(depth - 1))),
            5 if self.random.maybe(2) => Expr::In(self.random.arithmetic(), Box::new(self.expr(depth - 1))),
            _ => {
                let operators = ["+", "+", "-", "-", "*", "/", "%", "&", "|", "^", "==", "!=", "<", "<=", "&&", "||"];
                let operator = operators[self.random.below(operators.len())];
                Expr::Binary(operator, Box::new(self.expr(depth - 1)), Box::new(self.expr(depth - 1)))
            }
        }
    }
}

/// Numbers of which texts are made.
struct Draw(Random);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0.below(end)
    }

    fn within(&mut self, lo: i64, hi: i64) -> i64 {
        lo + self.below((hi - lo + 1) as usize) as i64
    }

    fn maybe(&mut self, once_in: usize) -> bool {
        self.below(once_in) == 0
    }

    fn escape(&mut self) -> Escape {
        [Escape::Wrap, Escape::Wrap, Escape::Block, Escape::Error][self.below(4)]
    }

    /// A small range that holds 0, so that cells can start with it.
    fn range(&mut self) -> (i64, i64) {
        (self.within(-2, 0), self.within(1, 8))
    }

    fn arithmetic(&mut self) -> Arithmetic {
        let (lo, hi) = self.range();
        if self.maybe(2) { Arithmetic::Checked } else { Arithmetic::Wrapping(lo, hi) }
    }

    fn ty(&mut self) -> Type {
        let (lo, hi) = self.range();
        match self.below(6) {
            0 => Some((lo, hi, self.escape())),
            1 => Some((i64::MIN, i64::MAX, [Escape::Integer, Escape::Unsigned][self.below(2)])),
            2 => Some([(0, 255, Escape::Integer), (-128, 127, Escape::Integer)][self.below(2)]),
            _ => None,
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((most, escape)) = self.max_value {
            let how = ["error", "wrap", "block"][escape as usize];
            writeln!(f, "max_value {most} {how};")?;
        }
        if let Some((lo, hi)) = self.arithmetic {
            writeln!(f, "arithmetic wrapping {lo}..={hi};")?;
        }
        for Variable { name, ty, cells } in &self.variables {
            match cells {
                None => writeln!(f, "static {name}: {};", shown(*ty))?,
                Some(cells) => writeln!(f, "static {name}: [{}; {cells}];", shown(*ty))?,
            }
        }
        for (number, function) in self.functions.iter().enumerate() {
            let parameters = function.parameters.iter().enumerate().map(|(number, parameter)| {
                let ty = parameter.ty.map(|ty| format!(": {}", shown(Some(ty)))).unwrap_or_default();
                format!("{}r{number}{ty}", if parameter.mutable { "mut " } else { "" })
            });
            let parameters: Vec<String> = parameters.collect();
            writeln!(f, "fn f{number}({}) -> {} {{", parameters.join(", "), shown(function.result))?;
            let ty = function.local.0.map(|ty| format!(": {}", shown(Some(ty)))).unwrap_or_default();
            writeln!(f, "    let r{}{ty} = {};", parameters.len(), function.local.1)?;
            self.block(f, &function.body, 1)?;
            writeln!(f, "    {}\n}}", function.value)?;
        }
        writeln!(f, "thread t {{")?;
        for (index, ty) in self.registers.iter().enumerate() {
            writeln!(f, "    let r{index}: {};", shown(*ty))?;
        }
        self.block(f, &self.body, 1)?;
        writeln!(f, "}}")
    }
}

fn shown(ty: Type) -> String {
    match ty {
        None => "_".to_owned(),
        Some((i64::MIN, _, Escape::Integer)) => "i64".to_owned(),
        Some((_, _, Escape::Unsigned)) => "u64".to_owned(),
        Some((lo, _, Escape::Integer)) => if lo == 0 { "u8" } else { "i8" }.to_owned(),
        Some((lo, hi, escape)) => format!("{}{lo}..={hi}", ["", "wrapping ", "blocking "][escape as usize]),
    }
}

impl Text {
    fn block(&self, f: &mut fmt::Formatter<'_>, block: &[Statement], depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        for statement in block {
            match statement {
                Statement::Assign(register, value) => writeln!(f, "{indent}r{register} = {value};")?,
                Statement::Add(register, value) => writeln!(f, "{indent}r{register} += {value};")?,
                Statement::Load(register, place) => writeln!(f, "{indent}r{register} = {}.load();", self.place(place))?,
                Statement::Store(place, value) => writeln!(f, "{indent}{}.store({value});", self.place(place))?,
                Statement::Fetch(method, target, place, operand, inside) => {
                    let access = format!("{}.{method}({operand})", self.place(place));
                    let access = inside.map_or(access.clone(), |inside| inside.around(&access));
                    let target = target.map(|register| format!("r{register} = ")).unwrap_or_default();
                    writeln!(f, "{indent}{target}{access};")?;
                }
                Statement::If(condition, yes, no) => {
                    writeln!(f, "{indent}if {condition} {{")?;
                    self.block(f, yes, depth + 1)?;
                    writeln!(f, "{indent}}} else {{")?;
                    self.block(f, no, depth + 1)?;
                    writeln!(f, "{indent}}}")?;
                }
                Statement::Match(value, arms, otherwise) => {
                    writeln!(f, "{indent}match {value} {{")?;
                    for ((lo, hi), body) in arms {
                        writeln!(f, "{indent}    {lo}..={hi} => {{")?;
                        self.block(f, body, depth + 2)?;
                        writeln!(f, "{indent}    }}")?;
                    }
                    writeln!(f, "{indent}    _ => {{")?;
                    self.block(f, otherwise, depth + 2)?;
                    writeln!(f, "{indent}    }}\n{indent}}}")?;
                }
                Statement::Call(None, call) => writeln!(f, "{indent}{call};")?,
                Statement::Call(Some(register), call) => writeln!(f, "{indent}r{register} = {call};")?,
                Statement::Return(value) => writeln!(f, "{indent}return {value};")?,
                Statement::For(level, lo, end, body) => {
                    writeln!(f, "{indent}for i{level} in {lo}..{end} {{")?;
                    self.block(f, body, depth + 1)?;
                    writeln!(f, "{indent}}}")?;
                }
            }
        }
        Ok(())
    }

    fn place(&self, place: &Place) -> String {
        let name = &self.variables[place.0].name;
        place.1.as_ref().map_or(name.clone(), |index| format!("{name}[{index}]"))
    }
}

impl Arithmetic {
    fn around(self, text: &str) -> String {
        match self {
            Arithmetic::Checked => format!("checked({text})"),
            Arithmetic::Wrapping(lo, hi) => format!("wrapping({lo}..={hi}, {text})"),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.2.iter().map(|call| call.to_string());
        let arguments: Vec<String> = first.chain(self.1.iter().map(|argument| argument.to_string())).collect();
        write!(f, "f{}({})", self.0, arguments.join(", "))
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Number(number) => write!(f, "{number}"),
            Expr::Register(register) => write!(f, "r{register}"),
            Expr::Counter(level) => write!(f, "i{level}"),
            Expr::Negative(operand) => write!(f, "-({operand})"),
            Expr::Binary(operator, left, right) => write!(f, "({left} {operator} {right})"),
            Expr::In(arithmetic, inner) => f.write_str(&arithmetic.around(&inner.to_string())),
            Expr::If(condition, yes, no) => write!(f, "if {condition} {{ {yes} }} else {{ {no} }}"),
            Expr::Match(value, arms, otherwise) => {
                write!(f, "match {value} {{ ")?;
                arms.iter().try_for_each(|((lo, hi), arm)| write!(f, "{lo}..={hi} => {arm}, "))?;
                write!(f, "_ => {otherwise} }}")
            }
        }
    }
}
