//! The launches of the workloads as files, for `capture.py`.

use std::path::Path;

use strata_workload::plan::{Argument, LaunchStep, LaunchTarget};
use strata_workload::{Options, Prepared, Toolchain};

use super::prepared;

/// Writes what a GPU has to do for a workload: `plan.tsv`, the PTX, and contents of buffers.
struct Exporter<'a> {
    prepared: &'a Prepared,
    folder: &'a Path,
    lines: Vec<String>,
    writes: usize,
    /// Launches of the workload, and how many of them are written.
    launches: u64,
    done: u64,
}

impl Exporter<'_> {
    fn file(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.folder.join(name), bytes).expect("the folder can be written");
    }

    /// The block of a kernel's parameters, and where in it addresses of buffers go.
    fn parameters(&self, step: &LaunchStep) -> (Vec<u8>, Vec<String>) {
        let program = &self.prepared.programs[step.kernel];
        let (mut block, mut pointers) = (Vec::new(), Vec::new());
        for (argument, variable) in step.arguments.iter().zip(&program.variables) {
            place(argument, variable.offset as usize, &mut block, &mut pointers);
        }
        (block, pointers)
    }
}

fn place(argument: &Argument, at: usize, block: &mut Vec<u8>, pointers: &mut Vec<String>) {
    let bytes = match argument {
        Argument::Buffer { index, offset } => {
            pointers.push(format!("{at}:{index}:{offset}"));
            vec![0; 8]
        }
        Argument::Scalar(scalar) => scalar.bytes(),
        Argument::Bytes(bytes) => bytes.clone(),
        Argument::Structure(fields) => {
            for (own, field) in fields {
                place(field, at + *own as usize, block, pointers);
            }
            return;
        }
        Argument::Object(_) => panic!("a workload has a texture: `capture.py` makes none"),
    };
    block.resize(block.len().max(at + bytes.len()), 0);
    block[at..at + bytes.len()].copy_from_slice(&bytes);
}

impl LaunchTarget for Exporter<'_> {
    type Error = std::convert::Infallible;

    fn write(&mut self, buffer: usize, bytes: &[u8]) -> Result<(), Self::Error> {
        let name = format!("write{}.bin", self.writes);
        self.file(&name, bytes);
        self.lines.push(format!("write\t{buffer}\t{name}"));
        self.writes += 1;
        Ok(())
    }

    /// Phases that depend on results end where they ended when the workload was executed.
    fn is_zero(&mut self, _buffer: usize) -> Result<bool, Self::Error> {
        Ok(self.done == self.launches)
    }

    fn launch(&mut self, _index: u64, step: &LaunchStep) -> Result<(), Self::Error> {
        let (block, pointers) = self.parameters(step);
        let kernel = &self.prepared.plan.kernels[step.kernel];
        let bytes: Vec<String> = block.iter().map(|byte| format!("{byte:02x}")).collect();
        let bytes = bytes.concat();
        let sides = |of: [u32; 3]| of.map(|side| side.to_string()).join(",");
        let (grid, block, shared) = (sides(step.grid), sides(step.block), step.dynamic_shared);
        let pointers = pointers.join(",");
        let line = format!("launch\t{kernel}\t{grid}\t{block}\t{shared}\t{bytes}\t{pointers}");
        self.lines.push(line);
        self.done += 1;
        Ok(())
    }
}

/// Writes a folder for each workload.
pub(super) fn export(toolchain: Toolchain, root: &Path) {
    for (name, workload, prepared) in prepared(toolchain) {
        let folder = root.join(name);
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let mut launches = 0;
        prepared.execute(&Options::default(), |_| launches += 1).expect("it runs");
        let (lines, writes, done) = (Vec::new(), 0, 0);
        let mut exporter =
            Exporter { prepared: &prepared, folder: &folder, lines, writes, launches, done };
        exporter.file("kernels.ptx", workload.ptx.as_bytes());
        for (index, buffer) in prepared.plan.buffers.iter().enumerate() {
            exporter.file(&format!("before{index}.bin"), &buffer.initial());
            let variable = buffer.variable.as_deref().unwrap_or_default();
            let (name, bytes) = (&buffer.name, buffer.bytes());
            exporter.lines.push(format!("buffer\t{name}\t{bytes}\t{variable}"));
        }
        assert_eq!(prepared.plan.drive(&mut exporter).expect("it was driven"), launches);
        exporter.file("plan.tsv", exporter.lines.join("\n").as_bytes());
    }
}
