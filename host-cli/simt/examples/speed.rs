//! Prints the speed of functional execution on two kernels, for a quick look; the recorded numbers
//! come from the benches.
//!
//! `cargo run --release -p strata-simt --example speed`

use std::time::Instant;

use strata_ptx::module::FunctionId;
use strata_simt::{Device, Launch, Record, execute, prepare};

const KERNELS: &str = include_str!("../tests/ptx/kernels.ptx");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let module = strata_ptx::parse(KERNELS).module;
    let only = std::env::args().nth(1);
    for (kernel, n, grid, block, shared) in [
        ("matmul", 256u32, [16, 16, 1], [16, 16, 1], 0),
        ("nbody", 2048, [16, 1, 1], [128, 1, 1], 2048),
        ("vectoradd", 1 << 20, [1 << 13, 1, 1], [128, 1, 1], 0),
    ] {
        if only.as_ref().is_some_and(|only| only != kernel) {
            continue;
        }
        let id = module.functions.iter().position(|f| f.name == kernel).ok_or("no kernel")?;
        let program = strata_compiler::compile(&module, FunctionId(id as u32))
            .map_err(|problems| format!("{problems:?}"))?;
        let executable = prepare(&module, &program).map_err(|problems| format!("{problems:?}"))?;
        let mut device = Device::new();
        device.load_module(&module)?;
        let mut arguments = Vec::new();
        let buffers = if kernel == "nbody" { 2 } else { 3 };
        for buffer in 0..buffers {
            let bytes = u64::from(n) * if kernel == "matmul" { u64::from(n) * 4 } else { 16 };
            let address = device.alloc(&format!("{buffer}"), bytes, 256)?;
            let values: Vec<u8> =
                (0..bytes / 4).flat_map(|i| (i as f32 % 17.0).to_le_bytes()).collect();
            device.write(address, &values)?;
            arguments.extend(address.to_le_bytes());
        }
        arguments.extend(n.to_le_bytes());
        let launch = Launch {
            arguments,
            dynamic_shared: shared,
            record: Record::All,
            ..Launch::new(grid, block)
        };
        let start = Instant::now();
        let outcome = execute(&mut device, &executable, &launch)?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{kernel}: {} warp instructions, {seconds:.3} s, {:.2} M/s, {} distinct paths",
            outcome.warp_instructions,
            outcome.warp_instructions as f64 / seconds / 1e6,
            outcome.paths.len()
        );
    }
    Ok(())
}
