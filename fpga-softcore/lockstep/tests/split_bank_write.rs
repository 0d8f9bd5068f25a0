//! Split bank write in hardware beside the model, clock by clock: the same reads and writes can
//! start, and every bank is as busy.

/// Says in the test runner's summary that nothing was compared.
#[cfg(not(verilated))]
#[test]
#[cfg_attr(not(verilated), ignore = "verilator is not installed: cargo xtask setup")]
fn the_hardware_is_the_model() {}

#[cfg(verilated)]
mod split_bank_write {
    use strata_core::split_bank_write::SplitBankWrite;
    use strata_lockstep::random::Random;
    use strata_lockstep::split_bank_write::{
        Elaboration, Inputs, Outputs, READ, Rtl, SMALLEST, Settings, USUAL, WRITE,
    };

    /// Clocks that the hardware runs at a time.
    const BATCH: u64 = 512;

    /// Cycles of a read and of a write.
    const CYCLES: [(u8, u8); 7] = [(1, 1), (1, 3), (1, 15), (4, 1), (15, 15), (2, 8), (7, 6)];

    /// How often each tested situation occurred.
    #[derive(Debug, Default)]
    struct Coverage {
        /// Reads and writes that started beside the other.
        beside: [u64; 2],
        /// That could not start.
        refused: [u64; 2],
        /// A read and a write that started in one clock, in different banks.
        both: u64,
        /// Busy banks that were cleared.
        cleared: u64,
    }

    struct Bench {
        banks: u32,
        cycles: (u8, u8),
        split: bool,
        /// The banks are the model's first ones; it has no read counter to look at, so that both
        /// are kept here: when the last read ends, and where it was.
        model: SplitBankWrite,
        reads: [(u64, u8); 16],
        rtl: Rtl,
        now: u64,
        coverage: Coverage,
    }

    const fn settings((read_cycles, write_cycles): (u8, u8), split: bool) -> Settings {
        Settings { read_cycles, write_cycles, split }
    }

    impl Bench {
        fn new(elaboration: Elaboration, cycles: (u8, u8), split: bool) -> Self {
            Self {
                banks: u32::from(elaboration.banks),
                cycles,
                split,
                model: SplitBankWrite::new(cycles.0, cycles.1, split),
                reads: [(0, 0); 16],
                rtl: Rtl::new(elaboration, settings(cycles, split)),
                now: 0,
                coverage: Coverage::default(),
            }
        }

        fn run(&mut self, seed: u64, clocks: u64, clears: bool) {
            let mut random = Random(seed);
            for first in (0..clocks).step_by(BATCH as usize) {
                let (mut inputs, mut expected) = (Vec::new(), Vec::new());
                for _ in 0..BATCH {
                    let (port, outputs) = self.clock(&mut random, clears);
                    inputs.push(port);
                    expected.push(outputs);
                }
                let mut outputs = vec![Outputs::default(); inputs.len()];
                self.rtl.run(&inputs, &[], &mut outputs, &mut []);
                for (index, (outputs, expected)) in outputs.iter().zip(&expected).enumerate() {
                    let mut seen = *outputs;
                    // Subarrays of banks that are not busy mean nothing.
                    seen.unused = 0;
                    seen.read *= u8::from(expected.read_busy > 0);
                    seen.written *= u8::from(expected.write_busy > 0);
                    assert_eq!(
                        seen,
                        *expected,
                        "seed {seed}, {:?} cycles, split {}: clock {} with {:?}, hardware left",
                        self.cycles,
                        self.split,
                        first + index as u64,
                        inputs[index]
                    );
                }
            }
        }

        /// The state of the ports, compared with the model's.
        fn clock(&mut self, random: &mut Random, clears: bool) -> (Inputs, Outputs) {
            let now = self.now;
            let mut bank = || random.below(self.banks) as u8;
            let [read_bank, write_bank, other] = [bank(), bank(), bank()];
            let [read_subarray, write_subarray] = [random.below(2) as u8, random.below(2) as u8];
            let (read, write) = (usize::from(read_bank), usize::from(write_bank));
            let can_read = self.model.can_read(read, read_subarray, now);
            let can_write = self.model.can_write(write, write_subarray, now);
            let beside = self.model.write_busy(read, now) > 0;
            self.coverage.refused[0] += u64::from(!can_read);
            self.coverage.refused[1] += u64::from(!can_write);
            let mut start = 0;
            if can_read && random.chance(60) {
                start |= READ;
                self.coverage.beside[0] += u64::from(beside);
            }
            if can_write && random.chance(60) && (start == 0 || read != write) {
                start |= WRITE;
                self.coverage.beside[1] += u64::from(self.reads[write].0 > now);
            }
            self.coverage.both += u64::from(start == READ | WRITE);
            if start & READ != 0 {
                self.reads[read] = (self.model.read(read, read_subarray, now), read_subarray);
            }
            if start & WRITE != 0 {
                self.model.write(write, write_subarray, now);
            }
            // The bank that has just started an access, or any.
            let debug_bank = match random.below(3) {
                0 => read_bank,
                1 => write_bank,
                _ => other,
            };
            let clear = clears && random.chance(3);
            if clear {
                let busy = |bank: &usize| self.model.write_busy(*bank, now + 1) > 0;
                self.coverage.cleared += (0..16).filter(busy).count() as u64;
                self.model = SplitBankWrite::new(self.cycles.0, self.cycles.1, self.split);
                self.reads = [(0, 0); 16];
            }
            self.now += 1;
            let inputs = Inputs {
                clear,
                read_bank,
                read_subarray,
                write_bank,
                write_subarray,
                start,
                debug_bank,
                unused: 0,
            };
            let shown = usize::from(debug_bank);
            let read_busy = self.reads[shown].0.saturating_sub(self.now) as u8;
            let write_busy = self.model.write_busy(shown, self.now) as u8;
            let outputs = Outputs {
                can_read,
                beside,
                can_write,
                unused: 0,
                read_busy,
                read: self.reads[shown].1 * u8::from(read_busy > 0),
                write_busy,
                written: self.model.written_subarray(shown) * u8::from(write_busy > 0),
            };
            (inputs, outputs)
        }
    }

    #[test]
    fn every_number_of_cycles() {
        for (elaboration, seed) in [(USUAL, 100), (SMALLEST, 200)] {
            for (index, &cycles) in CYCLES.iter().enumerate() {
                for split in [false, true] {
                    let mut bench = Bench::new(elaboration, cycles, split);
                    bench.run(seed + index as u64, 8_192, index % 2 == 1);
                    let Coverage { beside, refused, both, cleared } = bench.coverage;
                    assert!(both > 0);
                    if index % 2 == 1 && cycles.1 > 1 {
                        assert!(cleared > 0);
                    }
                    let (reads, writes) = (cycles.0 > 1, cycles.1 > 1);
                    assert_eq!(beside.map(|times| times > 0), [writes && split, reads && split]);
                    assert_eq!(refused.map(|times| times > 0), [reads || writes; 2]);
                }
            }
        }
    }

    #[test]
    fn a_reset_makes_every_bank_idle() {
        let mut bench = Bench::new(USUAL, (15, 15), true);
        bench.run(300, 1_024, false);
        bench.rtl.reset(settings((15, 15), true));
        bench.model = SplitBankWrite::new(15, 15, true);
        bench.reads = [(0, 0); 16];
        bench.run(301, 1_024, false);
    }
}
