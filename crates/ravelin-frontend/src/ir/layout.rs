//! How large types are and where their parts lie, on x86-64 Linux.
//!
//! Integers are aligned to their size rounded up to a power of two, at most 16 bytes; pointers have 8 bytes and
//! `x86_fp80` 16. The layouts of named structs are computed once, the first time that one is asked for.

use super::module::{Module, Type};
use std::sync::OnceLock;

/// Types that are larger have no size.
const LARGEST: u64 = 1 << 40;

/// Named structs that contain each other deeper than this have no size, so that a walk down a type need not
/// count.
const DEEPEST: u32 = 256;

/// Where the parts of a named struct lie.
#[derive(Clone, Debug)]
struct StructLayout {
    shape: Shape,
    offsets: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    size: u64,
    align: u64,
    depth: u32,
}

/// The layouts of [`Module::structs`], in their order.
#[derive(Clone, Debug, Default)]
pub struct Layouts(OnceLock<Vec<Option<StructLayout>>>);

impl Module {
    /// The size in bytes, padding included; `None` for types that are not in memory or larger than 2^40 bytes.
    pub fn size_of(&self, ty: &Type) -> Option<u64> {
        Some(self.shape(ty)?.size)
    }

    /// The alignment in bytes that a value has by default.
    pub fn align_of(&self, ty: &Type) -> Option<u64> {
        Some(self.shape(ty)?.align)
    }

    /// The array of unknown length at the end of a struct: where it begins, and the type of its elements.
    pub fn open_array<'a>(&'a self, ty: &'a Type) -> Option<(u64, &'a Type)> {
        let body = match ty {
            Type::Named(index) => self.structs.get(*index)?.body.as_ref()?,
            ty => ty,
        };
        let Type::Struct { fields, .. } = body else { return None };
        match self.field(body, fields.len().checked_sub(1)?)? {
            (offset, Type::Array(0, element)) => Some((offset, element)),
            _ => None,
        }
    }

    /// Where a field of a struct begins, and its type.
    pub fn field<'a>(&'a self, ty: &'a Type, index: usize) -> Option<(u64, &'a Type)> {
        match ty {
            Type::Named(number) => {
                let Type::Struct { fields, .. } = self.body(ty)? else { return None };
                let offset = self.layouts().get(*number)?.as_ref()?.offsets.get(index)?;
                Some((*offset, fields.get(index)?))
            }
            Type::Struct { fields, packed } => {
                let known = self.layouts();
                let (_, offsets) = lay_out(fields.get(..=index)?, *packed, &|number| shape_of(known, number))?;
                Some((*offsets.last()?, &fields[index]))
            }
            _ => None,
        }
    }

    /// The body of a named type; other types are their own bodies. `None`: opaque.
    pub fn body<'a>(&'a self, ty: &'a Type) -> Option<&'a Type> {
        match ty {
            Type::Named(number) => self.structs.get(*number)?.body.as_ref(),
            _ => Some(ty),
        }
    }

    fn shape(&self, ty: &Type) -> Option<Shape> {
        match ty {
            Type::Named(number) => shape_of(self.layouts(), *number),
            // Most types: no layout has to be known for them.
            Type::Int(_) | Type::Pointer | Type::Float(_) => shape(ty, &|_| None),
            _ => {
                let known = self.layouts();
                shape(ty, &|number| shape_of(known, number))
            }
        }
    }

    fn layouts(&self) -> &[Option<StructLayout>] {
        self.layouts.0.get_or_init(|| all_layouts(self))
    }
}

fn shape_of(known: &[Option<StructLayout>], number: usize) -> Option<Shape> {
    Some(known.get(number)?.as_ref()?.shape)
}

/// Lays out structs after those that they contain. What contains itself has no layout.
fn all_layouts(module: &Module) -> Vec<Option<StructLayout>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Entered,
        Done,
    }
    let count = module.structs.len();
    let mut marks = vec![Mark::New; count];
    let mut known: Vec<Option<StructLayout>> = vec![None; count];
    let mut stack: Vec<usize> = Vec::new();
    for first in 0..count {
        stack.push(first);
        while let Some(&number) = stack.last() {
            let body = module.structs[number].body.as_ref();
            match marks[number] {
                Mark::New => {
                    marks[number] = Mark::Entered;
                    if let Some(body) = body {
                        each_named(body, &mut |part| {
                            if marks.get(part) == Some(&Mark::New) {
                                stack.push(part);
                            }
                        });
                    }
                }
                Mark::Entered => {
                    known[number] = body.and_then(|body| struct_layout(body, &known));
                    marks[number] = Mark::Done;
                    stack.pop();
                }
                Mark::Done => _ = stack.pop(),
            }
        }
    }
    known
}

/// The named types in a type, not those behind their names.
fn each_named(ty: &Type, visit: &mut impl FnMut(usize)) {
    match ty {
        Type::Named(number) => visit(*number),
        Type::Array(_, element) | Type::Vector(_, element) => each_named(element, visit),
        Type::Struct { fields, .. } => fields.iter().for_each(|field| each_named(field, visit)),
        _ => {}
    }
}

fn struct_layout(body: &Type, known: &[Option<StructLayout>]) -> Option<StructLayout> {
    let named = |number: usize| shape_of(known, number);
    let (shape, offsets) = match body {
        Type::Struct { fields, packed } => lay_out(fields, *packed, &named)?,
        other => (shape(other, &named)?, Vec::new()),
    };
    let shape = Shape { depth: shape.depth + 1, ..shape };
    (shape.depth <= DEEPEST).then_some(StructLayout { shape, offsets })
}

fn lay_out(fields: &[Type], packed: bool, named: &impl Fn(usize) -> Option<Shape>) -> Option<(Shape, Vec<u64>)> {
    let mut offsets = Vec::with_capacity(fields.len());
    let mut whole = Shape { size: 0, align: 1, depth: 0 };
    for field in fields {
        let field = shape(field, named)?;
        let align = if packed { 1 } else { field.align };
        let offset = whole.size.next_multiple_of(align);
        offsets.push(offset);
        whole.size = offset.checked_add(field.size).filter(|size| *size <= LARGEST)?;
        whole.align = whole.align.max(align);
        whole.depth = whole.depth.max(field.depth);
    }
    whole.size = whole.size.next_multiple_of(whole.align);
    Some((whole, offsets))
}

fn shape(ty: &Type, named: &impl Fn(usize) -> Option<Shape>) -> Option<Shape> {
    let scalar = |size: u64, align: u64| Some(Shape { size, align, depth: 0 });
    match ty {
        Type::Void | Type::Other => None,
        Type::Pointer => scalar(8, 8),
        Type::Int(bits) => {
            let bytes = u64::from(*bits).div_ceil(8).max(1);
            let align = bytes.next_power_of_two().min(16);
            scalar(bytes.next_multiple_of(align), align)
        }
        Type::Float(80) => scalar(16, 16),
        Type::Float(bits) => {
            let bytes = u64::from(*bits).div_ceil(8);
            scalar(bytes, bytes.next_power_of_two())
        }
        Type::Array(count, element) => {
            let element = shape(element, named)?;
            let size = element.size.checked_mul(*count).filter(|size| *size <= LARGEST)?;
            Some(Shape { size, ..element })
        }
        Type::Vector(count, element) => {
            let bits = match **element {
                Type::Int(bits) | Type::Float(bits) => u64::from(bits),
                Type::Pointer => 64,
                _ => return None,
            };
            let bytes = bits.checked_mul(*count)?.div_ceil(8);
            let size = Some(bytes).filter(|bytes| *bytes <= LARGEST)?.next_power_of_two();
            scalar(size, size)
        }
        Type::Struct { fields, packed } => Some(lay_out(fields, *packed, named)?.0),
        Type::Named(number) => named(*number),
    }
}
