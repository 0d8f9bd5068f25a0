//! Report: what boards did, as tables and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::prototype::command::Command;
use strata_core::prototype::counters::COUNTER_NAMES;
use strata_core::prototype::settings::Settings;
use strata_link::message::{Difference, Diverged, Implementation, Info};
use strata_ptx::diagnostic::counted;

use super::compare::Compared;
use super::material::Material;
use strata_report::text_table::TextTable;
use strata_report::{self as report, Tool};

/// Version of the JSON layout. Raised when a key changes its meaning or goes away.
pub const SCHEMA: &str = "strata.fpga/1";

/// What a board and the model did with one input.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FpgaReport {
    /// Layout version of this object.
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// Command that makes it again, in one normal form.
    pub command: String,
    /// The board.
    pub board: BoardReport,
    /// The input's name.
    pub workload: String,
    /// Lanes of each warp that took part.
    pub lanes: Vec<u32>,
    /// One for each design.
    pub designs: Vec<DesignReport>,
    /// Whether all columns of all designs are equal.
    pub equal: bool,
}

/// What a board is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BoardReport {
    /// Its name.
    pub name: String,
    /// What moves the registers' values: `hardware` or `software`.
    pub prototype: String,
    /// Version of the prototype's register map.
    pub version: u32,
    /// Warps.
    pub warps: u8,
    /// Most entries of a warp's register file cache.
    pub cache_entries: u8,
    /// Most entries of the write pool.
    pub pool_entries: u8,
    /// Lanes of a register.
    pub lanes: u8,
    /// Most commands of a batch.
    pub batch: u16,
    /// Banks of the main register file.
    pub banks: u8,
    /// Registers of a bank.
    pub rows: u8,
    /// Ticks of the board's clock in a second.
    pub ticks_hz: u32,
}

/// What one design did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DesignReport {
    /// Its name.
    pub design: String,
    /// Parts of the design that the prototype has in another form, one sentence each: when an
    /// access happens depends on it, not what becomes of it.
    pub instead: Vec<String>,
    /// What the prototype was set to, in words.
    pub settings: String,
    /// The same as the prototype takes it.
    pub settings_word: u32,
    /// Reads of operands and writes of results that were streamed.
    pub accesses: u64,
    /// Commands that were streamed: these, and what becomes of a warp.
    pub commands: u64,
    /// Warp instructions that they are from.
    pub instructions: u64,
    /// Warp instructions in which none of the lanes takes part.
    pub instructions_left_out: u64,
    /// Launches that were begun; more than the input has if it was repeated.
    pub launches: u64,
    /// Times that a warp left the active set.
    pub deschedules: u64,
    /// Each counter in each column.
    pub counters: BTreeMap<String, Columns<u64>>,
    /// The digest of all outcomes in each column, as 16 hexadecimal digits.
    pub digest: Columns<String>,
    /// What differs, one sentence each; nothing if all columns are equal.
    pub differences: Vec<String>,
}

/// One quantity three times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Columns<T> {
    /// In the model on this machine.
    pub model_on_host: T,
    /// In the model on the device.
    pub model_on_device: T,
    /// In the prototype.
    pub prototype: T,
}

impl<T: PartialEq> Columns<T> {
    fn is_equal(&self) -> bool {
        self.model_on_host == self.model_on_device && self.model_on_host == self.prototype
    }
}

impl FpgaReport {
    /// Puts it together.
    pub fn new(info: &Info, material: &Material, compared: &[Compared], command: String) -> Self {
        let designs: Vec<_> = compared.iter().map(DesignReport::new).collect();
        Self {
            schema: SCHEMA.to_owned(),
            tool: report::tool(),
            command,
            board: BoardReport::new(info),
            workload: material.name.clone(),
            lanes: (0..super::plan::LANES).collect(),
            equal: designs.iter().all(|design| design.differences.is_empty()),
            designs,
        }
    }

    /// The report as tables, one for each design.
    pub fn to_text(&self) -> String {
        let BoardReport { name, prototype, .. } = &self.board;
        let mut text = format!("{} on board `{name}`, prototype in {prototype}\n", self.workload);
        for design in &self.designs {
            text.push('\n');
            text += &design.to_text(prototype);
        }
        text
    }
}

impl BoardReport {
    /// Puts it together.
    pub fn new(info: &Info) -> Self {
        let built = &info.prototype;
        Self {
            name: info.board.to_string(),
            prototype: built.implementation.to_string(),
            version: built.version,
            warps: built.warps,
            cache_entries: built.cache_entries,
            pool_entries: built.pool_entries,
            lanes: built.lanes,
            batch: built.batch,
            banks: built.banks,
            rows: built.rows,
            ticks_hz: info.ticks_hz,
        }
    }

    /// The board as a table.
    pub fn to_text(&self) -> String {
        let mut table = TextTable::new();
        let bytes = |count: u64, noun: &str| format!("{count} {noun}");
        for (what, value) in [
            ("board", self.name.clone()),
            ("clock that it measures in", bytes(self.ticks_hz.into(), "ticks a second")),
            ("prototype in", self.prototype.clone()),
            ("register map", format!("version {}", self.version)),
            ("warps", self.warps.to_string()),
            ("lanes", self.lanes.to_string()),
            ("register file cache", format!("up to {} entries a warp", self.cache_entries)),
            ("write pool", format!("up to {} entries", self.pool_entries)),
            ("main register file", format!("{} banks of {} registers", self.banks, self.rows)),
            ("batch", format!("up to {} commands", self.batch)),
        ] {
            table.add_row([what.to_owned(), value]);
        }
        format!("{table}\n")
    }
}

impl DesignReport {
    fn new(compared: &Compared) -> Self {
        let Compared { made, host, device, prototype, settings, .. } = compared;
        let hex = |digest: u64| format!("{digest:016x}");
        let counters = COUNTER_NAMES.iter().enumerate().map(|(place, &name)| {
            // A column that is shorter than the table differs below.
            let columns = Columns {
                model_on_host: host.0[place],
                model_on_device: device.values.get(place).copied().unwrap_or(0),
                prototype: prototype.values.get(place).copied().unwrap_or(0),
            };
            (name.to_owned(), columns)
        });
        let mut report = Self {
            design: compared.design.clone(),
            instead: compared.instead.clone(),
            settings: describe(settings),
            settings_word: settings.pack().unwrap_or(0),
            accesses: made.accesses,
            commands: made.commands,
            instructions: made.instructions,
            instructions_left_out: made.left_out,
            launches: made.launches,
            deschedules: made.deschedules,
            counters: counters.collect(),
            digest: Columns {
                model_on_host: hex(compared.host_digest),
                model_on_device: hex(device.digest),
                prototype: hex(prototype.digest),
            },
            differences: Vec::new(),
        };
        report.differences = report.find_differences(compared);
        report
    }

    fn find_differences(&self, compared: &Compared) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(diverged) = &compared.diverged {
            found.push(explain(diverged));
        }
        if let Some((first, host, device)) = compared.clocks_differ {
            found.push(format!(
                "the batch from command {first} on takes {host} clocks in the model on this \
                 machine, {device} in that on the device"
            ));
        }
        let differ: Vec<_> = COUNTER_NAMES
            .iter()
            .filter(|name| !self.counters.get(**name).is_some_and(Columns::is_equal))
            .copied()
            .collect();
        if !differ.is_empty() {
            found.push(format!("counters that differ: {}", differ.join(", ")));
        }
        if !self.digest.is_equal() {
            found.push("the digests of the outcomes differ".to_owned());
        }
        if found.is_empty() && !compared.is_equal() {
            found.push("the device counts something else than this machine".to_owned());
        }
        found
    }

    fn to_text(&self, prototype: &str) -> String {
        let Self { design, settings, accesses, commands, .. } = self;
        let mut text = format!("{design}: {settings}\n");
        for instead in &self.instead {
            let _ = writeln!(text, "in the prototype: {instead}");
        }
        let _ = writeln!(
            text,
            "{accesses} register accesses of lanes 0 to 3 of each warp, in {commands} commands; {} \
             warp instructions, {} others without these lanes; launches begun: {}",
            self.instructions, self.instructions_left_out, self.launches
        );
        let mut table = TextTable::new();
        // What values are moved by in software is the model once more.
        let is_software = prototype == Implementation::Software.to_string();
        let third = if is_software { "same model,\nno RTL" } else { "hardware\n" };
        table.set_header(["counter", "model,\nhost", "model,\ndevice", third]);
        let by_place = COUNTER_NAMES
            .iter()
            .filter_map(|&name| self.counters.get(name).map(|columns| (name, columns)));
        for (name, columns) in by_place {
            let values = [columns.model_on_host, columns.model_on_device, columns.prototype];
            let [host, device, hardware] = values.map(|value| value.to_string());
            let mark = if columns.is_equal() { "" } else { "  <- differs" };
            table.add_row([name.to_owned(), host, device, hardware + mark]);
        }
        let Columns { model_on_host, model_on_device, prototype } = self.digest.clone();
        table.add_row(["digest of outcomes".to_owned(), model_on_host, model_on_device, prototype]);
        table.right_from(1);
        let _ = writeln!(text, "{table}");
        if self.differences.is_empty() {
            text += "equal: all counters and the digests of all outcomes\n";
        }
        for difference in &self.differences {
            let _ = writeln!(text, "DIFFERENT: {difference}");
        }
        text
    }
}

/// What the device found, with the command in words.
fn explain(diverged: &Diverged) -> String {
    let Diverged { index, command, what } = diverged;
    let what = match what {
        Difference::Counter { counter, model, prototype } => {
            let name = COUNTER_NAMES.get(usize::from(*counter)).copied();
            format!("{} is {prototype}, in the model {model}", name.unwrap_or("a counter"))
        }
        other => other.to_string(),
    };
    format!("on the device, command {index} ({:?}): {what}", Command::unpack(*command))
}

/// Settings in words.
pub fn describe(settings: &Settings) -> String {
    let mut text = match settings.cache {
        None => "no register file cache".to_owned(),
        Some(cache) => {
            let policy = cache.replacement.name().to_uppercase();
            let live = if cache.liveness { ", static liveness" } else { "" };
            format!("register file cache of {} a warp, {policy}{live}", cache.entries)
        }
    };
    if settings.write_pool_entries != 0 {
        let _ = write!(text, "; write pool of {}", settings.write_pool_entries);
    }
    let cycles = settings.write_cycles;
    let _ = write!(text, "; a write takes its bank {}", counted(cycles, "clock"));
    if settings.split_bank_write {
        text += ", split banks";
    }
    let registers = settings.registers_per_warp;
    let _ = write!(text, "; {} a warp", counted(registers, "register"));
    text
}
