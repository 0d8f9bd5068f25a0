//! Linux on `x86_64` and `aarch64`, by its system calls.

// The kernel jumps here with the stack pointer aligned and no return address; a Rust function
// expects to have been called.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "call {start}",
    "ud2",
    start = sym start,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, #0",
    "mov x30, #0",
    "bl {start}",
    "brk #1",
    start = sym start,
);

extern "C" fn start() -> ! {
    exit(crate::run())
}

/// Ends the process.
#[cfg(target_arch = "x86_64")]
pub fn exit(status: u8) -> ! {
    const EXIT: u64 = 60;
    // SAFETY: the system call `exit` takes its argument by value and does not return.
    unsafe {
        core::arch::asm!(
            "syscall",
            in("rax") EXIT,
            in("rdi") u64::from(status),
            options(noreturn, nostack)
        )
    }
}

/// Ends the process.
#[cfg(target_arch = "aarch64")]
pub fn exit(status: u8) -> ! {
    const EXIT: u64 = 93;
    // SAFETY: the system call `exit` takes its argument by value and does not return.
    unsafe {
        core::arch::asm!(
            "svc #0",
            in("x8") EXIT,
            in("x0") u64::from(status),
            options(noreturn, nostack)
        )
    }
}

/// The hosted target's precompiled `core` library names this symbol in its unwind tables. Nothing
/// calls it: a panic ends the program.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

// The four functions that compilers call for moves and comparisons of bytes, which the hosted
// target expects of a C library. Volatile accesses keep each from being compiled into itself.

/// C's `memcpy`: the caller vouches for both ranges, which do not overlap.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for index in 0..count {
        // SAFETY: `index < count`, and the caller vouches for `count` bytes on both sides.
        unsafe { to.add(index).write_volatile(from.add(index).read_volatile()) };
    }
    to
}

/// C's `memmove`: the caller vouches for both ranges, which may overlap.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if to.addr() <= from.addr() {
        // SAFETY: the caller's promise; ascending order reads each byte before it is written.
        return unsafe { memcpy(to, from, count) };
    }
    for index in (0..count).rev() {
        // SAFETY: as in `memcpy`; descending order reads each byte before it is written.
        unsafe { to.add(index).write_volatile(from.add(index).read_volatile()) };
    }
    to
}

/// C's `memset`: the caller vouches for the range.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8 {
    for index in 0..count {
        // SAFETY: `index < count`, and the caller vouches for `count` bytes.
        unsafe { to.add(index).write_volatile(value as u8) };
    }
    to
}

/// C's `memcmp`: the caller vouches for both ranges.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    for index in 0..count {
        // SAFETY: `index < count`, and the caller vouches for `count` bytes on both sides.
        let (a, b) = unsafe { (left.add(index).read_volatile(), right.add(index).read_volatile()) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}
