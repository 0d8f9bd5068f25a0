//! Compiled by rustc for nvptx64-nvidia-cuda, to an assembler file.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x, trap};
use core::sync::atomic::{AtomicU32, Ordering};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe { trap() }
}

fn global_index() -> usize {
    unsafe { (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as usize }
}

/// # Safety
///
/// `x` and `y` have `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
    let i = global_index();
    if i < n as usize {
        unsafe { *y.add(i) = a * *x.add(i) + *y.add(i) };
    }
}

/// How many values there are of each remainder by 16.
///
/// # Safety
///
/// `values` has `n` elements, `bins` has 16.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn histogram(n: u32, values: *const u32, bins: *const AtomicU32) {
    let i = global_index();
    if i < n as usize {
        let bin = unsafe { &*bins.add((*values.add(i) % 16) as usize) };
        bin.fetch_add(1, Ordering::Relaxed);
    }
}

/// c = a * b, square, a thread an element.
///
/// # Safety
///
/// Each matrix has `side * side` elements.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn matmul(side: u32, a: *const f32, b: *const f32, c: *mut f32) {
    let (i, side) = (global_index(), side as usize);
    if i < side * side {
        let (row, column) = (i / side, i % side);
        let products = (0..side)
            .map(|k| unsafe { *a.add(row * side + k) * *b.add(k * side + column) });
        unsafe { *c.add(i) = products.sum() };
    }
}
