//! Whether a value makes a waiting loop go round, from the program's code.
//!
//! A loop that passes at its first look has shown no value that makes it wait ([`crate::spinning`]). But its code is
//! there: what follows the load is followed with the value in question, with the registers and the stack of the thread
//! as they are. If that leads back to the same load and changes nothing but registers and the thread's own stack, then
//! reading the value only means to wait longer. Code that does anything else, or that is not understood, is taken to
//! leave the loop.

mod decode;
mod machine;

use crate::caller::CallerState;
pub use machine::Loaded;
use machine::Machine;

/// How many instructions are followed.
const PATIENCE: u32 = 256;

/// Whether the code after a load of `size` bytes leads back to it with such a value. `stack` is the thread's stack.
/// On another stack, that of a coroutine for example, nothing is known.
pub fn goes_round(caller: &CallerState, loaded: Loaded, size: u32, stack: (usize, usize)) -> bool {
    if !(stack.0..stack.1).contains(&(caller.sp as usize)) {
        return false;
    }
    let mut machine = Machine::new(caller, loaded, size, stack);
    (0..PATIENCE).find_map(|_| machine.step()).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// Where the load that the loop repeats returns to, counted from the beginning of the code.
    const LOAD: usize = 15;

    unsafe extern "C" {
        fn __tsan_atomic32_load();
        fn __tsan_write4();
    }

    /// What follows the load in a loop.
    enum Piece {
        Code(&'static [u8]),
        /// To the beginning, under a condition.
        Jump(u8),
        Call(usize),
    }

    use Piece::{Call, Code, Jump};

    /// Room for code, in reach of the functions that it calls. It is never executed.
    static ROOM: Mutex<[u8; 256]> = Mutex::new([0; 256]);

    /// A loop as compilers make it: `mov esi, 2`, `mov rdi, rbp`, a nop, the load, and then the rest.
    fn code(rest: &[Piece]) -> MutexGuard<'static, [u8; 256]> {
        let mut room = ROOM.lock().unwrap_or_else(PoisonError::into_inner);
        let start = room.as_ptr() as usize;
        let mut code = vec![0xbe, 2, 0, 0, 0, 0x48, 0x89, 0xef, 0x66, 0x90];
        let call = |code: &mut Vec<u8>, target: usize| {
            let next = start + code.len() + 5;
            code.push(0xe8);
            code.extend((target.wrapping_sub(next) as i32).to_le_bytes());
        };
        call(&mut code, start);
        assert_eq!(code.len(), LOAD);
        for piece in rest {
            match piece {
                Code(bytes) => code.extend_from_slice(bytes),
                Jump(condition) => {
                    let offset = -(code.len() as i32 + 6);
                    code.extend([0x0f, 0x80 | condition]);
                    code.extend(offset.to_le_bytes());
                }
                Call(target) => call(&mut code, *target),
            }
        }
        // ud2: nothing that a waiting loop does.
        code.extend([0x0f, 0x0b]);
        room[..code.len()].copy_from_slice(&code);
        room
    }

    const EQUAL: u8 = 4;
    const NOT_EQUAL: u8 = 5;
    const BELOW: u8 = 2;
    const LESS: u8 = 12;

    /// The loop goes round with these of some values, when `rbx` holds 5.
    fn rounds(rest: &[Piece], values: &[u64]) -> Vec<u64> {
        values.iter().copied().filter(|&value| goes_round_with(rest, Loaded::Exactly(value))).collect()
    }

    fn goes_round_with(rest: &[Piece], loaded: Loaded) -> bool {
        let code = code(rest);
        let mut stack = [0u64; 64];
        stack[40] = 7;
        let bounds = stack.as_ptr_range();
        let bounds = (bounds.start as usize, bounds.end as usize);
        let caller = CallerState {
            rbx: 5,
            rbp: (&raw const stack[42]) as u64,
            sp: (&raw const stack[32]) as u64,
            pc: (code.as_ptr() as usize + LOAD) as u64,
            ..CallerState::default()
        };
        goes_round(&caller, loaded, 4, bounds)
    }

    #[test]
    fn values_that_compare_as_the_loop_wants_go_round() {
        const VALUES: [u64; 5] = [0, 4, 5, 6, 0xffff_ffff];
        // cmp ebx, eax
        const WITH_REGISTER: Piece = Code(&[0x39, 0xc3]);
        assert_eq!(rounds(&[WITH_REGISTER, Jump(NOT_EQUAL)], &VALUES), [0, 4, 6, 0xffff_ffff]);
        assert_eq!(rounds(&[WITH_REGISTER, Jump(EQUAL)], &VALUES), [5]);
        // cmp eax, 5
        const WITH_CONSTANT: Piece = Code(&[0x83, 0xf8, 5]);
        assert_eq!(rounds(&[WITH_CONSTANT, Jump(BELOW)], &VALUES), [0, 4]);
        assert_eq!(rounds(&[WITH_CONSTANT, Jump(LESS)], &VALUES), [0, 4, 0xffff_ffff], "with signs");
        // test eax, eax
        assert_eq!(rounds(&[Code(&[0x85, 0xc0]), Jump(EQUAL)], &VALUES), [0]);
        // mov edx, ebx; sub edx, eax; cmp edx, 4
        let difference = Code(&[0x89, 0xda, 0x29, 0xc2, 0x83, 0xfa, 4]);
        assert_eq!(rounds(&[difference, Jump(EQUAL)], &[0, 1, 2]), [1]);
        // movzx edx, al; cmp dl, 255
        assert_eq!(rounds(&[Code(&[0x0f, 0xb6, 0xd0, 0x80, 0xfa, 0xff]), Jump(EQUAL)], &VALUES), [0xffff_ffff]);
    }

    #[test]
    fn the_stack_is_known_and_may_be_written() {
        // mov [rbp - 24], eax; mov eax, [rbp - 24]; cmp eax, [rbp - 16], which is 7
        let by_way_of_the_stack = Code(&[0x89, 0x45, 0xe8, 0x8b, 0x45, 0xe8, 0x3b, 0x45, 0xf0]);
        assert_eq!(rounds(&[by_way_of_the_stack, Jump(NOT_EQUAL)], &[6, 7, 8]), [6, 8]);
        // lea rdi, [rbp - 24], and the write there is announced; cmp ebx, 5
        let announced = [Code(&[0x48, 0x8d, 0x7d, 0xe8]), Call(write_address()), Code(&[0x83, 0xfb, 5]), Jump(EQUAL)];
        assert_eq!(rounds(&announced, &[1]), [1]);
    }

    #[test]
    fn all_values_below_one_go_round_if_a_comparison_says_so() {
        let below = |rest: &[Piece], limits: [u64; 3]| limits.map(|limit| goes_round_with(rest, Loaded::Below(limit)));
        // cmp ebx, eax; and the same the other way round
        for code in [&[0x39, 0xc3], &[0x39, 0xd8]] {
            assert_eq!(below(&[Code(code), Jump(NOT_EQUAL)], [4, 5, 6]), [true, true, false]);
            assert_eq!(below(&[Code(code), Jump(EQUAL)], [4, 5, 6]), [false; 3]);
        }
        assert_eq!(below(&[Code(&[0x39, 0xd8]), Jump(BELOW)], [4, 5, 6]), [true, true, false]);
        assert_eq!(below(&[Code(&[0x39, 0xd8]), Jump(LESS)], [4, 5, 6]), [false; 3], "signs are not known");
        // mov [rbp - 24], eax; mov eax, [rbp - 24]; cmp eax, [rbp - 16], which is 7
        let by_way_of_the_stack = [Code(&[0x89, 0x45, 0xe8, 0x8b, 0x45, 0xe8, 0x3b, 0x45, 0xf0]), Jump(NOT_EQUAL)];
        assert_eq!(below(&by_way_of_the_stack, [6, 7, 8]), [true, true, false]);
        // The same with a byte of it changed: mov byte ptr [rbp - 23], 1
        let changed =
            [Code(&[0x89, 0x45, 0xe8, 0xc6, 0x45, 0xe9, 1, 0x8b, 0x45, 0xe8, 0x3b, 0x45, 0xf0]), Jump(NOT_EQUAL)];
        assert_eq!(below(&changed, [6, 7, 8]), [false; 3]);
        // add eax, 1; cmp ebx, eax
        assert_eq!(below(&[Code(&[0x83, 0xc0, 1, 0x39, 0xc3]), Jump(NOT_EQUAL)], [4, 5, 6]), [false; 3]);
    }

    #[test]
    fn only_the_stack_of_the_thread_is_read() {
        // mov eax, eax; cmp dword ptr [rsp + rax * 8], 0: the index leads beyond the end, where nothing need be
        let indexed =
            [Code(&[0x89, 0xc0, 0x83, 0x3c, 0xc4, 0]), Jump(EQUAL), Code(&[0x83, 0x3c, 0xc4, 0]), Jump(NOT_EQUAL)];
        assert_eq!(rounds(&indexed, &[0, 1, 0x0fff_ffff]), [0, 1]);
        // ret, to an address that is no code of the program
        assert_eq!(rounds(&[Code(&[0xc3])], &[0]), []);
        let elsewhere = CallerState { sp: 0x1000, pc: 0x2000, ..CallerState::default() };
        assert!(!goes_round(&elsewhere, Loaded::Exactly(0), 4, (0x8000, 0x9000)));
    }

    #[test]
    fn what_others_see_leaves_the_loop() {
        // mov [r12], eax, with an address outside the stack
        assert_eq!(rounds(&[Code(&[0x41, 0x89, 0x04, 0x24, 0x39, 0xc3]), Jump(NOT_EQUAL)], &[0]), []);
        // xor edi, edi, and a write there is announced
        let announced = [Code(&[0x31, 0xff]), Call(write_address()), Code(&[0x83, 0xfb, 5]), Jump(EQUAL)];
        assert_eq!(rounds(&announced, &[1]), []);
    }

    #[test]
    fn what_is_not_known_decides_nothing() {
        // cmp ecx, 5: a register that calls do not keep
        assert_eq!(rounds(&[Code(&[0x83, 0xf9, 5]), Jump(EQUAL), Code(&[0x83, 0xf9, 5]), Jump(NOT_EQUAL)], &[1]), []);
        // The value of another load.
        let other = [Call(load_address()), Code(&[0x85, 0xc0]), Jump(EQUAL)];
        assert_eq!(rounds(&other, &[0, 1]), []);
        // But it may be there: test ebx, ebx
        assert_eq!(rounds(&[Call(load_address()), Code(&[0x85, 0xdb]), Jump(NOT_EQUAL)], &[0]), [0]);
        // A loop without an end that never comes back to the load.
        assert_eq!(rounds(&[Code(&[0xeb, 0xfe])], &[0]), []);
    }

    fn load_address() -> usize {
        __tsan_atomic32_load as *const () as usize
    }

    fn write_address() -> usize {
        __tsan_write4 as *const () as usize
    }
}
