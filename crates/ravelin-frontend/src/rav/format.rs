//! The formatter: a tree written out in one style, with four spaces a level and one statement a line.
//!
//! Comments are kept: those before a statement or on its last line stay there, those inside one move before it. Of several
//! blank lines one is kept, and none at the start or the end of a block. Parentheses and the digits of integers stay as
//! they were written. Formatting the result again changes nothing, and both texts mean the same program.
//!
//! A file with syntax errors loses the parts that could not be understood, so only a file without any should be replaced
//! by its formatted text.

use super::ast::{
    AccessCall, Arm, ArmPattern, Base, Block, Comment, Comments, Else, EnumItem, ExchangeResult, Expr, ExprKind, File,
    Function, If, Init, InitKind, Item, ItemKind, Pattern, RangeExpr, RavPlace, Statement, StatementKind, ThreadCopies,
    ThreadItem, ThreadRef, Type, TypeKind, WaitCall,
};
use ravelin_program::GoalKind;

/// The file in the one style.
pub fn format(file: &File) -> String {
    let mut writer = Writer { out: String::new(), depth: 0, fresh: true };
    for line in &file.header {
        writer.line(line.blank_before, &line.text);
    }
    for item in &file.items {
        writer.item(item);
    }
    writer.comment_lines(&file.end);
    writer.out
}

pub fn format_place(place: &RavPlace) -> String {
    match &place.index {
        Some(index) => format!("{}[{}]", place.name.text, format_expr(index)),
        None => place.name.text.clone(),
    }
}

pub fn format_expr(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Integer { text, .. } => text.clone(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Unary(op, operand) => format!("{}{}", op.symbol(), format_expr(operand)),
        ExprKind::Binary(op, left, right) if op.is_call() => {
            format!("{}({}, {})", op.symbol(), format_expr(left), format_expr(right))
        }
        ExprKind::Binary(op, left, right) => {
            format!("{} {} {}", format_expr(left), op.symbol(), format_expr(right))
        }
        ExprKind::Paren(inner) => format!("({})", format_expr(inner)),
        ExprKind::Arithmetic(None, inner) => format!("checked({})", format_expr(inner)),
        ExprKind::Arithmetic(Some(ty), inner) => format!("wrapping({}, {})", format_type(ty), format_expr(inner)),
        ExprKind::AddressOf(place) => format!("&{}", format_place(place)),
        ExprKind::Path(ty, name) => format!("{}::{}", ty.text, name.text),
        ExprKind::Call(call) => {
            let arguments: Vec<String> = call.arguments.iter().map(format_expr).collect();
            format!("{}({})", call.name.text, arguments.join(", "))
        }
        ExprKind::If(branches) => {
            let otherwise = match branches.otherwise.kind {
                ExprKind::If(_) => format_expr(&branches.otherwise),
                _ => format!("{{ {} }}", format_expr(&branches.otherwise)),
            };
            format!("if {} {{ {} }} else {otherwise}", format_expr(&branches.condition), format_expr(&branches.then))
        }
        ExprKind::Match(matched) => {
            let arm = |arm: &Arm<Expr>| format!("{} => {}", format_arm(&arm.patterns), format_expr(&arm.body));
            let arms: Vec<String> = matched.arms.iter().map(arm).collect();
            format!("match {} {{ {} }}", format_expr(&matched.value), arms.join(", "))
        }
        ExprKind::Place(place) => format_place(place),
        ExprKind::Access(access) => format_access(access),
        ExprKind::Wait(wait) => format_wait(wait),
        ExprKind::At(thread, label) => format!("{}@{}", format_thread_ref(thread), label.text),
        ExprKind::Register(thread, register) => format!("{}.{}", format_thread_ref(thread), register.text),
        ExprKind::Count { count, thread, label } => {
            format!("{} of {}@{}", format_expr(count), thread.text, label.text)
        }
        ExprKind::Error => String::new(),
    }
}

fn format_arm(patterns: &[ArmPattern]) -> String {
    let pattern = |pattern: &ArmPattern| match pattern {
        ArmPattern::Any => "_".to_owned(),
        ArmPattern::Value(value) => format_expr(value),
        ArmPattern::Range(range) => format_range(range),
    };
    patterns.iter().map(pattern).collect::<Vec<_>>().join(" | ")
}

fn format_enum(item: &EnumItem) -> String {
    let variants = item.variants.iter().map(|variant| match &variant.value {
        Some(value) => format!("{} = {}", variant.name.text, format_expr(value)),
        None => variant.name.text.clone(),
    });
    let variants: Vec<String> = variants.collect();
    if variants.is_empty() {
        return format!("enum {} {{}}", item.name.text);
    }
    format!("enum {} {{ {} }}", item.name.text, variants.join(", "))
}

/// What stands before the body.
fn format_signature(function: &Function) -> String {
    let parameters = function.parameters.iter().map(|parameter| {
        let ty = parameter.ty.as_ref().map(|ty| format!(": {}", format_type(ty))).unwrap_or_default();
        format!("{}{}{ty}", if parameter.mutable { "mut " } else { "" }, parameter.name.text)
    });
    let parameters: Vec<String> = parameters.collect();
    let result = function.result.as_ref().map(|ty| format!(" -> {}", format_type(ty))).unwrap_or_default();
    let constant = if function.constant { "const " } else { "" };
    format!("{constant}fn {}({}){result} ", function.name.text, parameters.join(", "))
}

fn format_access(access: &AccessCall) -> String {
    let arguments: Vec<String> =
        access.arguments.iter().map(format_expr).chain(access.orders.iter().map(|order| order.text.clone())).collect();
    let outcome = match access.outcome {
        None => "",
        Some(ExchangeResult::IsOk) => ".is_ok()",
        Some(ExchangeResult::IsErr) => ".is_err()",
    };
    format!("{}.{}({}){outcome}", format_place(&access.place), access.method.name(), arguments.join(", "))
}

fn format_wait(wait: &WaitCall) -> String {
    let order = wait.order.as_ref().map(|order| format!(", {}", order.text)).unwrap_or_default();
    format!("wait({}{order})", format_expr(&wait.condition))
}

fn format_thread_ref(thread: &ThreadRef) -> String {
    match &thread.index {
        Some(index) => format!("{}[{}]", thread.name.text, format_expr(index)),
        None => thread.name.text.clone(),
    }
}

fn format_range(range: &RangeExpr) -> String {
    let dots = if range.inclusive { "..=" } else { ".." };
    format!("{}{dots}{}", format_expr(&range.lo), format_expr(&range.hi))
}

fn format_type(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Base { escape, base } => {
            let base = match base {
                Base::Named(name) => name.text.clone(),
                Base::Range(range) => format_range(range),
            };
            match escape {
                Some(escape) => format!("{} {base}", escape.text),
                None => base,
            }
        }
        TypeKind::Array(element, len) => format!("[{}; {}]", format_type(element), format_expr(len)),
        TypeKind::Error => String::new(),
    }
}

fn format_init(init: &Init) -> String {
    match &init.kind {
        InitKind::Value(value) => format_expr(value),
        InitKind::Any => "any".to_owned(),
        InitKind::List(list) => format!("[{}]", list.iter().map(format_init).collect::<Vec<_>>().join(", ")),
        InitKind::Repeat(value, count) => format!("[{}; {}]", format_init(value), format_expr(count)),
        InitKind::Error => String::new(),
    }
}

fn format_pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Name { name, mutable } => format!("{}{}", if *mutable { "mut " } else { "" }, name.text),
        Pattern::Pair(old, ok) => format!("({}, {})", old.text, ok.text),
    }
}

struct Writer {
    out: String,
    depth: usize,
    /// Nothing has been written in this block, so that a blank line would be at its start.
    fresh: bool,
}

impl Writer {
    fn line(&mut self, blank_before: bool, text: &str) {
        if text.is_empty() {
            return;
        }
        if blank_before && !self.fresh {
            self.out.push('\n');
        }
        self.fresh = false;
        self.indent();
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("    ");
        }
    }

    fn comment_lines(&mut self, comments: &[Comment]) {
        for comment in comments {
            self.line(comment.blank_before, &comment.text);
        }
    }

    /// Writes what ends on a line of its own, and the comments that stand on that line.
    fn finish(&mut self, text: &str, comments: &Comments) {
        self.out.push_str(text);
        for comment in &comments.trailing {
            self.out.push(' ');
            self.out.push_str(&comment.text);
        }
        self.out.push('\n');
    }

    /// Writes the comments before a statement or item, and the indentation of its first line.
    fn start(&mut self, comments: &Comments) {
        self.comment_lines(&comments.leading);
        if comments.blank_before && !self.fresh {
            self.out.push('\n');
        }
        self.fresh = false;
        self.indent();
    }

    fn simple(&mut self, comments: &Comments, text: &str) {
        self.start(comments);
        self.finish(text, comments);
    }

    fn item(&mut self, item: &Item) {
        let comments = &item.comments;
        let text = match &item.kind {
            ItemKind::Const { name, ty, value } => {
                let ty = ty.as_ref().map(|ty| format!(": {}", ty.text)).unwrap_or_default();
                format!("const {}{ty} = {};", name.text, format_expr(value))
            }
            ItemKind::MaxValue { value, escape } => {
                let escape = escape.as_ref().map(|escape| format!(" {}", escape.text)).unwrap_or_default();
                format!("max_value {}{escape};", format_expr(value))
            }
            ItemKind::StrictMemory => "strict mem;".to_owned(),
            ItemKind::Gap(addresses) => format!("gap {};", format_expr(addresses)),
            ItemKind::Arithmetic(ty) => format!("arithmetic {};", format_type(ty)),
            ItemKind::Static { name, ty, init } => {
                let ty = ty.as_ref().map(|ty| format!(": {}", format_type(ty))).unwrap_or_default();
                let init = init.as_ref().map(|init| format!(" = {}", format_init(init))).unwrap_or_default();
                format!("static {}{ty}{init};", name.text)
            }
            ItemKind::Enum(item) => format_enum(item),
            ItemKind::Function(function) => {
                self.start(comments);
                self.function(function);
                return self.finish("", comments);
            }
            ItemKind::Thread(thread) => {
                self.start(comments);
                self.thread(thread);
                return self.finish("", comments);
            }
            ItemKind::Goal { kind, forall, condition } => {
                let word = match kind {
                    GoalKind::Never => "never",
                    GoalKind::Exists => "exists",
                    GoalKind::NeverFinally => "finally never",
                    GoalKind::Finally if *forall => "forall",
                    GoalKind::Finally => "finally",
                };
                format!("{word} {};", format_expr(condition))
            }
            ItemKind::Error => return self.lost(comments),
        };
        self.simple(comments, &text);
    }

    /// Of a part that could not be understood only the comments are left.
    fn lost(&mut self, comments: &Comments) {
        self.comment_lines(&comments.leading);
        self.comment_lines(&comments.trailing);
    }

    fn thread(&mut self, thread: &ThreadItem) {
        let copies = match &thread.copies {
            ThreadCopies::One => String::new(),
            ThreadCopies::Count(count) => format!("[{}]", format_expr(count)),
            ThreadCopies::Indexed(name, range) => format!("[{} in {}]", name.text, format_range(range)),
            ThreadCopies::Any => "[*]".to_owned(),
        };
        self.block(&format!("thread {}{copies} ", thread.name.text), &thread.body);
    }

    fn function(&mut self, function: &Function) {
        let value = function.value.as_ref();
        let value = value.map(|value| (&value.comments, format_expr(&value.value)));
        self.block_with(&format_signature(function), &function.body, value);
    }

    /// Writes `head { … }` without an end of line.
    fn block(&mut self, head: &str, block: &Block) {
        self.block_with(head, block, None);
    }

    /// The same with a value at the end of the block.
    fn block_with(&mut self, head: &str, block: &Block, value: Option<(&Comments, String)>) {
        self.out.push_str(head);
        self.out.push('{');
        if block.statements.is_empty() && block.end.is_empty() && value.is_none() {
            self.out.push('}');
            return;
        }
        self.out.push('\n');
        self.depth += 1;
        self.fresh = true;
        for statement in &block.statements {
            self.statement(statement);
        }
        if let Some((comments, value)) = value {
            self.simple(comments, &value);
        }
        self.comment_lines(&block.end);
        self.depth -= 1;
        self.fresh = false;
        self.indent();
        self.out.push('}');
    }

    fn statement(&mut self, statement: &Statement) {
        let comments = &statement.comments;
        if let Some(text) = simple_statement(&statement.kind) {
            return self.simple(comments, &text);
        }
        if statement.kind == StatementKind::Error {
            return self.lost(comments);
        }
        self.start(comments);
        match &statement.kind {
            StatementKind::If(conditional) => self.conditional(conditional),
            StatementKind::While { head, condition, body } => {
                let fences: String =
                    head.iter().filter_map(|fence| simple_statement(&fence.kind)).map(|fence| fence + " ").collect();
                let condition = format_expr(condition);
                let condition = if head.is_empty() { condition } else { format!("{{ {fences}{condition} }}") };
                self.block(&format!("while {condition} "), body);
            }
            StatementKind::Loop(body) => self.block("loop ", body),
            StatementKind::For { name, range, body } => {
                self.block(&format!("for {} in {} ", name.text, format_range(range)), body);
            }
            StatementKind::Choose(branches) => {
                for (number, branch) in branches.iter().enumerate() {
                    self.block(if number == 0 { "choose " } else { " or " }, branch);
                }
            }
            StatementKind::Match(matched) => {
                self.out.push_str(&format!("match {} {{", format_expr(&matched.value)));
                self.out.push('\n');
                self.depth += 1;
                for arm in &matched.arms {
                    self.indent();
                    self.block(&format!("{} => ", format_arm(&arm.patterns)), &arm.body);
                    self.out.push('\n');
                }
                self.depth -= 1;
                self.indent();
                self.out.push('}');
            }
            StatementKind::Locked(body) => self.block("locked ", body),
            StatementKind::Block(body) => self.block("", body),
            _ => {}
        }
        self.finish("", comments);
    }

    fn conditional(&mut self, conditional: &If) {
        self.block(&format!("if {} ", format_expr(&conditional.condition)), &conditional.then);
        match conditional.otherwise.as_deref() {
            None => {}
            Some(Else::Block(block)) => self.block(" else ", block),
            Some(Else::If(next)) => {
                self.out.push_str(" else ");
                self.conditional(next);
            }
        }
    }
}

/// A statement without a block, on one line.
fn simple_statement(kind: &StatementKind) -> Option<String> {
    Some(match kind {
        StatementKind::Label(name) => format!("@{};", name.text),
        StatementKind::Let { pattern, ty, value } => {
            let ty = ty.as_ref().map(|ty| format!(": {}", format_type(ty))).unwrap_or_default();
            let value = value.as_ref().map(|value| format!(" = {}", format_expr(value))).unwrap_or_default();
            format!("let {}{ty}{value};", format_pattern(pattern))
        }
        StatementKind::Assign { pattern, value } => format!("{} = {};", format_pattern(pattern), format_expr(value)),
        StatementKind::CompoundAssign { name, op, value } => {
            format!("{} {}= {};", name.text, op.symbol(), format_expr(value))
        }
        StatementKind::Effect(expr) => format!("{};", format_expr(expr)),
        StatementKind::Break => "break;".to_owned(),
        StatementKind::Continue => "continue;".to_owned(),
        StatementKind::Return(None) => "return;".to_owned(),
        StatementKind::Return(Some(value)) => format!("return {};", format_expr(value)),
        StatementKind::Goto(label) => format!("goto {};", label.text),
        StatementKind::Assume(condition) => format!("assume({});", format_expr(condition)),
        StatementKind::Assert(condition) => format!("assert({});", format_expr(condition)),
        StatementKind::Fence(order) => {
            format!("fence({});", order.as_ref().map(|order| order.text.as_str()).unwrap_or_default())
        }
        StatementKind::Lock(place) => format!("lock({});", format_place(place)),
        StatementKind::Unlock(place) => format!("unlock({});", format_place(place)),
        StatementKind::BusLock => "bus_lock;".to_owned(),
        StatementKind::BusUnlock => "bus_unlock;".to_owned(),
        StatementKind::Havoc { name, range } => format!("havoc {} in {};", name.text, format_range(range)),
        StatementKind::Nop => "nop;".to_owned(),
        _ => return None,
    })
}
