//! Encoding: what naming the levels of a compiler-managed hierarchy costs, and what each
//! restriction of its names costs in energy (`[DISS]` 6.5.5).
//!
//! Energies come from the same counters as those of `strata run`; a mean is the arithmetic one over
//! workloads.

mod render;

use schemars::JsonSchema;
use serde::Serialize;
use strata_compiler::hierarchy::DualWrites;
use strata_compiler::statistics::{WideOperands, wide_operands};
use strata_core::energy::EnergyTable;
use strata_core::event::Counters;

use super::statistics::mean;
use strata_design::encoding::{ExtraBits, Names, Specifier, bits};
use strata_design::managed::SPLIT_NAMES;
use strata_design::{Design, Managed};
use strata_files::failure::Failure;
use strata_measure::evaluate::EvaluateError;
use strata_measure::levels;
use strata_measure::notes::Notes;
use strata_measure::parallel::{self, Finished};
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_report::{self as report, Tool};
use strata_workload::Workload;

pub use render::{no_columns, to_columns, to_table};

/// Version of the JSON layout. Raised when a key changes its meaning or goes away.
pub const SCHEMA: &str = "strata.study.encoding/1";

/// Restrictions of the pairs of levels that a result can be written to, from none to all.
const RESTRICTIONS: [DualWrites; 4] =
    [DualWrites::Any, DualWrites::SameName, DualWrites::LastResultOnly, DualWrites::Never];

/// The result.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Study {
    /// Layout version of this object.
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// Command that makes it again, in one normal form; empty if no command made it.
    pub command: String,
    /// Inputs that Ctrl-C left out, of which nothing here says anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Design's name.
    pub design: String,
    /// Entries of its operand register file for each thread.
    pub orf_entries: u8,
    /// Its last result file: `none`, `unified` or `split`.
    pub lrf: String,
    /// Bits of an operand specifier without a hierarchy.
    pub specifier_bits: u32,
    /// Registers that it names; one more name is no register.
    pub registers: u32,
    /// The kernels of the inputs.
    pub kernels: Vec<Kernel>,
    /// The names of each kind of specifier.
    pub specifiers: Vec<SpecifierNames>,
    /// The restrictions, first with operands that a first read leaves above, then without.
    pub schemes: Vec<Scheme>,
    /// Parameters that come from no source.
    pub assumed: Vec<String>,
}

/// A kernel that is to be encoded.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Kernel {
    /// Workload's name.
    pub input: String,
    /// Kernel's name.
    pub kernel: String,
    /// Registers of a thread, as allocated; no hierarchy makes them more.
    pub registers: u16,
    /// Operands and results of more than one register, fitted to the design.
    pub wide_operands: u32,
    /// Those among them that no single name can mean: their registers lie in different levels, or
    /// in entries that do not follow each other.
    pub wide_operands_apart: u32,
}

/// The names of one kind of specifier.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SpecifierNames {
    /// `source` or `destination`.
    pub operand: String,
    /// What may be named together with a register of the main register file.
    pub pairs: String,
    /// Names, with every register of the main register file.
    pub names: Names,
    /// All of them.
    pub total: u32,
    /// Bits that tell them apart.
    pub bits: u32,
    /// Registers of the main register file that remain if the specifier keeps its width.
    pub registers_left: u32,
}

/// A way to name levels, and what it costs and saves.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scheme {
    /// Which results can be written to two levels.
    pub dual_writes: String,
    /// Whether first reads can leave operands above.
    pub read_operands: bool,
    /// The design is fitted so.
    pub own: bool,
    /// Energy relative to the flat register file, mean over the inputs. Unit: percent.
    pub energy_relative_percent: Option<f64>,
    /// By how much energy is higher than with any pair and with read operands, as Figure 6.18; mean
    /// over the inputs. Unit: percent.
    pub energy_rise_percent: Option<f64>,
    /// Saved of the chip's dynamic power before anything is paid for the encoding; mean over the
    /// inputs. Unit: percent.
    pub chip_saved_percent: Option<f64>,
    /// Specifiers as wide as without a hierarchy.
    pub unchanged: Encoding,
    /// Specifiers as wide as the inputs' kernels need.
    pub for_kernels: Encoding,
    /// Specifiers that still name every register of the main register file.
    pub for_all: Encoding,
    /// Each input.
    pub inputs: Vec<InputEnergy>,
}

/// Specifiers of some width.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Encoding {
    /// Bits added to an instruction.
    pub extra: ExtraBits,
    /// All of them, with three source operands.
    pub extra_bits: u32,
    /// Registers of the main register file that can be named.
    pub registers: u32,
    /// Kernels that need more, and would have to spill: input and kernel.
    pub spilling: Vec<String>,
    /// At most so much of the chip's dynamic power. Unit: percent.
    pub cost_percent: Option<f64>,
    /// What remains of the saving; null if kernels would have to spill, which is not priced.
    /// Unit: percent of the chip's dynamic power.
    pub net_percent: Option<f64>,
}

/// One input's energy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InputEnergy {
    /// Workload's name.
    pub input: String,
    /// Unit: femtojoules.
    pub energy_fj: u64,
    /// Of the flat register file. Unit: femtojoules.
    pub flat_energy_fj: u64,
}

/// What one input's execution tells.
struct Row {
    kernels: Vec<Kernel>,
    /// In the order of the schemes.
    energies: Vec<InputEnergy>,
}

/// Executes workloads once, prices them under every restriction, and works out the names.
///
/// `specifier_bits`: width of an operand specifier without a hierarchy. What comes back is in the
/// order of the workloads, whatever `jobs` is, and of those that were begun before Ctrl-C.
pub fn run(
    workloads: &[Workload],
    design: &Design,
    specifier_bits: u32,
    request: &Request,
    jobs: usize,
    notes: &dyn Notes,
) -> Result<Study, Failure> {
    let Some(managed) = design.managed else {
        return Err(Failure::input(format!(
            "design `{}` has no compiler-managed hierarchy",
            design.name
        ))
        .hint("choose one such as `diss-orf3-lrf-split`"));
    };
    let table = design.energy.as_ref().map_err(|reason| {
        Failure::input(format!("design `{}` cannot be priced: {reason}", design.name))
    })?;
    let schemes = schemes(managed);
    let fitting = Fitting { design, managed, table, schemes: &schemes };
    let row = |workload: &Workload| fitting.row(workload, request, notes);
    let finished = parallel::finished(workloads, jobs, notes, |workload| &workload.name, row)?;
    Ok(fitting.study(finished, specifier_bits))
}

/// Every restriction with what else the design has; without read operands too, where it has them.
fn schemes(own: Managed) -> Vec<Managed> {
    let reads = [true, false].into_iter().filter(|&on| own.read_operands || !on);
    let scheme = |read_operands, dual_writes| Managed { read_operands, dual_writes, ..own };
    reads.flat_map(|on| RESTRICTIONS.map(|dual_writes| scheme(on, dual_writes))).collect()
}

/// What workloads are fitted to.
struct Fitting<'a> {
    design: &'a Design,
    managed: Managed,
    table: &'a EnergyTable,
    schemes: &'a [Managed],
}

impl Fitting<'_> {
    fn row(
        &self,
        workload: &Workload,
        request: &Request,
        notes: &dyn Notes,
    ) -> Result<Row, Failure> {
        let prepared = subject::prepare(workload, &request.size, &request.overrides)?;
        let defect = |error: EvaluateError| Failure::internal(&error.to_string());
        let own = self.managed.config(self.table);
        let kernel = |program| {
            let hierarchy = levels::fitted(program, &own)?;
            let WideOperands { all, apart } = wide_operands(program, &hierarchy.placements);
            Ok(Kernel {
                input: workload.name.clone(),
                kernel: program.name.clone(),
                registers: program.general_registers,
                wide_operands: all,
                wide_operands_apart: apart,
            })
        };
        let kernels = prepared.programs.iter().map(kernel).collect::<Result<_, Failure>>()?;
        let mut flat = Counters::default();
        let mut counters = vec![Counters::default(); self.schemes.len()];
        measure::each_launch(workload, &prepared, request, notes, |launch| {
            flat = flat.checked_add(&launch.count_flat()?)?;
            for (scheme, total) in self.schemes.iter().zip(&mut counters) {
                let config = scheme.config(self.table);
                *total = total
                    .checked_add(&launch.count_fitted(self.design.organisation(), &config)?)?;
            }
            Ok(())
        })?;
        let price = |counters: &Counters| {
            let priced = self.table.energy(counters).map_err(|error| defect(error.into()));
            priced.map(|priced| priced.total().0)
        };
        let flat_energy_fj = price(&flat)?;
        let energy = |counters| {
            let input = workload.name.clone();
            Ok(InputEnergy { input, energy_fj: price(counters)?, flat_energy_fj })
        };
        let energies = counters.iter().map(energy).collect::<Result<_, Failure>>()?;
        Ok(Row { kernels, energies })
    }

    fn study(&self, finished: Finished<Row>, specifier_bits: u32) -> Study {
        let registers = (1 << specifier_bits) - 1;
        let mut kernels = Vec::new();
        let mut energies = vec![Vec::new(); self.schemes.len()];
        for row in finished.results {
            kernels.extend(row.kernels);
            for (of_scheme, energy) in energies.iter_mut().zip(row.energies) {
                of_scheme.push(energy);
            }
        }
        let first = energies[0].clone();
        let schemes = self.schemes.iter().zip(energies).map(|(scheme, inputs)| {
            self.scheme(*scheme, inputs, &first, (specifier_bits, registers), &kernels)
        });
        Study {
            schema: SCHEMA.to_owned(),
            tool: report::tool(),
            command: String::new(),
            missing: finished.missing,
            design: self.design.name.clone(),
            orf_entries: self.managed.entries,
            lrf: self.managed.lrf.name().to_owned(),
            specifier_bits,
            registers,
            specifiers: specifiers(self.schemes, specifier_bits, registers),
            schemes: schemes.collect(),
            kernels,
            assumed: self.assumed(),
        }
    }

    /// What the design assumes, but for what is charged here.
    fn assumed(&self) -> Vec<String> {
        let all = self.design.assumed.iter();
        all.filter(|assumed| *assumed != SPLIT_NAMES).cloned().collect()
    }

    fn scheme(
        &self,
        scheme: Managed,
        inputs: Vec<InputEnergy>,
        first: &[InputEnergy],
        (specifier_bits, registers): (u32, u32),
        kernels: &[Kernel],
    ) -> Scheme {
        let chip = self.design.machine.chip_power();
        let percent = |ppm: Option<i64>| ppm.map(|ppm| ppm as f64 / 1e4);
        let saved = |input: &InputEnergy| {
            let saving = chip?.saving(input.flat_energy_fj, input.energy_fj, 0)?;
            percent(saving.share_of_dynamic_ppm(saving.saved_nw.into()))
        };
        let chip_saved_percent = mean_of(inputs.iter().map(saved));
        let encoding = |extra: ExtraBits| {
            let left = extra.registers(&scheme, specifier_bits).min(registers);
            let cost = chip.and_then(|chip| chip.saving(1, 1, extra.total()));
            let cost = cost.and_then(|cost| cost.share_of_dynamic_ppm(cost.encoding_nw.into()));
            let cost_percent = percent(cost);
            let spilling = kernels.iter().filter(|kernel| u32::from(kernel.registers) > left);
            let name = |kernel: &Kernel| format!("{}/{}", kernel.input, kernel.kernel);
            let spilling: Vec<String> = spilling.map(name).collect();
            let net = chip_saved_percent.zip(cost_percent).map(|(saved, cost)| saved - cost);
            Encoding {
                extra,
                extra_bits: extra.total(),
                registers: left,
                cost_percent,
                net_percent: net.filter(|_| spilling.is_empty()).map(rounded),
                spilling,
            }
        };
        let most = kernels.iter().map(|kernel| u32::from(kernel.registers)).max().unwrap_or(0);
        let wide = |registers| ExtraBits::new(&scheme, specifier_bits, registers);
        let relative = |input: &InputEnergy| percent_of(input.energy_fj, input.flat_energy_fj);
        let against = inputs.iter().zip(first);
        let against = against.map(|(own, first)| percent_of(own.energy_fj, first.energy_fj));
        Scheme {
            dual_writes: pairs_of(scheme.dual_writes).to_owned(),
            read_operands: scheme.read_operands,
            own: scheme == self.managed,
            energy_relative_percent: mean_of(inputs.iter().map(relative)).map(rounded),
            energy_rise_percent: mean_of(against).map(|relative| rounded(relative - 100.0)),
            chip_saved_percent: chip_saved_percent.map(rounded),
            unchanged: encoding(ExtraBits::NONE),
            for_kernels: encoding(wide(most.min(registers))),
            for_all: encoding(wide(registers)),
            inputs,
        }
    }
}

/// Each kind of specifier that the schemes have.
fn specifiers(schemes: &[Managed], specifier_bits: u32, registers: u32) -> Vec<SpecifierNames> {
    let row = |operand: &str, pairs: &str, specifier: Specifier| {
        let names = specifier.names(registers);
        SpecifierNames {
            operand: operand.to_owned(),
            pairs: pairs.to_owned(),
            names,
            total: names.total(),
            bits: bits(names.total()),
            registers_left: specifier.registers(specifier_bits).min(registers),
        }
    };
    let sources = schemes.iter().step_by(RESTRICTIONS.len()).map(|scheme| {
        let pairs = if scheme.read_operands { "first reads leave any" } else { "none" };
        row("source", pairs, Specifier::source(scheme))
    });
    let results = schemes.iter().take(RESTRICTIONS.len()).map(|scheme| {
        let specifier = Specifier::destination(scheme);
        row("destination", pairs_of(scheme.dual_writes), specifier)
    });
    sources.chain(results).collect()
}

/// What can be named together with a register of the main register file.
fn pairs_of(dual_writes: DualWrites) -> &'static str {
    match dual_writes {
        DualWrites::Any => "any",
        DualWrites::SameName => "ORF entry from name",
        DualWrites::LastResultOnly => "LRF only",
        DualWrites::Never => "none",
    }
}

fn percent_of(part: u64, whole: u64) -> Option<f64> {
    (whole != 0).then(|| part as f64 * 100.0 / whole as f64)
}

/// The mean, if every value is known.
fn mean_of(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    mean(&values.collect::<Option<Vec<f64>>>()?)
}

/// Six decimals: more would be noise of the division.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
