//! Operands of designs without compiler-managed levels: which levels may hold them, and what the
//! liveness hints do there.

use strata_compiler::explain::Slot;
use strata_core::image::Flags;
use strata_core::organisation::{LevelSettings, Scheduling};
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig};

use super::page::{Page, row};

impl Page<'_> {
    pub(super) fn hardware_level(&self, text: &mut String, pc: usize, slot: &Slot) {
        let shared = self.record(pc).unit.is_shared_datapath();
        let cache = match self.design.organisation().levels() {
            LevelSettings::Cached(levels) => levels.cache,
            LevelSettings::Flat | LevelSettings::CompilerManaged => {
                let (way, access) = if slot.result { ("to", "write") } else { ("from", "read") };
                row(text, "", &format!("{way} the {}", self.priced("MRF", access, shared)));
                return;
            }
        };
        if slot.result {
            self.cached_result(text, pc, slot, cache);
        } else {
            self.cached_operand(text, pc, slot, cache);
        }
    }

    fn cached_operand(
        &self,
        text: &mut String,
        pc: usize,
        slot: &Slot,
        cache: RegisterFileCacheConfig,
    ) {
        let record = self.record(pc);
        let shared = record.unit.is_shared_datapath();
        let main = self.priced("MRF", "read", shared);
        let reaching = self.explainer.reaching(pc, slot.register, None).definitions;
        let two_level = self.two_level();
        let long = |&pc: &u32| self.record(pc as usize).flags.contains(Flags::LONG_LATENCY);
        let only_main = two_level
            && cache.allocation == Allocation::Writes
            && !reaching.is_empty()
            && reaching.iter().all(long);
        if only_main {
            let why = "results of long-latency operations bypass the cache";
            row(text, "", &format!("from the {main}: {why}"));
            return;
        }
        let mut upper = self.priced("RFC", "read", shared);
        if self.design.organisation().levels().has_last_result_file() && !shared {
            upper = format!("{} or {upper}", self.priced("LRF", "read", false));
        }
        row(text, "", &format!("from the {upper} if it is still there, else from the {main}"));
        let waits = self.waits_between(&reaching, pc);
        if two_level && !waits.is_empty() {
            let at = self.places(&waits);
            row(text, "", &format!("the cache is emptied between if the warp waits at {at}"));
        }
        let bit = |bits: u32| bits >> slot.index & 1 != 0;
        if bit(record.last_use) {
            let effect = if cache.liveness {
                "liveness bit: this read frees its entry, which is not written back"
            } else {
                "liveness bit: set, but the design ignores it"
            };
            row(text, "", effect);
        } else if bit(record.last_use_before_deschedule) && cache.liveness_aware_eviction {
            row(text, "", "hint: after this read its entry is among the first to be evicted");
        }
    }

    fn cached_result(
        &self,
        text: &mut String,
        pc: usize,
        slot: &Slot,
        cache: RegisterFileCacheConfig,
    ) {
        let record = self.record(pc);
        let shared = record.unit.is_shared_datapath();
        let main = self.priced("MRF", "write", shared);
        let bit = |bits: u32| bits >> slot.index & 1 != 0;
        if self.two_level() && record.flags.contains(Flags::LONG_LATENCY) {
            let why = "results of long-latency operations bypass the cache";
            row(text, "", &format!("to the {main}: {why}"));
            return;
        }
        if cache.liveness_aware_bypass && bit(record.not_read_before_deschedule) {
            let why = "hint: nothing reads it before the next possible deschedule";
            row(text, "", &format!("to the {main}: {why}"));
            return;
        }
        let last = self.design.organisation().levels().has_last_result_file()
            && !shared
            && bit(record.private_reads);
        let (level, shared) = if last { ("LRF", false) } else { ("RFC", shared) };
        row(text, "", &format!("to the {}", self.priced(level, "write", shared)));
        if self.design.organisation().levels().has_last_result_file() && !last {
            row(
                text,
                "",
                "not to the LRF, which is not for results or reads of the shared datapath",
            );
        }
        if bit(record.never_read) && cache.liveness {
            row(text, "", "liveness bit: nothing reads it, so that it is never written back");
        } else if bit(record.not_read_before_deschedule) && cache.liveness_aware_eviction {
            row(text, "", "hint: its entry is among the first to be evicted");
        }
    }

    pub(super) fn two_level(&self) -> bool {
        matches!(self.design.organisation().settings().scheduling, Scheduling::TwoLevel { .. })
    }

    /// Where the warp may wait between a definition and a read of the same basic block, when that
    /// is the only definition.
    fn waits_between(&self, definitions: &[u32], pc: usize) -> Vec<u32> {
        let &[definition] = definitions else { return Vec::new() };
        let definition = definition as usize;
        if definition >= pc || self.blocks[definition] != self.blocks[pc] {
            return Vec::new();
        }
        // At a barrier the warp waits behind the instruction, at a mark before it.
        let stops = |&at: &usize| {
            let flags = self.record(at).flags;
            flags.contains(Flags::DESCHEDULE_BEFORE) || at < pc && flags.contains(Flags::BARRIER)
        };
        (definition + 1..=pc).filter(stops).map(|at| at as u32).collect()
    }
}
