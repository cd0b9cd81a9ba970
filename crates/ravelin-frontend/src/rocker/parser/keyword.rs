//! Words that cannot be names: TPL's own keywords and, because Rocker translates to it, Promela's.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReservedWord {
    Tpl,
    Promela,
}

/// Who reserves a word, if anybody does.
pub fn reserved(word: &str) -> Option<ReservedWord> {
    if TPL.contains(&word) {
        Some(ReservedWord::Tpl)
    } else if PROMELA.contains(&word) {
        Some(ReservedWord::Promela)
    } else {
        None
    }
}

/// `true`, `false` and `skip` come from Promela, but have a meaning in TPL.
const TPL: &[&str] = &[
    "BCAS", "CAS", "FADD", "acq", "acq_rel", "assert", "do", "elif", "else", "exchange", "false", "fence", "fi",
    "global", "goto", "if", "load", "local", "lock", "oneof", "print", "rel", "rlx", "seq_cst", "skip", "store",
    "true", "unlock", "until", "wait", "while",
];

const PROMELA: &[&str] = &[
    "D_proctype",
    "STDIN",
    "active",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "chan",
    "d_step",
    "empty",
    "enabled",
    "eval",
    "for",
    "full",
    "get_priority",
    "hidden",
    "in",
    "init",
    "inline",
    "int",
    "len",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "return",
    "run",
    "select",
    "set_priority",
    "short",
    "show",
    "timeout",
    "trace",
    "typedef",
    "unless",
    "unsigned",
    "xr",
    "xs",
];
