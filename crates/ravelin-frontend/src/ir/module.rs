//! What a file of LLVM IR says, as plain data: types, globals, functions, and where each instruction comes from.
//!
//! Pointee types are dropped when a text is read: every instruction that needs a type names it, in the dialect with
//! typed pointers (`i32*`) and in that with opaque ones (`ptr`). What follows does not know which of them was read.

use super::debug::DebugInfo;
use super::layout::Layouts;
use ravelin_program::Span;

/// A file of IR.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Bodies of the named types; [`Type::Named`] is an index.
    pub structs: Vec<NamedStruct>,
    pub globals: Vec<Global>,
    /// Definitions and declarations.
    pub functions: Vec<Function>,
    pub debug: DebugInfo,
    /// What the module was made for, such as `x86_64-pc-linux-gnu`, if it says so.
    pub target: Option<String>,
    pub(super) layouts: Layouts,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NamedStruct {
    pub name: String,
    /// `None`: opaque.
    pub body: Option<Type>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Void,
    /// 1 to 64 bits are supported; wider ones are read.
    Int(u32),
    /// `half` 16, `float` 32, `double` 64, `x86_fp80` 80, `fp128` 128.
    Float(u32),
    Pointer,
    Array(u64, Box<Type>),
    Vector(u64, Box<Type>),
    Struct {
        fields: Vec<Type>,
        packed: bool,
    },
    Named(usize),
    /// Of a function, a label, metadata, a token: a value of it is never in memory.
    Other,
}

#[derive(Clone, Debug)]
pub struct Global {
    pub name: String,
    pub ty: Type,
    /// `None`: defined elsewhere.
    pub initial: Option<Constant>,
    pub constant: bool,
    pub thread_local: bool,
    pub align: Option<u64>,
    /// Number of its metadata node: `!dbg !0`.
    pub debug: Option<u32>,
    pub span: Span,
}

/// Index of a value that an instruction or a parameter defines, in [`Function::locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// Index in [`Function::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub returns: Type,
    pub parameters: Vec<Parameter>,
    pub variadic: bool,
    /// The name of each local value without `%`, and its type.
    pub locals: Vec<Local>,
    /// Empty: a declaration. The first one is the entry.
    pub blocks: Vec<Block>,
    /// Names of local variables in the source, from `llvm.dbg.declare` and `llvm.dbg.value` or their records.
    pub variables: Vec<SourceVariable>,
    /// Locals that are mentioned in what was read as unsupported.
    pub hidden: Vec<LocalId>,
    pub debug: Option<u32>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    pub name: String,
    pub ty: Type,
}

/// A local variable of the source: the local value holds its address or its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceVariable {
    pub local: LocalId,
    pub name: String,
    /// Number of its metadata node, for [`DebugInfo::local_path`].
    pub node: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub local: LocalId,
    /// `byval(T)`: the callee gets a copy.
    pub by_value: Option<Type>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub name: String,
    pub instructions: Vec<IrInstruction>,
    pub terminator: Terminator,
    /// Of the terminator.
    pub place: Place,
}

/// Where an instruction stands: in the text of the module, and in the source by the number of a `!DILocation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub span: Span,
    pub debug: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct IrInstruction {
    pub result: Option<LocalId>,
    pub operation: Operation,
    pub place: Place,
}

/// A value with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    pub ty: Type,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Local(LocalId),
    Constant(Constant),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Sign-extended from the width of its type; `true` is 1.
    Int(i128),
    /// As written.
    Float(String),
    Null,
    /// `undef` and `poison`.
    Undefined,
    Zero,
    /// Index in [`Module::globals`].
    Global(usize),
    /// Index in [`Module::functions`].
    Function(usize),
    /// The elements of an array, a vector or a struct.
    Aggregate(Vec<Operand>),
    /// `c"…"`.
    Bytes(Vec<u8>),
    /// A constant expression: `getelementptr`, a cast, arithmetic, a comparison or `select`, whose operands are constants.
    Expression(Box<Operation>),
    /// `blockaddress`, `dso_local_equivalent`, …: by its keyword.
    Unsupported(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    Alloca {
        ty: Type,
        count: Option<Operand>,
        align: Option<u64>,
    },
    Load {
        ty: Type,
        pointer: Operand,
        order: Option<AtomicOrder>,
        volatile: bool,
    },
    Store {
        value: Operand,
        pointer: Operand,
        order: Option<AtomicOrder>,
        volatile: bool,
    },
    /// Its result is `{ ty, i1 }`.
    CompareExchange {
        pointer: Operand,
        expected: Operand,
        new: Operand,
        success: AtomicOrder,
        failure: AtomicOrder,
        weak: bool,
    },
    ReadModifyWrite {
        op: RmwOperator,
        pointer: Operand,
        operand: Operand,
        order: AtomicOrder,
    },
    /// `compiler_only`: `syncscope("singlethread")`, for `atomic_signal_fence`.
    Fence {
        order: AtomicOrder,
        compiler_only: bool,
    },
    /// `source` is the type that the first index counts.
    GetElementPointer {
        source: Type,
        base: Operand,
        indices: Vec<Operand>,
    },
    Binary {
        op: BinaryOperator,
        left: Operand,
        right: Operand,
    },
    Compare {
        predicate: Predicate,
        left: Operand,
        right: Operand,
    },
    /// `fcmp`, `fneg`, arithmetic on floats: by name.
    Float {
        name: String,
        operands: Vec<Operand>,
    },
    Cast {
        op: CastOperator,
        value: Operand,
        to: Type,
    },
    Select {
        condition: Operand,
        yes: Operand,
        no: Operand,
    },
    Phi {
        ty: Type,
        incoming: Vec<(Value, BlockId)>,
    },
    ExtractValue {
        aggregate: Operand,
        indices: Vec<u32>,
    },
    InsertValue {
        aggregate: Operand,
        value: Operand,
        indices: Vec<u32>,
    },
    Freeze(Operand),
    Call(Call),
    /// What is not read in detail (`va_arg`, vectors, landing pads, …), by name.
    Unsupported(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub callee: Callee,
    pub returns: Type,
    pub arguments: Vec<Operand>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A function by name or through a pointer.
    Value(Value),
    /// `asm "template", "constraints"`.
    Assembly { template: String, constraints: String },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    Return(Option<Operand>),
    Jump(BlockId),
    Branch {
        condition: Operand,
        yes: BlockId,
        no: BlockId,
    },
    Switch {
        value: Operand,
        default: BlockId,
        cases: Vec<(i128, BlockId)>,
    },
    /// A call that may throw: goes to `normal`.
    Invoke {
        result: Option<LocalId>,
        call: Call,
        normal: BlockId,
        unwind: BlockId,
    },
    Unreachable,
    /// `indirectbr`, `resume`, …, by name.
    Unsupported(String),
}

/// LLVM's orderings. `unordered` is read as `Monotonic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOrder {
    Monotonic,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwOperator {
    Exchange,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UnsignedMax,
    UnsignedMin,
    /// On floats, or one that LLVM added later.
    Unsupported,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    Add,
    Sub,
    Mul,
    UnsignedDiv,
    SignedDiv,
    UnsignedRem,
    SignedRem,
    ShiftLeft,
    LogicalShiftRight,
    ArithmeticShiftRight,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Predicate {
    Equal,
    NotEqual,
    UnsignedGreater,
    UnsignedGreaterEqual,
    UnsignedLess,
    UnsignedLessEqual,
    SignedGreater,
    SignedGreaterEqual,
    SignedLess,
    SignedLessEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastOperator {
    Truncate,
    ZeroExtend,
    SignExtend,
    PointerToInt,
    IntToPointer,
    /// `bitcast` and `addrspacecast`.
    Bitcast,
    /// Between floats and integers, or of floats.
    Float,
}

impl Module {
    pub fn function(&self, name: &str) -> Option<usize> {
        self.functions.iter().position(|function| function.name == name)
    }

    pub fn global(&self, name: &str) -> Option<usize> {
        self.globals.iter().position(|global| global.name == name)
    }
}

impl Function {
    pub fn is_declaration(&self) -> bool {
        self.blocks.is_empty()
    }

    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.0 as usize]
    }

    pub fn type_of(&self, local: LocalId) -> &Type {
        &self.locals[local.0 as usize].ty
    }
}

impl Terminator {
    /// The blocks that may be next.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Terminator::Return(_) | Terminator::Unreachable | Terminator::Unsupported(_) => Vec::new(),
            Terminator::Jump(next) => vec![*next],
            Terminator::Branch { yes, no, .. } => vec![*yes, *no],
            Terminator::Switch { default, cases, .. } => {
                std::iter::once(*default).chain(cases.iter().map(|(_, block)| *block)).collect()
            }
            Terminator::Invoke { normal, unwind, .. } => vec![*normal, *unwind],
        }
    }
}
