//! Debug information: which line an instruction comes from, and what things are called in the source.
//!
//! A module's metadata is a graph of numbered nodes. Those kept here are places, scopes, variables and types. The graph
//! may have cycles, and in a hostile text it may have them where none make sense, so every walk counts its steps.

use std::collections::HashMap;
use std::fmt::Write;

/// The metadata of a module that concerns places and names.
#[derive(Clone, Debug, Default)]
pub struct DebugInfo {
    pub(super) nodes: HashMap<u32, Node>,
}

/// A place in a source file. Lines and columns count from 1; column 0 is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugPlace<'a> {
    /// The path as the compiler was given it, joined with its directory if it is relative.
    pub file: &'a str,
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Location {
        line: u32,
        column: u32,
        scope: Option<u32>,
        inlined_at: Option<u32>,
    },
    /// A function, a block, a compile unit, a namespace.
    Scope {
        name: Option<String>,
        file: Option<u32>,
        parent: Option<u32>,
        line: u32,
    },
    File {
        path: String,
    },
    /// Local or global.
    Variable {
        name: String,
        ty: Option<u32>,
        scope: Option<u32>,
    },
    GlobalExpression {
        variable: Option<u32>,
    },
    Type(TypeNode),
    /// `!{!1, !2}`
    List(Vec<u32>),
    /// How many elements an array has; `None`: as many as the program says.
    Subrange {
        count: Option<u64>,
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct TypeNode {
    /// Without `DW_TAG_`.
    pub tag: String,
    pub name: String,
    pub base: Option<u32>,
    pub elements: Option<u32>,
    pub size_bits: u64,
    pub offset_bits: u64,
}

/// How many nodes one question looks at.
const MOST_STEPS: usize = 64;

impl DebugInfo {
    /// The place of a `!DILocation`. `None` also for line 0, which is what the compiler made itself.
    pub fn place(&self, location: u32) -> Option<DebugPlace<'_>> {
        let Node::Location { line, column, scope, .. } = self.nodes.get(&location)? else { return None };
        if *line == 0 {
            return None;
        }
        Some(DebugPlace { file: self.file_of(*scope)?, line: *line, column: *column })
    }

    /// The place of the call, if the instruction at this `!DILocation` was inlined.
    pub fn inlined_at(&self, location: u32) -> Option<u32> {
        match self.nodes.get(&location)? {
            Node::Location { inlined_at, .. } => *inlined_at,
            _ => None,
        }
    }

    /// The line at which a function begins, from the node at its `!dbg`.
    pub fn function_place(&self, node: u32) -> Option<DebugPlace<'_>> {
        let Node::Scope { line, .. } = self.nodes.get(&node)? else { return None };
        Some(DebugPlace { file: self.file_of(Some(node))?, line: *line, column: 0 })
    }

    /// What a function is called in the source, from the node at its `!dbg`.
    pub fn function_name(&self, node: u32) -> Option<&str> {
        match self.nodes.get(&node)? {
            Node::Scope { name, .. } => name.as_deref(),
            _ => None,
        }
    }

    /// The name of a global variable, from the node at its `!dbg`.
    pub fn global_name(&self, node: u32) -> Option<&str> {
        Some(self.variable(node)?.0)
    }

    /// The name of the local variable that a node describes.
    pub fn local_name(&self, node: u32) -> Option<&str> {
        Some(self.variable(node)?.0)
    }

    /// The function that a local variable belongs to, or a static one in a function.
    pub fn variable_function(&self, node: u32) -> Option<&str> {
        let mut scope = match self.resolve(node)? {
            Node::Variable { scope, .. } => *scope,
            _ => return None,
        };
        for _ in 0..MOST_STEPS {
            let Node::Scope { name, parent, .. } = self.nodes.get(&scope?)? else { return None };
            if let Some(name) = name {
                return Some(name);
            }
            scope = *parent;
        }
        None
    }

    /// The part of a global variable that begins at a byte, as in the source: `stack.head`, `ring.buf[3]`.
    pub fn global_path(&self, node: u32, offset: u64) -> Option<String> {
        let (name, ty) = self.variable(node)?;
        Some(format!("{name}{}", self.path_name(ty?, offset)?))
    }

    /// The part of a local variable that begins at a byte.
    pub fn local_path(&self, node: u32, offset: u64) -> Option<String> {
        self.global_path(node, offset)
    }

    /// The type that has this name in the source: a struct or a typedef.
    pub fn type_named(&self, name: &str) -> Option<u32> {
        let is_named = |node: &Node| match node {
            Node::Type(ty) => ty.name == name && matches!(ty.tag.as_str(), "structure_type" | "class_type" | "typedef"),
            _ => false,
        };
        self.nodes.iter().filter(|(_, node)| is_named(node)).map(|(number, _)| *number).min()
    }

    /// What follows a variable's name to say the scalar of its type at a byte: `.head`, `[3].next`, or nothing. `None`: no
    /// scalar begins there. Of a union the first member counts that has something there, and of bit fields the first.
    pub fn path_name(&self, type_node: u32, byte_offset: u64) -> Option<String> {
        let mut path = String::new();
        let mut steps = MOST_STEPS;
        self.walk(type_node, byte_offset.checked_mul(8)?, &mut path, &mut steps)?;
        Some(path)
    }

    fn walk(&self, node: u32, offset: u64, path: &mut String, steps: &mut usize) -> Option<()> {
        *steps = steps.checked_sub(1)?;
        let (_, ty) = self.strip(node)?;
        match ty.tag.as_str() {
            "structure_type" | "class_type" | "union_type" | "variant_part" => {
                let Some(Node::List(members)) = ty.elements.and_then(|list| self.nodes.get(&list)) else { return None };
                let hidden = is_wrapper(&ty.name);
                for member in members {
                    let Some(Node::Type(member)) = self.nodes.get(member) else { continue };
                    let base = match (member.tag.as_str(), member.base) {
                        ("member" | "inheritance", Some(base)) => base,
                        _ => continue,
                    };
                    let size = match member.size_bits {
                        0 => self.size_of(base, steps).unwrap_or(0),
                        size => size,
                    };
                    // Bits of a byte are found by the byte.
                    let start = member.offset_bits & !7;
                    // The last member may be an array without a size.
                    let inside = offset >= start && (size == 0 || offset < member.offset_bits.saturating_add(size));
                    if !inside {
                        continue;
                    }
                    let before = path.len();
                    let named = member.tag == "member" && !hidden && !member.name.is_empty();
                    if named {
                        _ = write!(path, ".{}", member.name);
                    }
                    if self.walk(base, offset - start, path, steps).is_some() {
                        return Some(());
                    }
                    path.truncate(before);
                }
                None
            }
            "array_type" => {
                let element = ty.base?;
                let size = self.size_of(element, steps).filter(|size| *size > 0)?;
                let dimensions = self.dimensions(ty);
                let mut index = offset / size;
                // Strides of the dimensions, in elements: the last one is the densest.
                let mut strides = vec![1u64; dimensions.len()];
                for number in (1..dimensions.len()).rev() {
                    strides[number - 1] = strides[number].checked_mul(dimensions[number]?)?;
                }
                for (number, stride) in strides.iter().enumerate() {
                    let position = index.checked_div(*stride)?;
                    if dimensions[number].is_some_and(|count| position >= count) {
                        return None;
                    }
                    _ = write!(path, "[{position}]");
                    index %= stride;
                }
                self.walk(element, offset % size, path, steps)
            }
            _ => (offset == 0).then_some(()),
        }
    }

    /// The type behind `typedef`, `const`, `_Atomic` and their like.
    fn strip(&self, mut node: u32) -> Option<(u32, &TypeNode)> {
        for _ in 0..MOST_STEPS {
            let Node::Type(ty) = self.nodes.get(&node)? else { return None };
            match ty.tag.as_str() {
                "typedef" | "const_type" | "volatile_type" | "atomic_type" | "restrict_type" | "immutable_type"
                | "member" | "inheritance" => node = ty.base?,
                _ => return Some((node, ty)),
            }
        }
        None
    }

    fn size_of(&self, node: u32, steps: &mut usize) -> Option<u64> {
        *steps = steps.checked_sub(1)?;
        let (_, ty) = self.strip(node)?;
        if ty.size_bits > 0 || ty.tag != "array_type" {
            return Some(ty.size_bits);
        }
        let mut size = self.size_of(ty.base?, steps)?;
        for dimension in self.dimensions(ty) {
            size = size.checked_mul(dimension?)?;
        }
        Some(size)
    }

    fn dimensions(&self, ty: &TypeNode) -> Vec<Option<u64>> {
        let Some(Node::List(elements)) = ty.elements.and_then(|list| self.nodes.get(&list)) else { return vec![None] };
        let count = |node| match self.nodes.get(node) {
            Some(Node::Subrange { count }) => *count,
            _ => None,
        };
        elements.iter().take(MOST_STEPS).map(count).collect()
    }

    fn resolve(&self, node: u32) -> Option<&Node> {
        match self.nodes.get(&node)? {
            Node::GlobalExpression { variable } => self.nodes.get(&(*variable)?),
            other => Some(other),
        }
    }

    fn variable(&self, node: u32) -> Option<(&str, Option<u32>)> {
        match self.resolve(node)? {
            Node::Variable { name, ty, .. } if !name.is_empty() => Some((name, *ty)),
            _ => None,
        }
    }

    fn file_of(&self, mut scope: Option<u32>) -> Option<&str> {
        for _ in 0..MOST_STEPS {
            match self.nodes.get(&scope?)? {
                Node::Scope { file: Some(file), .. } => scope = Some(*file),
                Node::Scope { parent, .. } => scope = *parent,
                Node::File { path } => return Some(path),
                _ => return None,
            }
        }
        None
    }
}

/// Whether people write nothing for the member of such a type: an atomic integer stands for its value.
fn is_wrapper(name: &str) -> bool {
    ["atomic<", "__atomic_base<", "__atomic_float<", "__atomic_ref<", "UnsafeCell<", "Atomic<"]
        .iter()
        .any(|start| name.starts_with(start))
        || name.strip_prefix("Atomic").is_some_and(|rest| {
            matches!(
                rest,
                "Bool" | "Ptr" | "Usize" | "Isize" | "U8" | "U16" | "U32" | "U64" | "I8" | "I16" | "I32" | "I64"
            )
        })
}
