//! `y = a * x + y` under two designs: what the arrays hold, the cycles, and the energy.

use strata::{Design, Error, Kernel, Launch, Mode, measure};

const N: usize = 10_000;

fn main() -> Result<(), Error> {
    let x: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let mut y = vec![1.0_f32; N];
    let kernel = Kernel::new(include_str!("saxpy.ptx"))?;
    let launch = Launch::new(&kernel, N.div_ceil(256) as u32, 256)
        .array(&x)
        .array_mut(&mut y)
        .scalar(0.5_f32)
        .scalar(N as u32);
    let designs = [Design::new("isca11")?, Design::new("isca11-rfc6")?];
    let measured = measure(launch, &designs, Mode::Cycle)?;
    assert!(x.iter().zip(&y).all(|(x, y)| *y == 0.5 * x + 1.0));
    for report in &measured.reports {
        let (cycles, energy) = (report.cycles().unwrap_or(0), report.energy_fj().unwrap_or(0));
        println!("{}: {cycles} cycles, {:.1} nJ", report.design, energy as f64 / 1e6);
    }
    Ok(())
}
