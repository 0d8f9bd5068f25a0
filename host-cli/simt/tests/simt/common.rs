//! From PTX text to results, for the tests of this folder.

use strata_compiler::checker::{check, check_levels};
use strata_compiler::hierarchy::{
    AccessCosts, Code, Costs, DualWrites, HierarchyConfig, LevelCosts, Lrf, fit,
};
use strata_compiler::inline::inline;
use strata_compiler::program::Program;
use strata_compiler::{CompileOptions, RegisterLimit};
use strata_ptx::diagnostic::Diagnostic;
use strata_ptx::module::{FunctionId, Module};
use strata_simt::{Device, Executable, Fault, Launch, LaunchOutcome, prepare};

/// A module whose kernels can be launched.
pub(crate) struct Bench {
    pub(crate) module: Module,
    pub(crate) device: Device,
    /// Registers that kernels may have.
    pub(crate) registers: Option<RegisterLimit>,
}

impl Bench {
    /// Parses a module and loads its variables.
    pub(crate) fn new(text: &str) -> Self {
        let parsed = strata_ptx::parse(text);
        let complaints: Vec<String> =
            parsed.diagnostics.iter().map(|d| format!("{:?} {}", d.span, d.message)).collect();
        assert!(!parsed.has_errors(), "{complaints:#?}");
        let module = parsed.module;
        let mut device = Device::with_limit(module.address_bits, Device::DEFAULT_LIMIT);
        device.load_module(&module).expect("variables fit");
        Self { module, device, registers: None }
    }

    /// Compiles and decodes a kernel.
    pub(crate) fn prepare(&self, kernel: &str) -> Result<Executable, Vec<Diagnostic>> {
        prepare(&self.module, &self.compile(kernel)?)
    }

    /// Compiles a kernel.
    pub(crate) fn compile(&self, kernel: &str) -> Result<Program, Vec<Diagnostic>> {
        let options = CompileOptions { registers: self.registers, ..CompileOptions::default() };
        strata_compiler::compile(&self.module, self.id(kernel), options)
    }

    fn id(&self, kernel: &str) -> FunctionId {
        self.module.kernel(kernel).unwrap_or_else(|| panic!("no kernel `{kernel}`"))
    }

    /// Compiles and decodes a kernel, its values in a hierarchy that it was fitted to. Registers and
    /// levels are proved by the checkers.
    pub(crate) fn at_levels(&self, kernel: &str, config: &HierarchyConfig) -> Executable {
        let program = self.compile(kernel).expect("compiles");
        let hierarchy = fit(&Code::new(&program).expect("small"), config).expect("a good config");
        let inlined = inline(&self.module, self.id(kernel)).expect("it was inlined before");
        check(&inlined, &program).expect("the registers are right");
        check_levels(&inlined, &program, &hierarchy, config).expect("the levels are right");
        let executable = prepare(&self.module, &program).expect("can be executed");
        executable.with_levels(&program, &hierarchy.placements).expect("fitted to it")
    }

    /// Allocates a buffer of words.
    pub(crate) fn words(&mut self, name: &str, words: &[u32]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let address = self.device.alloc(name, bytes.len() as u64, 256).expect("memory");
        self.device.write(address, &bytes).expect("just allocated");
        address
    }

    /// Allocates a buffer of numbers.
    pub(crate) fn floats(&mut self, name: &str, values: &[f32]) -> u64 {
        let words: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        self.words(name, &words)
    }

    /// Reads words back.
    pub(crate) fn read(&self, address: u64, count: usize) -> Vec<u32> {
        let bytes = self.device.read(address, 4 * count as u64).expect("inside the buffer");
        bytes.as_chunks::<4>().0.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect()
    }

    /// Runs a kernel.
    pub(crate) fn run(&mut self, kernel: &str, launch: &Launch) -> Result<LaunchOutcome, Fault> {
        let executable = match self.prepare(kernel) {
            Ok(executable) => executable,
            Err(problems) => panic!("{problems:#?}"),
        };
        strata_simt::execute(&mut self.device, &executable, launch)
    }
}

/// Hierarchies in turn: one to eight entries, each without a last result file, and with either kind;
/// from number 24 with some of the optimisations off, and with restrictions of the encoding.
pub(crate) fn config(number: u64) -> HierarchyConfig {
    let level = |energy| {
        let access = AccessCosts { read: energy, write: energy, beside_main: energy };
        LevelCosts { private: access, shared: access }
    };
    let lrf = [Lrf::None, Lrf::Unified, Lrf::Split][number as usize % 3];
    let switches = number / 24;
    let dual_writes =
        [DualWrites::Any, DualWrites::SameName, DualWrites::LastResultOnly, DualWrites::Never];
    HierarchyConfig {
        orf_entries: 1 + (number / 3 % 8) as u8,
        lrf,
        forward_branches: switches & 1 == 0,
        read_operands: switches & 2 == 0,
        partial_ranges: switches & 4 == 0,
        dual_writes: dual_writes[(switches ^ switches >> 2) as usize % 4],
        past_deschedules: false,
        past_backward_branches: false,
        costs: Costs { main: level(10), orf: level(3), lrf: (lrf != Lrf::None).then(|| level(1)) },
    }
}

/// A parameter block.
#[derive(Default)]
pub(crate) struct Arguments(pub Vec<u8>);

impl Arguments {
    pub(crate) fn u64(mut self, value: u64) -> Self {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn u32(mut self, value: u32) -> Self {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self.0.extend(value.to_le_bytes());
        self
    }
}

/// A launch of some CTAs of some threads, with a budget that no test needs.
pub(crate) fn launch(grid: u32, block: u32, arguments: Arguments) -> Launch {
    Launch {
        arguments: arguments.0,
        max_instructions: 10_000_000,
        record_accesses: false,
        ..Launch::new([grid, 1, 1], [block, 1, 1])
    }
}

/// A reproducible stream of numbers (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (self.next() >> 33) as u32 % limit
    }

    /// A number in `[0, 1)` with few digits.
    pub(crate) fn unit(&mut self) -> f32 {
        self.below(1 << 16) as f32 / 65536.0
    }
}
