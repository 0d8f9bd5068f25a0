//! Parses PTX files and prints everything that is wrong with them.

use strata_ptx::diagnostic::{LineIndex, render};

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let text = String::from_utf8_lossy(&bytes);
        let lines = LineIndex::new(&text);
        let parsed = strata_ptx::parse_bytes(&bytes);
        for diagnostic in &parsed.diagnostics {
            write!(out, "{}", render(diagnostic, &path, &text, &lines))?;
        }
        let functions = parsed.module.functions.len();
        let instructions: usize = parsed.module.functions.iter().map(|f| f.body.len()).sum();
        writeln!(out, "{path}: {functions} functions, {instructions} instructions")?;
    }
    Ok(())
}
