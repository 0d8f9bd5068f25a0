//! Functional execution of kernels of matrices and of textures.
//!
//! Their instructions do the work of many: budgets are for the mix of a loop as compilers write it.

use std::hint::black_box;

use strata_compiler::CompileOptions;
use strata_simt::texture::{
    AddressMode, Dimensions, Filter, Format, Image, Object, Sampler, Texture,
};
use strata_simt::{Device, Executable, Launch, execute, prepare};

use crate::work::{Prepared, Work};

/// All of it.
pub const WORK: &[Work] = &[
    Work { name: "execute_matrix", prepare: || work(MATRIX, |_| 0) },
    Work { name: "execute_texture", prepare: || work(TEXTURE, texture) },
];

/// Warps of a CTA, and CTAs.
const WARPS: u32 = 8;
const CTAS: u32 = 4;
/// Times around the loop.
const STEPS: u32 = 32;
/// Texels of a side of the texture.
const SIDE: u32 = 64;

/// A product of tiles: two `ldmatrix`, two `mma.m16n8k16` of f16 and what moves the addresses.
const MATRIX: &str = "
.version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 tiles[8192];
.visible .entry k(.param .u64 out, .param .u64 object, .param .u32 steps)
{
    .reg .b32 %r<32>; .reg .f32 %f<16>; .reg .b64 %d<8>; .reg .pred %p;
    ld.param.u64 %d0, [out];
    ld.param.u32 %r0, [steps];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tiles;
    shl.b32 %r3, %r1, 4;
    add.u32 %r2, %r2, %r3;
    mov.b32 %r4, 0x3c004000;
    st.shared.v4.b32 [%r2], {%r4, %r4, %r4, %r4};
    st.shared.v4.b32 [%r2+4096], {%r4, %r4, %r4, %r4};
    bar.sync 0;
    mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000; mov.f32 %f5, 0f00000000;
    mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000;
again:
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r2];
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r12, %r13, %r14, %r15}, [%r2+4096];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3},
        {%r8, %r9, %r10, %r11}, {%r12, %r13}, {%f0, %f1, %f2, %f3};
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f4, %f5, %f6, %f7},
        {%r8, %r9, %r10, %r11}, {%r14, %r15}, {%f4, %f5, %f6, %f7};
    xor.b32 %r2, %r2, 512;
    add.u32 %r0, %r0, -1;
    setp.ne.u32 %p, %r0, 0;
    @%p bra again;
    shl.b32 %r3, %r1, 4;
    cvt.u64.u32 %d1, %r3;
    add.u64 %d0, %d0, %d1;
    add.f32 %f0, %f0, %f4;
    st.global.v4.f32 [%d0], {%f0, %f1, %f2, %f3};
    ret;
}
";

/// A picture read between its texels: one `tex` with linear filtering, and what moves the place.
const TEXTURE: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 object, .param .u32 steps)
{
    .reg .b32 %r<8>; .reg .f32 %f<16>; .reg .b64 %d<8>; .reg .pred %p;
    ld.param.u64 %d0, [out];
    ld.param.u64 %d1, [object];
    ld.param.u32 %r0, [steps];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f0, %r1;
    mul.f32 %f0, %f0, 0f3e400000;
    mov.f32 %f1, 0f3f400000;
    mov.f32 %f8, 0f00000000;
again:
    tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f0, %f1}];
    add.f32 %f0, %f0, 0f3ea00000;
    add.f32 %f1, %f1, 0f3f900000;
    add.f32 %f8, %f8, %f4;
    fma.rn.f32 %f8, %f5, 0f3f000000, %f8;
    add.u32 %r0, %r0, -1;
    setp.ne.u32 %p, %r0, 0;
    @%p bra again;
    shl.b32 %r3, %r1, 4;
    cvt.u64.u32 %d2, %r3;
    add.u64 %d0, %d0, %d2;
    st.global.f32 [%d0], %f8;
    ret;
}
";

fn texture(device: &mut Device) -> u64 {
    let format = Format::from_name("f32x2").expect("a format");
    let texels: Vec<u8> =
        (0..2 * SIDE * SIDE).flat_map(|n| (n as f32 * 0.25).to_le_bytes()).collect();
    let address = device.alloc("texels", texels.len() as u64, 256).expect("memory");
    device.write(address, &texels).expect("just allocated");
    let image = Image::packed(address, Dimensions::Two, [SIDE, SIDE, 1], format);
    let sampler = Sampler {
        address_modes: [AddressMode::Clamp; 3],
        filter: Filter::Linear,
        normalized: false,
    };
    device.create_object("texture", Object::Texture(Texture { image, sampler })).expect("a texture")
}

fn work(text: &str, object: fn(&mut Device) -> u64) -> Prepared {
    let parsed = strata_ptx::parse(text);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let module = parsed.module;
    let kernel = module.kernel("k").expect("the kernel");
    let program =
        strata_compiler::compile(&module, kernel, CompileOptions::default()).expect("it compiles");
    let executable: Executable = prepare(&module, &program).expect("it can be executed");
    let mut device = Device::with_limit(64, Device::DEFAULT_LIMIT);
    device.load_module(&module).expect("variables fit");
    let object = object(&mut device);
    let output = device.alloc("out", u64::from(16 * 32 * WARPS), 256).expect("memory");
    let arguments = [output, object].into_iter().flat_map(u64::to_le_bytes);
    let launch = Launch {
        arguments: arguments.chain(STEPS.to_le_bytes()).collect(),
        max_instructions: 10_000_000,
        record_accesses: false,
        ..Launch::new([CTAS, 1, 1], [32 * WARPS, 1, 1])
    };
    Box::new(move || {
        let outcome = execute(&mut device, &executable, &launch).expect("it runs to its end");
        black_box(outcome).warp_instructions
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_executed_as_often_as_they_say() {
        for work in WORK {
            let mut run = (work.prepare)();
            let instructions = run();
            assert!(instructions > u64::from(8 * STEPS * WARPS * CTAS), "{}", work.name);
            assert_eq!(run(), instructions);
        }
    }
}
