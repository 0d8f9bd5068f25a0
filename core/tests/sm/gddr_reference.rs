//! A second level and GDDR as slow as they are obvious: every tick is visited, and a command is
//! allowed when no earlier one forbids it.

use std::collections::{BTreeMap, VecDeque};

use strata_core::sm::memory::gddr::Command;
use strata_core::sm::memory::gddr::settings::{CHUNK_BYTES, GddrSettings};
use strata_core::sm::memory::l2::L2Settings;
use strata_core::sm::memory::lower::{Purpose, Transfer};

/// What is counted, by the names of the events.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

#[derive(Clone, Debug)]
struct Request {
    /// The fetch; none of a write.
    fetch: Option<usize>,
    bank: u64,
    row: u64,
    columns: u64,
    found: &'static str,
    is_new: bool,
    from: u64,
}

#[derive(Clone, Copy, Debug)]
struct Issued {
    command: Command,
    bank: u64,
    tick: u64,
}

#[derive(Debug, Default)]
struct Channel {
    /// Those that have come, in order; those of the queue are the first.
    requests: VecDeque<Request>,
    in_queue: usize,
    open: BTreeMap<u64, u64>,
    issued: Vec<Issued>,
}

/// The least ticks from one command to another.
fn apart(one: &Issued, other: Command, bank: u64, settings: &GddrSettings) -> u64 {
    use Command::{Activate, Precharge, Read, Write};
    let timing = settings.timing.all().into_iter().collect::<BTreeMap<_, _>>();
    let of = |name: &str| u64::from(timing[name]);
    let data = u64::from(settings.data_ticks);
    let same_bank = one.bank == bank;
    let groups = u64::from(settings.bank_groups);
    let column = if one.bank % groups == bank % groups { of("ccdl") } else { of("ccd") };
    let column = column.max(data);
    match (one.command, other) {
        (Activate, Activate) if same_bank => of("rc"),
        (Activate, Activate) => of("rrd"),
        (Activate, Read | Write) if same_bank => of("rcd"),
        (Activate, Precharge) if same_bank => of("rc") - of("rp"),
        (Precharge, Activate) if same_bank => of("rp"),
        (Read, Read) | (Write, Write) => column,
        (Read, Write) => column.max((of("cl") + data + of("turn")).saturating_sub(of("wl"))),
        (Write, Read) => column.max(of("wl") + data + of("cdlr")),
        (Read, Precharge) if same_bank => of("rtpl"),
        (Write, Precharge) if same_bank => of("wl") + data + of("wr"),
        _ => 0,
    }
    .max(1)
}

impl Channel {
    fn allows(&self, command: Command, bank: u64, tick: u64, settings: &GddrSettings) -> bool {
        // What is older than all of a bank's waits does not matter.
        let recent = self.issued.iter().rev().take_while(|one| one.tick + 1200 > tick);
        recent.into_iter().all(|one| one.tick + apart(one, command, bank, settings) <= tick)
    }

    /// What one tick brings: the request that a command is for, and the command.
    fn choose(&self, tick: u64, settings: &GddrSettings) -> Option<(usize, Command)> {
        let queue = || self.requests.iter().take(self.in_queue).enumerate();
        let hits = |request: &Request| self.open.get(&request.bank) == Some(&request.row);
        let column = |request: &Request| match request.fetch {
            Some(_) => Command::Read,
            None => Command::Write,
        };
        let ready = |command, bank| self.allows(command, bank, tick, settings);
        let mut columns = queue().filter(|(_, request)| hits(request));
        if let Some((index, request)) =
            columns.find(|(_, request)| ready(column(request), request.bank))
        {
            return Some((index, column(request)));
        }
        for (index, request) in queue() {
            let bank = request.bank;
            let others = || queue().filter(|(_, other)| other.bank == bank);
            let wanted = others().any(|(_, other)| hits(other));
            let oldest = others().map(|(index, _)| index).min() == Some(index);
            if wanted || !oldest {
                continue;
            }
            let is_open = self.open.contains_key(&bank);
            let command = if is_open { Command::Precharge } else { Command::Activate };
            if ready(command, bank) {
                return Some((index, command));
            }
        }
        None
    }

    /// Returns a fetch that is over, with the tick after its last data.
    fn tick(
        &mut self,
        tick: u64,
        settings: &GddrSettings,
        counts: &mut Counts,
    ) -> Option<(usize, u64)> {
        while self.in_queue < usize::from(settings.queue)
            && self.requests.get(self.in_queue).is_some_and(|request| request.from <= tick)
        {
            self.in_queue += 1;
        }
        let (index, command) = self.choose(tick, settings)?;
        let mut count = |name, more| *counts.entry(name).or_default() += more;
        let request = &mut self.requests[index];
        let bank = request.bank;
        self.issued.push(Issued { command, bank, tick });
        let wait = match command {
            Command::Activate => {
                self.open.insert(bank, request.row);
                if request.found == "gddr_row_hits" {
                    request.found = "gddr_row_misses";
                }
                count("gddr_activates", 1);
                return None;
            }
            Command::Precharge => {
                self.open.remove(&bank);
                request.found = "gddr_row_conflicts";
                count("gddr_precharges", 1);
                return None;
            }
            Command::Read => settings.timing.cl,
            Command::Write => settings.timing.wl,
        };
        let reads = command == Command::Read;
        count(if reads { "gddr_read_bursts" } else { "gddr_write_bursts" }, 2);
        if request.is_new {
            count(request.found, 1);
        }
        request.is_new = false;
        request.columns -= 1;
        if request.columns != 0 {
            return None;
        }
        let request = self.requests.remove(index)?;
        self.in_queue -= 1;
        let end = tick + u64::from(wait) + u64::from(settings.data_ticks);
        request.fetch.map(|fetch| (fetch, end))
    }
}

#[derive(Clone, Copy, Debug)]
struct Line {
    key: u64,
    whole: bool,
    dirty: u8,
    /// The fetch that its data comes with.
    fetch: Option<usize>,
}

/// The second level with its DRAM.
#[derive(Debug)]
pub(crate) struct Reference {
    settings: L2Settings,
    /// Of each set the lines, the one that was used last at the end.
    sets: BTreeMap<u64, Vec<Line>>,
    path_free: u64,
    channels: Vec<Channel>,
    /// Of each transfer: the cycle in which its data can be there, and the fetch it waits for.
    waits: Vec<(u64, Option<usize>)>,
    fetches: usize,
    pub(crate) counts: Counts,
}

impl Reference {
    pub(crate) fn new(settings: L2Settings) -> Self {
        let channels = (0..settings.gddr.channels).map(|_| Channel::default()).collect();
        Self {
            settings,
            sets: BTreeMap::new(),
            path_free: 0,
            channels,
            waits: Vec::new(),
            fetches: 0,
            counts: Counts::new(),
        }
    }

    fn ask(&mut self, key: u64, fetch: Option<usize>, columns: u64, at: u64) {
        let gddr = self.settings.gddr;
        let bytes = u64::from(CHUNK_BYTES);
        let address = key * 128;
        let (channels, banks) = (u64::from(gddr.channels), u64::from(gddr.banks));
        // The bytes of a channel, and of a bank, without those of the others.
        let in_channel = address / bytes / channels;
        let in_bank = in_channel / banks;
        let cycle = at + u64::from(gddr.latency);
        let mut from = 0;
        while from * u64::from(gddr.clock.cycles) < cycle * u64::from(gddr.clock.ticks) {
            from += 1;
        }
        self.channels[(address / bytes % channels) as usize].requests.push_back(Request {
            fetch,
            bank: in_channel % banks,
            row: in_bank * bytes / u64::from(gddr.row_bytes),
            columns,
            found: "gddr_row_hits",
            is_new: true,
            from,
        });
    }

    pub(crate) fn transfer(&mut self, transfer: &Transfer) {
        let from = transfer.at.max(self.path_free);
        self.path_free = from + u64::from(transfer.bytes.div_ceil(self.settings.bytes_per_cycle));
        let at = from + u64::from(self.settings.latency);
        let count = u64::from(self.settings.bytes / 128 / u32::from(self.settings.ways));
        let key = transfer.key;
        let written = (0..4).fold(0, |dirty, sector| {
            dirty | u8::from(transfer.rows >> (2 * sector) & 3 != 0) << sector
        });
        let set = self.sets.entry(key % count).or_default();
        let found = set.iter().position(|line| line.key == key).map(|place| set.remove(place));
        let mut line = found.unwrap_or(Line { key, whole: false, dirty: 0, fetch: None });
        let reads = transfer.purpose != Purpose::Write;
        let had = if reads { line.whole } else { found.is_some() };
        let name = match (reads, had) {
            (true, true) => "l2_read_hits",
            (true, false) => "l2_read_misses",
            (false, true) => "l2_write_hits",
            (false, false) => "l2_write_misses",
        };
        *self.counts.entry(name).or_default() += 1;
        let fetches = reads && !line.whole;
        if fetches {
            line.fetch = Some(self.fetches);
            self.fetches += 1;
            line.whole = true;
        }
        if matches!(transfer.purpose, Purpose::Write | Purpose::Atomic) {
            line.dirty |= written;
        }
        if transfer.purpose == Purpose::Write && transfer.whole && !line.whole {
            line.whole = true;
            line.fetch = None;
        }
        set.push(line);
        let victim = (set.len() > usize::from(self.settings.ways)).then(|| set.remove(0));
        if fetches {
            self.ask(key, line.fetch, 2, at);
        }
        if let Some(victim) = victim.filter(|victim| victim.dirty != 0) {
            *self.counts.entry("l2_writebacks").or_default() += 1;
            let columns = [3, 12].iter().filter(|&&column| victim.dirty & column != 0).count();
            self.ask(victim.key, None, columns as u64, at);
        }
        self.waits.push((at, if reads { line.fetch } else { None }));
    }

    /// When the data of each transfer is there.
    pub(crate) fn finish(&mut self) -> Vec<u64> {
        let gddr = self.settings.gddr;
        let mut ends = BTreeMap::new();
        for channel in &mut self.channels {
            let mut tick = 0;
            while !channel.requests.is_empty() {
                ends.extend(channel.tick(tick, &gddr, &mut self.counts));
                tick += 1;
            }
        }
        let cycle = |fetch: usize| {
            let tick: u64 = ends[&fetch];
            let mut cycle = 0;
            while cycle * u64::from(gddr.clock.ticks) < tick * u64::from(gddr.clock.cycles) {
                cycle += 1;
            }
            cycle
        };
        self.waits
            .iter()
            .map(|&(at, fetch)| fetch.map_or(at, |fetch| at.max(cycle(fetch))))
            .collect()
    }
}
