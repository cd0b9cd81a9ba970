//! Tests for x86, in AT&T order (`X86_64`) and in Intel order (`X86`).
//!
//! [`table`] cuts the code into columns and cells; [`operand`] and [`instruction`] read what stands in a cell and bring
//! both orders to one: source first. [`facts`] looks a thread over for the widths in which it uses each register, [`lower`]
//! makes it an automaton, and [`execute`] says what each instruction does. [`value`] says how values of each width are kept.

mod execute;
mod facts;
pub mod instruction;
pub mod lower;
pub mod operand;
pub mod register;
pub mod table;
pub mod value;
