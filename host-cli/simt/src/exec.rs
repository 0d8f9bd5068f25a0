//! Execution: a launch, CTA by CTA in linear order (x fastest) while none waits for a later one
//! (`turns`), each CTA's warps in rounds.
//!
//! Order, which results can depend on only where PTX leaves them open: a warp runs until it waits
//! at a barrier, exits, or has issued [`SLICE`] instructions; then the next warp of the CTA.
//! Of the sides of a divergent branch the fall-through side runs first; of `brx.idx` the lowest
//! target. Clocks count the launch's warp instructions, one tick (and one nanosecond) each.

mod barrier;
mod circles;
mod cta;
pub(crate) mod digest;
mod geometry;
mod heap;
mod members;
mod print;
mod progress;
mod recording;
mod splits;
mod turns;
pub(crate) mod warp;

use crate::accesses::{AccessDictionary, AddressSink};
use crate::barriers::BarrierDictionary;
use crate::device::{AddressMap, Device};
use crate::executable::Executable;
use crate::fault::{Fault, Place, Thread};
use crate::launch::{
    Launch, LaunchOutcome, MAX_CTAS, MAX_LOCAL_BYTES, MAX_SHARED_BYTES, MAX_THREADS, Record,
};
use crate::paths::{PathDictionary, PathInterner};
use crate::resident::{self, Needs};
use cta::{Cta, Turn};
use geometry::Geometry;
use progress::{PATIENCE, Progress, SHORT_SLICE, SLICE};
use recording::Recording;
use turns::{Early, Next, Residents};

/// Size of the workspace of a cooperative launch. Unit: bytes.
const WORKSPACE_BYTES: u64 = 8;

/// Runs a launch to its end.
///
/// # Errors
/// The first fault in execution order. Memory keeps what was written until then.
pub fn execute(
    device: &mut Device,
    executable: &Executable,
    launch: &Launch,
) -> Result<LaunchOutcome, Fault> {
    run(device, executable, launch, &mut Receiver::Outcome)
}

/// Runs a launch to its end, and hands the addresses of the CTAs that [`Launch::record`] names to
/// `sink`, each as soon as it ends. They take the place of [`LaunchOutcome::accesses`], which stay
/// empty.
///
/// # Errors
/// The first fault in execution order. Memory keeps what was written until then.
pub fn execute_into(
    device: &mut Device,
    executable: &Executable,
    launch: &Launch,
    sink: &mut dyn AddressSink,
) -> Result<LaunchOutcome, Fault> {
    run(device, executable, launch, &mut Receiver::Addresses(sink))
}

/// Runs a launch to its end. Paths that take more than `part_bytes` are handed to `parts` when a
/// CTA ends, and what is left of them is in the outcome: one part's memory is taken, however many
/// paths there are. A path may come again in a later part. Accesses are not recorded.
///
/// # Errors
/// The first fault in execution order. Memory keeps what was written until then.
pub fn execute_in_parts(
    device: &mut Device,
    executable: &Executable,
    launch: &Launch,
    part_bytes: u64,
    parts: &mut dyn FnMut(PathDictionary),
) -> Result<LaunchOutcome, Fault> {
    run(device, executable, launch, &mut Receiver::Parts(part_bytes, parts))
}

/// The receiver of records before the launch ends.
enum Receiver<'a> {
    /// None: all records are kept for the outcome.
    Outcome,
    Addresses(&'a mut dyn AddressSink),
    /// Paths, as soon as they take this many bytes.
    Parts(u64, &'a mut dyn FnMut(PathDictionary)),
}

/// What is kept of the CTAs that have ended.
#[derive(Default)]
struct Kept {
    paths: PathInterner,
    accesses: AccessDictionary,
    barriers: BarrierDictionary,
}

impl Kept {
    /// Unit: bytes.
    fn bytes(&self) -> u64 {
        self.paths.bytes() + self.accesses.bytes() + self.barriers.bytes()
    }

    /// Takes over what the CTA with this index recorded. False when there is more than is allowed.
    fn add(
        &mut self,
        index: u64,
        cta: &mut Cta<'_>,
        receiver: &mut Receiver<'_>,
        max_bytes: u64,
    ) -> bool {
        match receiver {
            Receiver::Outcome => {}
            Receiver::Addresses(sink) => cta.hand_over(index, *sink),
            Receiver::Parts(bytes, parts) => {
                cta.intern(index, &mut self.paths);
                if self.paths.bytes() > *bytes {
                    parts(self.paths.take());
                }
                return true;
            }
        }
        cta.intern(index, &mut self.paths);
        cta.keep(&mut self.accesses, &mut self.barriers);
        self.bytes() <= max_bytes
    }
}

fn run(
    device: &mut Device,
    executable: &Executable,
    launch: &Launch,
    receiver: &mut Receiver<'_>,
) -> Result<LaunchOutcome, Fault> {
    let (mut geometry, ctas) = check(device, executable, launch)?;
    let resident = most_resident(executable, &geometry);
    if launch.cooperative {
        geometry.workspace = workspace(device, executable, (ctas, resident))?;
    }
    let recorded = match receiver {
        Receiver::Addresses(_) => Recording::PathsAndAddresses,
        Receiver::Outcome if launch.record_accesses || launch.record_lines => {
            Recording::PathsAndBytes { lines: launch.record_lines }
        }
        Receiver::Outcome | Receiver::Parts(..) => Recording::Paths,
    };
    let mut running = Running {
        executable,
        launch,
        geometry,
        resident,
        recorded,
        ctas,
        next: 0,
        residents: Residents::default(),
        spare: Vec::new(),
        early: Early::default(),
        awaited: 0,
        kept: Kept::default(),
        progress: Progress {
            left: launch.max_instructions,
            budget: launch.max_instructions,
            slice: if launch.cooperative { SHORT_SLICE } else { SLICE },
            patience: PATIENCE,
            at_once: launch.cooperative,
            thread_instructions: 0,
            printf: Vec::new(),
            printf_truncated: false,
        },
    };
    running.run_all(device, receiver)?;
    if launch.cooperative {
        // It was allocated above, so that it can be freed.
        let _ = device.free(geometry.workspace);
    }
    let Running { kept, progress, .. } = running;
    Ok(LaunchOutcome {
        paths: kept.paths.finish(),
        accesses: kept.accesses,
        barriers: kept.barriers,
        warp_instructions: progress.issued(),
        thread_instructions: progress.thread_instructions,
        ctas,
        warps: ctas * u64::from(geometry.warps),
        printf: progress.printf,
        printf_truncated: progress.printf_truncated,
    })
}

/// A launch while it runs.
struct Running<'e> {
    executable: &'e Executable,
    launch: &'e Launch,
    geometry: Geometry,
    /// Most CTAs that are resident at once.
    resident: u64,
    /// What is recorded of the CTAs that are.
    recorded: Recording,
    ctas: u64,
    /// The CTA that starts next.
    next: u64,
    residents: Residents<'e>,
    /// CTAs that have ended, to be used again.
    spare: Vec<Cta<'e>>,
    early: Early<'e>,
    /// Index of the recorded CTA that is kept next.
    awaited: u64,
    kept: Kept,
    progress: Progress,
}

impl<'e> Running<'e> {
    fn run_all(&mut self, device: &mut Device, receiver: &mut Receiver<'_>) -> Result<(), Fault> {
        while self.next < self.ctas || !self.residents.list.is_empty() {
            let room = (self.residents.list.len() as u64) < self.resident;
            let may_start = self.next < self.ctas && room;
            let changes = device.watch.changes();
            let place = match self.residents.choose(changes, may_start, self.launch.cooperative) {
                Next::Run(place) => place,
                Next::Start => self.start(device),
                Next::Never => return Err(self.never_ends(device)),
            };
            let cta = self.residents.turn(place);
            match cta.run(device, &self.launch.arguments, &mut self.progress)? {
                Turn::Ended => {
                    device.ran_cta();
                    let ended = self.residents.list.remove(place);
                    self.keep(ended.index, ended.cta, receiver)?;
                }
                Turn::Stuck => {
                    self.residents.list[place].stuck_at = Some(device.watch.changes());
                    self.progress.hurry();
                }
                Turn::Polled => self.progress.hurry(),
            }
        }
        Ok(())
    }

    /// Starts the next CTA; its place among the residents.
    fn start(&mut self, device: &Device) -> usize {
        let (index, limit) = (self.next, self.launch.max_kept_bytes);
        self.next += 1;
        let mut cta = self
            .spare
            .pop()
            .unwrap_or_else(|| Cta::new(self.executable, device, self.geometry, limit));
        let recorded = if self.records(index) { self.recorded } else { Recording::Nothing };
        cta.start(self.ctaid(index), recorded);
        self.residents.start(index, cta)
    }

    fn ctaid(&self, index: u64) -> [u32; 3] {
        let [width, height, _] = self.launch.grid.map(u64::from);
        [index % width, index / width % height, index / (width * height)].map(|at| at as u32)
    }

    fn records(&self, index: u64) -> bool {
        match self.launch.record {
            Record::All => true,
            Record::Cta(only) => only == index,
            Record::Nothing => false,
        }
    }

    /// Keeps what a CTA that has ended recorded, in the order of CTAs.
    fn keep(&mut self, index: u64, cta: Cta<'e>, receiver: &mut Receiver<'_>) -> Result<(), Fault> {
        let limit = self.launch.max_kept_bytes;
        let mut fits = true;
        if !self.records(index) {
            self.spare.push(cta);
        } else if self.launch.record == Record::All && index != self.awaited {
            self.early.put(index, cta);
            fits = self.early.bytes <= limit;
        } else {
            let mut cta = cta;
            fits = self.kept.add(index, &mut cta, receiver, limit);
            self.spare.push(cta);
            self.awaited = index + 1;
            while let Some(mut cta) = self.early.take(self.awaited) {
                fits &= self.kept.add(self.awaited, &mut cta, receiver, limit);
                self.awaited += 1;
            }
        }
        if fits {
            return Ok(());
        }
        let place = self.executable.place(0, Thread { ctaid: self.ctaid(index), tid: [0; 3] });
        Err(Fault::TooMuchToKeep { place, limit, of_launch: true })
    }

    fn never_ends(&self, device: &Device) -> Fault {
        let counts = (self.residents.list.len() as u64, self.ctas - self.next);
        // Something is resident: a CTA would have started otherwise.
        self.residents.list[0].cta.never_ends(device, counts)
    }
}

/// Most CTAs that a GPU holds at once.
fn most_resident(executable: &Executable, geometry: &Geometry) -> u64 {
    resident::most(Needs {
        warps: geometry.warps,
        registers: executable.register_rows,
        shared: geometry.shared,
        local: executable.local_bytes,
    })
}

/// Allocates the workspace of a cooperative launch: its size, then the word that `grid.sync()`
/// counts in. Refuses grids that cannot be resident.
fn workspace(
    device: &mut Device,
    executable: &Executable,
    (ctas, limit): (u64, u64),
) -> Result<u64, Fault> {
    let kernel = executable.name.clone();
    if ctas > limit {
        return Err(Fault::NotResident { kernel, ctas, limit });
    }
    let allocated = device.alloc("workspace of grid.sync()", WORKSPACE_BYTES, 8);
    allocated.map_err(|source| Fault::Workspace { kernel, source })
}

/// Refuses launches that no device could run.
fn check(
    device: &Device,
    executable: &Executable,
    launch: &Launch,
) -> Result<(Geometry, u64), Fault> {
    let kernel = || executable.name.clone();
    for (what, dimensions) in [("grid", launch.grid), ("block", launch.block)] {
        if dimensions.contains(&0) {
            return Err(Fault::EmptyDimension { kernel: kernel(), what, dimensions });
        }
    }
    executable
        .rules
        .check(launch.grid, launch.block)
        .map_err(|refused| Fault::Forbidden { kernel: kernel(), refused: Box::new(refused) })?;
    let product = |dimensions: [u32; 3]| dimensions.map(u128::from).iter().product::<u128>();
    let (threads, ctas) = (product(launch.block), product(launch.grid));
    if threads > u128::from(MAX_THREADS) {
        let threads = u64::try_from(threads).unwrap_or(u64::MAX);
        let (block, limit) = (launch.block, MAX_THREADS);
        return Err(Fault::TooManyThreads { kernel: kernel(), block, threads, limit });
    }
    if ctas > u128::from(MAX_CTAS) {
        let (grid, limit) = (launch.grid, MAX_CTAS);
        return Err(Fault::TooManyCtas { kernel: kernel(), grid, ctas, limit });
    }
    let (expected, given) = (executable.parameter_bytes, launch.arguments.len() as u64);
    if expected != given {
        return Err(Fault::WrongArguments { kernel: kernel(), expected, given });
    }
    let needed = executable.shared_bytes.saturating_add(u64::from(launch.dynamic_shared));
    if needed > MAX_SHARED_BYTES {
        return Err(Fault::TooMuchShared { kernel: kernel(), needed, limit: MAX_SHARED_BYTES });
    }
    if executable.local_bytes > MAX_LOCAL_BYTES {
        let (needed, limit) = (executable.local_bytes, MAX_LOCAL_BYTES);
        return Err(Fault::StackTooDeep { kernel: kernel(), needed, limit });
    }
    if device.map != AddressMap::new(executable.address_bits) {
        return Err(Fault::AddressWidth { kernel: kernel(), bits: executable.address_bits });
    }
    if executable.uses_module && device.modules.get(executable.module).is_none() {
        return Err(Fault::ModuleNotLoaded { kernel: kernel() });
    }
    let threads = threads as u32;
    let geometry = Geometry {
        grid: launch.grid,
        block: launch.block,
        threads,
        warps: threads.div_ceil(32),
        ctaid: [0; 3],
        workspace: 0,
        dynamic_shared: launch.dynamic_shared,
        shared: needed as u32,
        total_shared: (needed as u32).next_multiple_of(executable.shared_unit),
        reserved_shared: executable.reserved_shared_bytes as u32,
    };
    Ok((geometry, ctas as u64))
}

impl Executable {
    /// Where a thread is.
    pub(crate) fn place(&self, pc: u32, thread: Thread) -> Place {
        let line = self.lines.get(pc as usize).copied().unwrap_or(0);
        let cuda = self.cuda.get(pc as usize).cloned().flatten();
        Place { kernel: self.name.clone(), line, cuda, pc, thread }
    }

    /// Half of the address of a variable of the module, plus an offset.
    pub(crate) fn address(&self, variable: u32, offset: i64, upper: bool, device: &Device) -> u32 {
        let symbols = device.modules.get(self.module);
        let address = symbols
            .and_then(|symbols| symbols.addresses.get(variable as usize).copied())
            .flatten()
            .unwrap_or(0)
            .wrapping_add(offset as u64);
        if upper { (address >> 32) as u32 } else { address as u32 }
    }
}
