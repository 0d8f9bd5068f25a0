//! What the fuzz target and the tests share: PTX made of any bytes, and what must hold of it.
//!
//! Not part of the interface: it may change at any time.

mod generate;

use strata_ptx::module::{FunctionId, Module};

pub use generate::{Choices, generate};

use crate::checker::{check as check_program, check_levels, check_order};
use crate::compile::in_order;
use crate::hierarchy::{
    AccessCosts, Code, Costs, DualWrites, HierarchyConfig, LevelCosts, Lrf, fit,
};
use crate::inline::inline;
use crate::kernel::Kernel;
use crate::limits::RegisterLimit;
use crate::{CompileOptions, Order, allocate, schedule};

/// Longest PTX that is compiled. Unit: bytes.
const TEXT_MAX: usize = 24 << 10;
/// Most kernels of a module that are compiled.
const KERNELS_MAX: usize = 3;
/// Most instructions of a kernel, inlined calls included. The checker's time grows faster.
const INSTRUCTIONS_MAX: usize = 500;
/// Bytes that say how a module is compiled.
const OPTIONS: usize = 4;

/// Whether bytes are PTX as they stand, and not choices of the generator.
pub fn is_text(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(b'.' | b'/'))
}

/// Compiles PTX with few registers and with enough, fits it to a hierarchy, and asserts that the
/// checkers accept what came of it. Text that begins like PTX is taken as it is, with options that
/// its length chooses; other bytes are options and the generator's choices.
///
/// # Panics
///
/// When a checker rejects what the compiler made, or when generated PTX is refused.
pub fn check(bytes: &[u8]) {
    if is_text(bytes) {
        let parsed = strata_ptx::parse_bytes(&bytes[..bytes.len().min(TEXT_MAX)]);
        if parsed.diagnostics.is_empty() {
            let length = bytes.len() as u32;
            compile_all(&parsed.module, length.wrapping_mul(0x9E37_79B9).to_le_bytes());
        }
        return;
    }
    let mut options = [0; OPTIONS];
    let (head, rest) = bytes.split_at(bytes.len().min(OPTIONS));
    options[..head.len()].copy_from_slice(head);
    let text = generate(&mut Choices::new(rest));
    let parsed = strata_ptx::parse(&text);
    assert!(parsed.diagnostics.is_empty(), "{:?} in\n{text}", parsed.diagnostics);
    let compiled = compile_all(&parsed.module, options);
    assert!(compiled == 1, "{compiled} kernels compiled of\n{text}");
}

/// Compiles the first kernels; gives the number of those that could be compiled.
fn compile_all(module: &Module, options: [u8; OPTIONS]) -> usize {
    let ids: Vec<FunctionId> = module.kernels().map(|(id, _)| id).take(KERNELS_MAX).collect();
    ids.into_iter().filter(|&id| compile_one(module, id, options)).count()
}

/// Compiles a kernel without a limit and with the one that the options name.
fn compile_one(module: &Module, id: FunctionId, options: [u8; OPTIONS]) -> bool {
    let Ok(kernel) = inline(module, id) else { return false };
    if kernel.instructions.len() > INSTRUCTIONS_MAX {
        return false;
    }
    let order = Order::ALL[usize::from(options[0] % 4)];
    let kernel = match order {
        Order::Ptx => kernel,
        _ => reordered(&kernel, order),
    };
    let few = RegisterLimit::new(RegisterLimit::MIN + u16::from(options[1] % 24));
    let config = config(options);
    [None, few].into_iter().all(|limit| proved(&kernel, limit, &config))
}

/// The kernel in another order, which must pass the checker of orders, and what is made of it
/// without a limit.
fn reordered(kernel: &Kernel, order: Order) -> Kernel {
    let reordered = schedule(kernel, order).expect("a small kernel can be reordered");
    if let Err(violations) = check_order(kernel, &reordered) {
        panic!("{} of {} in order {}", violations[0], kernel.name, order.name());
    }
    let program = in_order(kernel, CompileOptions { registers: None, order });
    let program = program.expect("a small kernel can be allocated");
    let is_plain = order == Order::Close && check_program(kernel, &program).is_ok();
    if let Err(violations) = check_program(&reordered.kernel, &program)
        && !is_plain
    {
        panic!("{} of {} in order {}", violations[0], kernel.name, order.name());
    }
    reordered.kernel
}

/// Whether a kernel can be compiled. What came of it must pass both checkers.
fn proved(kernel: &Kernel, limit: Option<RegisterLimit>, config: &HierarchyConfig) -> bool {
    let Ok(program) = allocate(kernel, limit) else { return false };
    if let Err(violations) = check_program(kernel, &program) {
        panic!("{} of {} with {limit:?}", violations[0], kernel.name);
    }
    let code = Code::new(&program).expect("a small program");
    let hierarchy = fit(&code, config).expect("a good config");
    if let Err(violations) = check_levels(kernel, &program, &hierarchy, config) {
        panic!("{} of {} with {limit:?} in {config:?}", violations[0], kernel.name);
    }
    true
}

/// A hierarchy by the bits of the options.
pub(crate) fn config(options: [u8; OPTIONS]) -> HierarchyConfig {
    let [_, _, sizes, switches] = options;
    let on = |bit: u8| switches >> bit & 1 == 1;
    let lrf = [Lrf::None, Lrf::Unified, Lrf::Split][usize::from(sizes >> 3) % 3];
    let writes =
        [DualWrites::Any, DualWrites::SameName, DualWrites::LastResultOnly, DualWrites::Never];
    HierarchyConfig {
        orf_entries: 1 + sizes % 8,
        lrf,
        forward_branches: on(0),
        read_operands: on(1),
        partial_ranges: on(2),
        dual_writes: writes[usize::from(switches >> 4) % 4],
        past_deschedules: false,
        past_backward_branches: on(3),
        costs: costs(lrf),
    }
}

/// Three levels, each dearer than the one above, as in `[DISS]` Tables 4.5 and 4.6.
fn costs(lrf: Lrf) -> Costs {
    let level = |read, write| {
        let access =
            |wire| AccessCosts { read: read + wire, write: write + wire, beside_main: write };
        LevelCosts { private: access(0), shared: access(1_500) }
    };
    Costs {
        main: level(15_600, 18_600),
        orf: level(2_720, 5_920),
        lrf: (lrf != Lrf::None).then(|| level(1_080, 2_380)),
    }
}
