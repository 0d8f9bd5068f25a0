//! Count mode once more, from the rules of docs/MODEL.md: slow, obvious, one warp at a time.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::export::Step;
use crate::listing::{Instruction, Place};

/// The storage above the main register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upper {
    /// None: the flat register file.
    Flat,
    /// A register file cache.
    Cache(Cache),
    /// Levels that the compiler manages.
    Managed,
}

/// A register file cache and its options (rules 7 to 15, 24).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one option of a design's name")]
pub(crate) struct Cache {
    pub(crate) entries: usize,
    pub(crate) last_result_file: bool,
    pub(crate) least_recently_used: bool,
    pub(crate) liveness: bool,
    pub(crate) two_level: bool,
    pub(crate) allocates_reads: bool,
    pub(crate) bypass: bool,
    pub(crate) flush_backward: bool,
}

/// Events by the names of the reports.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

#[derive(Clone, Copy, Debug)]
struct Entry {
    register: u32,
    lanes: u32,
    dirty: bool,
    /// No path reads it before the next possible deschedule (rule 13).
    idle: bool,
}

/// One warp and what it has counted.
#[derive(Debug)]
pub(crate) struct Warp<'code> {
    code: &'code [Instruction],
    upper: Upper,
    /// The first is the next to be replaced.
    cache: Vec<Entry>,
    last_result: Option<Entry>,
    /// Lanes for which a register's long-latency result may not have arrived.
    pending: HashMap<u32, u32>,
    counts: Counts,
}

impl<'code> Warp<'code> {
    pub(crate) fn new(code: &'code [Instruction], upper: Upper) -> Self {
        let (cache, pending) = (Vec::new(), HashMap::new());
        Self { code, upper, cache, last_result: None, pending, counts: Counts::new() }
    }

    /// Follows a path to its end.
    pub(crate) fn walk(mut self, path: &[Step]) -> Counts {
        for &(index, lanes) in path {
            self.step(index, lanes);
        }
        self.end();
        self.counts
    }

    fn step(&mut self, index: usize, lanes: u32) {
        let code = self.code;
        let instruction = &code[index];
        self.add("warp_instructions", 1);
        self.add("thread_instructions", u64::from(lanes.count_ones()));
        self.deschedule_if_waiting(instruction, lanes);
        let mut from_main = 0;
        if lanes != 0 {
            from_main = self.read_operands(instruction, lanes);
            self.write_results(instruction, lanes);
        }
        self.add(OPERANDS[from_main.min(4)], 1);
        if instruction.barrier && self.two_level() {
            self.add("barrier_deschedules", 1);
            self.leave();
        }
        let flushes = self.options().is_some_and(|cache| cache.flush_backward);
        if flushes && lanes != 0 && instruction.target.is_some_and(|target| target <= index) {
            self.flush();
        }
    }

    fn options(&self) -> Option<Cache> {
        if let Upper::Cache(cache) = self.upper { Some(cache) } else { None }
    }

    fn two_level(&self) -> bool {
        match self.upper {
            Upper::Flat => false,
            Upper::Cache(cache) => cache.two_level,
            Upper::Managed => true,
        }
    }

    fn add(&mut self, event: &'static str, count: u64) {
        *self.counts.entry(event).or_default() += count;
    }

    /// Counts an access under the name for the datapath of its unit.
    fn access(&mut self, shared: bool, [private_name, shared_name]: [&'static str; 2]) {
        self.add(if shared { shared_name } else { private_name }, 1);
    }

    /// Rule 17.
    fn deschedule_if_waiting(&mut self, instruction: &Instruction, lanes: u32) {
        let pending = |register| self.pending.get(register).is_some_and(|&wait| wait & lanes != 0);
        if self.two_level() && instruction.reads.iter().any(pending) {
            assert!(instruction.may_wait, "a warp waits where no mark is: {instruction:?}");
            self.add("deschedules", 1);
            self.leave();
        }
    }

    fn leave(&mut self) {
        self.pending.clear();
        self.flush();
    }

    /// Rule 14.
    fn end(&mut self) {
        if self.options().is_some_and(|cache| cache.liveness) {
            self.add("rfc_drops", self.cache.len() as u64);
            self.add("lrf_drops", u64::from(self.last_result.is_some()));
        } else {
            self.flush();
        }
    }

    fn flush(&mut self) {
        for entry in std::mem::take(&mut self.cache) {
            let event = if entry.dirty { "rfc_writebacks_flush" } else { "rfc_drops" };
            self.add(event, 1);
        }
        if self.last_result.take().is_some() {
            self.add("lrf_writebacks_flush", 1);
        }
    }

    /// Reads all operands, and returns how many came from the main register file.
    fn read_operands(&mut self, instruction: &Instruction, lanes: u32) -> usize {
        let mut from_main = 0;
        let mut misses = Vec::new();
        let (mut from, mut keep) = (instruction.from.clone(), instruction.keep.clone());
        for &register in &instruction.reads {
            let main = match self.upper {
                Upper::Flat => true,
                Upper::Managed => self.read_managed(instruction, register, &mut from, &mut keep),
                Upper::Cache(_) => {
                    let missing = self.read_cached(instruction, register, lanes);
                    if missing != 0 && !misses.contains(&(register, missing)) {
                        misses.push((register, missing));
                    }
                    missing != 0
                }
            };
            if main {
                self.access(instruction.shared, ["mrf_reads_private", "mrf_reads_shared"]);
                from_main += 1;
            }
        }
        assert!(from.is_empty() && keep.is_empty(), "notes of no operand: {instruction:?}");
        if let Some(cache) = self.options() {
            self.mark_after_reads(instruction, cache);
            for (register, lanes) in misses {
                self.allocate_read(instruction, register, lanes);
            }
        }
        from_main
    }

    fn read_managed(
        &mut self,
        instruction: &Instruction,
        register: u32,
        from: &mut Vec<(u32, Place)>,
        keep: &mut Vec<(u32, Place)>,
    ) -> bool {
        let shared = instruction.shared;
        if from.first().is_some_and(|&(first, _)| first == register) {
            match from.remove(0).1 {
                Place::Orf => self.access(shared, ["orf_reads_private", "orf_reads_shared"]),
                Place::Lrf => self.add("lrf_reads", 1),
            }
            return false;
        }
        if keep.first().is_some_and(|&(first, _)| first == register) {
            match keep.remove(0).1 {
                Place::Orf => self.access(shared, ["orf_fills_private", "orf_fills_shared"]),
                Place::Lrf => self.add("lrf_fills", 1),
            }
        }
        true
    }

    /// Takes each lane from the highest level that has it, and returns those that none has.
    fn read_cached(&mut self, instruction: &Instruction, register: u32, lanes: u32) -> u32 {
        let mut missing = lanes;
        let overlaps =
            |entry: &Entry, lanes: u32| entry.register == register && entry.lanes & lanes != 0;
        if let Some(entry) = self.last_result.filter(|entry| overlaps(entry, missing)) {
            assert!(!instruction.shared, "a shared unit reads the last result file");
            missing &= !entry.lanes;
            self.add("lrf_reads", 1);
            self.add("lrf_partial_hits", u64::from(missing != 0));
        }
        if let Some(place) = self.cache.iter().position(|entry| overlaps(entry, missing)) {
            missing &= !self.cache[place].lanes;
            self.access(instruction.shared, ["rfc_reads_private", "rfc_reads_shared"]);
            self.add("rfc_partial_hits", u64::from(missing != 0));
            self.use_entry(place);
        }
        missing
    }

    /// Under least recently used, an entry that was used becomes the youngest.
    fn use_entry(&mut self, place: usize) {
        if self.options().is_some_and(|cache| cache.least_recently_used) {
            let entry = self.cache.remove(place);
            self.cache.push(entry);
        }
    }

    /// With allocation by reads, what missed is copied into the cache, clean (rule 12).
    fn allocate_read(&mut self, instruction: &Instruction, register: u32, lanes: u32) {
        let cache = self.options().expect("a cache");
        let dead = cache.liveness && instruction.last.contains(&register);
        if !cache.allocates_reads || dead {
            return;
        }
        self.access(instruction.shared, ["rfc_fills_private", "rfc_fills_shared"]);
        if let Some(entry) = self.cache.iter_mut().find(|entry| entry.register == register) {
            entry.lanes |= lanes;
        } else {
            self.allocate(Entry { register, lanes, dirty: false, idle: false });
        }
    }

    /// Rules 11 and 13: last reads free entries, others may leave theirs idle.
    fn mark_after_reads(&mut self, instruction: &Instruction, cache: Cache) {
        let reads: HashSet<u32> = instruction.reads.iter().copied().collect();
        for entry in self.cache.iter_mut().chain(&mut self.last_result) {
            if reads.contains(&entry.register) {
                entry.idle = instruction.last_soon.contains(&entry.register);
            }
        }
        if !cache.liveness {
            return;
        }
        let dead = |entry: &Entry| instruction.last.contains(&entry.register);
        let before = self.cache.len();
        self.cache.retain(|entry| !dead(entry));
        let freed = before - self.cache.len();
        self.add("rfc_drops", freed as u64);
        if self.last_result.is_some_and(|entry| dead(&entry)) {
            self.last_result = None;
            self.add("lrf_drops", 1);
        }
    }

    fn write_results(&mut self, instruction: &Instruction, lanes: u32) {
        let mut to = instruction.to.clone();
        for &register in &instruction.writes {
            match self.upper {
                Upper::Flat => self.write_main(instruction, register, lanes),
                Upper::Managed => self.write_managed(instruction, register, &mut to),
                Upper::Cache(cache) => self.write_cached(instruction, cache, register, lanes),
            }
            let pending = self.pending.entry(register).or_default();
            *pending = if instruction.long { *pending | lanes } else { *pending & !lanes };
        }
        assert!(to.is_empty(), "notes of no result: {instruction:?}");
    }

    fn write_managed(
        &mut self,
        instruction: &Instruction,
        register: u32,
        to: &mut Vec<(u32, Place, bool)>,
    ) {
        let shared = instruction.shared;
        let mut main = true;
        if to.first().is_some_and(|&(first, ..)| first == register) {
            let (_, place, both) = to.remove(0);
            match place {
                Place::Orf => self.access(shared, ["orf_writes_private", "orf_writes_shared"]),
                Place::Lrf => self.add("lrf_writes", 1),
            }
            match place {
                _ if !both => {}
                Place::Orf => {
                    self.access(shared, ["dual_writes_orf_private", "dual_writes_orf_shared"]);
                }
                Place::Lrf => self.add("dual_writes_lrf", 1),
            }
            main = both;
        }
        if main {
            self.access(shared, ["mrf_writes_private", "mrf_writes_shared"]);
        }
    }

    fn write_main(&mut self, instruction: &Instruction, register: u32, lanes: u32) {
        self.access(instruction.shared, ["mrf_writes_private", "mrf_writes_shared"]);
        self.overtake_cache(register, lanes);
        self.overtake_last_result(register, lanes);
    }

    /// Lanes of an older value leave the cache (rules 12 and 24).
    fn overtake_cache(&mut self, register: u32, lanes: u32) {
        if let Some(place) = self.cache.iter().position(|entry| entry.register == register) {
            self.cache[place].lanes &= !lanes;
            if self.cache[place].lanes == 0 {
                self.cache.remove(place);
                self.add("rfc_drops", 1);
            }
        }
    }

    fn overtake_last_result(&mut self, register: u32, lanes: u32) {
        if let Some(entry) = self.last_result.as_mut().filter(|entry| entry.register == register) {
            entry.lanes &= !lanes;
            if entry.lanes == 0 {
                self.last_result = None;
                self.add("lrf_drops", 1);
            }
        }
    }

    fn write_cached(&mut self, instruction: &Instruction, cache: Cache, register: u32, lanes: u32) {
        let idle = instruction.not_soon.contains(&register);
        if (instruction.long && cache.two_level) || (cache.bypass && idle) {
            return self.write_main(instruction, register, lanes);
        }
        let entry = Entry { register, lanes, dirty: true, idle };
        let by_shared = instruction.shared || instruction.read_by_shared.contains(&register);
        if cache.last_result_file && !by_shared {
            return self.write_last_result(entry, cache);
        }
        self.access(instruction.shared, ["rfc_writes_private", "rfc_writes_shared"]);
        self.overtake_last_result(register, lanes);
        self.put_into_cache(entry);
    }

    fn write_last_result(&mut self, entry: Entry, cache: Cache) {
        self.add("lrf_writes", 1);
        self.overtake_cache(entry.register, entry.lanes);
        if let Some(present) = self.last_result.as_mut().filter(|it| it.register == entry.register)
        {
            present.lanes |= entry.lanes;
            present.idle = entry.idle;
            return;
        }
        if let Some(victim) = self.last_result.take() {
            if cache.bypass && victim.idle {
                self.add("lrf_writebacks_eviction", 1);
            } else {
                self.add("lrf_evictions", 1);
                self.put_into_cache(victim);
            }
        }
        self.add("lrf_allocations", 1);
        self.last_result = Some(entry);
    }

    /// Rule 8: in place if the register is there.
    fn put_into_cache(&mut self, entry: Entry) {
        if let Some(place) = self.cache.iter().position(|it| it.register == entry.register) {
            let present = &mut self.cache[place];
            present.lanes |= entry.lanes;
            present.dirty = true;
            present.idle = entry.idle;
            self.use_entry(place);
        } else {
            self.allocate(entry);
        }
    }

    fn allocate(&mut self, entry: Entry) {
        let cache = self.options().expect("a cache");
        self.add("rfc_allocations", 1);
        if self.cache.len() == cache.entries {
            let idle = self.cache.iter().position(|entry| cache.bypass && entry.idle);
            let victim = self.cache.remove(idle.unwrap_or(0));
            self.add(if victim.dirty { "rfc_writebacks_eviction" } else { "rfc_drops" }, 1);
        }
        self.cache.push(entry);
    }
}

/// Instructions by the operands that they read from the main register file.
const OPERANDS: [&str; 5] =
    ["mrf_operands_0", "mrf_operands_1", "mrf_operands_2", "mrf_operands_3", "mrf_operands_over_3"];
