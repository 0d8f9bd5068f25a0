//! A workload on the functional executor: compile, allocate, launch, read back.
//!
//! [`Prepared::new`] does everything that can be refused before anything runs;
//! [`Prepared::execute`] runs all launches in order and hands each outcome to a sink as soon as it
//! is there, so that no more than one launch's paths are in memory at a time, or no more than one
//! part of them ([`Options::part_bytes`]).

use std::sync::Arc;

use strata_compiler::program::Program;
use strata_core::placement::Placement;
use strata_core::sm::partition::Needs;
use strata_ptx::diagnostic::Diagnostic;
use strata_ptx::module::{FunctionId, Module};
use strata_simt::{
    AddressSink, Device, DeviceError, Executable, Fault, Launch, LaunchOutcome, MAX_KEPT_BYTES,
    PlacementError, Record, execute, execute_in_parts, execute_into,
};

use super::bindings;
use super::buffer::Contents;
use super::compare::{CheckPlan, CompareError, Comparison};
use super::decoded::Decoded;
use super::plan::{Argument, DriveError, LaunchPlan, LaunchStep, LaunchTarget};
pub use super::run_error::RunError;
use super::workload::{Overrides, Workload};
use crate::kernel_name;
use crate::watch;

/// What to execute and what to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Budget for all launches together. Unit: warp instructions.
    pub max_instructions: u64,
    /// Record launches of this kernel only.
    pub kernel: Option<String>,
    /// Record the launch with this index only; launches count from 0 over all kernels.
    pub launch_index: Option<u64>,
    /// Record the CTA with this linear index (x fastest) of each recorded launch only.
    pub cta: Option<u64>,
    /// Record paths at all; otherwise launches are handed on without.
    pub record_paths: bool,
    /// Also record what memory instructions move.
    pub accesses: bool,
    /// Also record the lines that memory instructions touch, for memories that know addresses.
    pub lines: bool,
    /// Pass paths on as soon as they take this much, for users that need no whole launch; without
    /// effect where accesses or addresses are recorded. Unit: bytes.
    pub part_bytes: Option<u64>,
    /// Most that is kept of a launch that is not passed on in parts, and of a CTA. Unit: bytes.
    pub max_kept_bytes: u64,
}

impl Default for Options {
    /// Everything is recorded, within 2^32 warp instructions.
    fn default() -> Self {
        Self {
            max_instructions: 1 << 32,
            kernel: None,
            launch_index: None,
            cta: None,
            record_paths: true,
            accesses: false,
            lines: false,
            part_bytes: None,
            max_kept_bytes: MAX_KEPT_BYTES,
        }
    }
}

impl Options {
    /// These options with no launch's paths kept: results and what is printed only.
    #[must_use]
    pub fn recording_nothing(&self) -> Self {
        Self { record_paths: false, ..self.clone() }
    }
}

/// A launch that was executed and recorded.
#[derive(Debug)]
pub struct LaunchRecord<'a> {
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Index of the launch, from 0 over all kernels of the workload.
    pub index: u64,
    /// What was launched.
    pub step: &'a LaunchStep,
    /// The compiled kernel.
    pub program: &'a Program,
    /// The compiled kernel, decoded.
    pub executable: &'a Executable,
    /// What it did; of a part that is not the last, only the paths.
    pub outcome: LaunchOutcome,
    /// Whether this is the whole launch, or the last part of it.
    pub last: bool,
}

/// Receives what is recorded of a workload's launches.
pub trait LaunchSink {
    /// Receives the addresses of the next recorded launch while it runs; `None` when no caller
    /// wants them.
    fn addresses(&mut self) -> Option<&mut dyn AddressSink>;

    /// A launch has ended, or a part of it.
    fn launch(&mut self, launch: LaunchRecord<'_>);
}

/// Wants no addresses.
struct WithoutAddresses<F>(F);

impl<F: FnMut(LaunchRecord<'_>)> LaunchSink for WithoutAddresses<F> {
    fn addresses(&mut self) -> Option<&mut dyn AddressSink> {
        None
    }

    fn launch(&mut self, launch: LaunchRecord<'_>) {
        (self.0)(launch);
    }
}

/// A workload at one size, compiled and ready to be executed any number of times.
#[derive(Debug)]
pub struct Prepared {
    /// The workload's name.
    pub name: String,
    /// The parsed PTX.
    pub module: Module,
    /// What is allocated and launched.
    pub plan: LaunchPlan,
    /// What the results are compared with, when the launch file says so.
    pub check: Option<CheckPlan>,
    /// The compiled kernels, in the order of [`LaunchPlan::kernels`].
    pub programs: Vec<Program>,
    executables: Vec<Executable>,
}

impl Prepared {
    /// Parses, plans and compiles. Fails with every reason at once where the PTX is to blame.
    pub fn new(workload: &Workload, size: &str, overrides: &Overrides) -> Result<Self, RunError> {
        let refuse = |diagnostics| RunError::Ptx { file: workload.ptx_file.clone(), diagnostics };
        let parsed = strata_ptx::parse(&workload.ptx);
        if parsed.has_errors() {
            return Err(refuse(parsed.diagnostics));
        }
        let module = parsed.module;
        let (plan, check) = workload.plan(size, overrides, &module)?;
        let mut refused = Vec::new();
        let mut programs = Vec::with_capacity(plan.kernels.len());
        let mut executables = Vec::with_capacity(plan.kernels.len());
        for name in &plan.kernels {
            // A plan's kernels are kernels of the module: `resolve` looked them up there.
            let kernel = module.kernel(name).unwrap_or(FunctionId(0));
            let decoded = Decoded::new(&module, &parsed.diagnostics, kernel, workload.options);
            programs.extend(decoded.program);
            executables.extend(decoded.executable);
            refused.extend(decoded.problems);
        }
        plan.foresee(|step| {
            let kernel = module.kernel(&plan.kernels[step.kernel]);
            let function = &module.functions[kernel.map_or(0, FunctionId::index)];
            // Of many launches that one directive forbids, the first.
            let first = |new: &Diagnostic| refused.iter().all(|known| known.span != new.span);
            if let Some(why) = function.check_launch(step.grid, step.block).err().filter(first) {
                refused.push(why);
            }
        })?;
        if refused.is_empty() {
            let name = workload.name.clone();
            Ok(Self { name, module, plan, check, programs, executables })
        } else {
            refused.sort_by_key(|diagnostic| diagnostic.span.start);
            refused.dedup();
            Err(refuse(refused))
        }
    }

    /// Has the values of the compiled kernels live where hierarchies fitted to them place them, as
    /// [`Executable::with_levels`] does; `placements` has a list for each of the programs.
    /// Results stay the same if every placement is right.
    ///
    /// # Errors
    ///
    /// Lists that the kernels' operands cannot have.
    pub fn with_levels(mut self, placements: &[&[Placement]]) -> Result<Self, PlacementError> {
        let kernels = self.executables.iter_mut().zip(&self.programs);
        for (index, (executable, program)) in kernels.enumerate() {
            // A kernel without a list has no placement for its slots.
            let placements = placements.get(index).copied().unwrap_or_default();
            *executable = executable.clone().with_levels(program, placements)?;
        }
        Ok(self)
    }

    /// The kernel that an option names, as the plan has it.
    fn kernel(&self, asked: &str) -> Result<&str, RunError> {
        let all = &self.plan.kernels;
        kernel_name::find(all.iter().map(String::as_str), asked).map_err(|meant| {
            let (what, known) = match meant.as_slice() {
                [] => ("no kernel", kernel_name::list(all.iter().map(String::as_str))),
                several => ("several kernels", several.join("; ")),
            };
            let (workload, kernel) = (self.name.clone(), asked.to_owned());
            RunError::NoSuchKernel { workload, what, kernel, known }
        })
    }

    /// Refuses to run a kernel that uses a reference to which nothing is bound.
    fn check_bindings(&self) -> Result<(), RunError> {
        let is_bound = |name: &str| {
            self.plan.objects.iter().any(|object| object.reference.as_deref() == Some(name))
        };
        let unbound = self.programs.iter().find_map(|program| {
            let (name, kind) = bindings::unbound(program, &self.module, is_bound)?;
            Some((program.name.clone(), name.to_owned(), kind))
        });
        let workload = self.name.clone();
        unbound.map_or(Ok(()), |(kernel, name, kind)| {
            Err(RunError::Unbound { workload, kernel, name, kind })
        })
    }

    /// Runs every launch on a new device and returns the final contents of the plan's buffers.
    ///
    /// `sink` gets each recorded launch, in order, in parts if the options say so. Memory: the
    /// buffers, once, and of the paths and accesses of one launch at most twice what the options
    /// say.
    pub fn execute(
        &self,
        options: &Options,
        sink: impl FnMut(LaunchRecord<'_>),
    ) -> Result<Vec<Vec<u8>>, RunError> {
        self.execute_into(options, &mut WithoutAddresses(sink))
    }

    /// Runs every launch on a new device and returns the final contents of the plan's buffers, as
    /// [`Prepared::execute`] does, for sinks that may also take addresses. Addresses replace the
    /// accesses of [`Options::accesses`].
    pub fn execute_into(
        &self,
        options: &Options,
        sink: &mut impl LaunchSink,
    ) -> Result<Vec<Vec<u8>>, RunError> {
        let only = options.kernel.as_deref().map(|asked| self.kernel(asked)).transpose()?;
        let failed = |source| RunError::Device { workload: self.name.clone(), source };
        let mut target = Target::new(self, options, only, sink)?;
        let count = match self.plan.drive(&mut target) {
            Ok(count) => count,
            Err(DriveError::Target(error)) => return Err(error),
            Err(DriveError::Plan(error)) => return Err(error.into()),
        };
        let missing = |what, index, count| {
            let workload = self.name.clone();
            Err(RunError::NoSuchIndex { workload, what, index, count })
        };
        match (options.launch_index, options.cta) {
            (Some(index), _) if index >= count => missing("launch", index, count),
            (_, Some(index)) if index >= target.most_ctas => {
                missing("CTA", index, target.most_ctas)
            }
            _ => target.finals().map_err(failed),
        }
    }

    /// What its launches need of an SM's storage, equal ones once. Launches that depend on results
    /// count as those of the first iteration.
    ///
    /// # Errors
    /// An expression of the launch file without a value.
    pub fn needs(&self) -> Result<Vec<Needs>, RunError> {
        let mut all = Vec::new();
        for (_, needs) in self.needs_of_kernels()? {
            if !all.contains(&needs) {
                all.push(needs);
            }
        }
        Ok(all)
    }

    /// What its launches need of an SM's storage, with the name of the kernel: equal pairs once.
    /// Launches that depend on results count as those of the first iteration.
    ///
    /// # Errors
    /// Those of [`Self::needs`].
    pub fn needs_of_kernels(&self) -> Result<Vec<(&str, Needs)>, RunError> {
        let mut all = Vec::new();
        self.plan.foresee(|step| {
            let program = &self.programs[step.kernel];
            let shared = u32::try_from(program.shared_bytes).unwrap_or(u32::MAX);
            let needs = Needs {
                threads_per_cta: step.block.iter().product(),
                registers: program.resident_registers,
                shared_bytes: shared.saturating_add(step.dynamic_shared),
            };
            let needs = (program.name.as_str(), needs);
            if !all.contains(&needs) {
                all.push(needs);
            }
        })?;
        Ok(all)
    }

    /// Compares final buffers with the host reference; `None` when the launch file has no check.
    pub fn compare(&self, finals: &[Vec<u8>]) -> Result<Option<Vec<Comparison>>, CompareError> {
        self.check.as_ref().map(|check| check.compare(&self.plan, finals)).transpose()
    }
}

/// The executor as the target of a plan.
struct Target<'a, S> {
    prepared: &'a Prepared,
    options: &'a Options,
    /// The only kernel that is recorded.
    only: Option<&'a str>,
    device: Device,
    executables: Vec<Executable>,
    addresses: Vec<u64>,
    /// Of textures, surfaces and samplers.
    handles: Vec<u64>,
    /// Unit: warp instructions.
    left: u64,
    /// CTAs of the largest recorded launch.
    most_ctas: u64,
    sink: &'a mut S,
}

impl<'a, S: LaunchSink> Target<'a, S> {
    fn new(
        prepared: &'a Prepared,
        options: &'a Options,
        only: Option<&'a str>,
        sink: &'a mut S,
    ) -> Result<Self, RunError> {
        let workload = &prepared.name;
        let failed = |source| RunError::Device { workload: workload.clone(), source };
        let unmade = |source| RunError::Texture { workload: workload.clone(), source };
        let module = &prepared.module;
        let mut device = Device::with_limit(module.address_bits, Device::DEFAULT_LIMIT);
        let handle = device.load_module(module).map_err(failed)?;
        device.count_ctas(watch::current().map(|watch| Arc::clone(watch.done())));
        let mut executables = prepared.executables.clone();
        for executable in &mut executables {
            executable.set_module(handle);
        }
        let mut addresses = Vec::with_capacity(prepared.plan.buffers.len());
        for buffer in &prepared.plan.buffers {
            let placed = buffer.variable.as_deref();
            let placed = placed.and_then(|name| device.variable(handle, module, name));
            let address = match placed {
                Some(address) => address,
                None => device
                    .alloc(&buffer.name, buffer.bytes(), buffer.element.bytes())
                    .map_err(failed)?,
            };
            if buffer.contents != Contents::Kept {
                device.write(address, &buffer.initial()).map_err(failed)?;
            }
            addresses.push(address);
        }
        for (buffer, address) in prepared.plan.buffers.iter().zip(&addresses) {
            if let Some(bytes) = buffer.addresses(&addresses) {
                device.write(*address, &bytes).map_err(failed)?;
            }
        }
        let mut handles = Vec::with_capacity(prepared.plan.objects.len());
        for object in &prepared.plan.objects {
            let placed = object.placed(&addresses, module);
            handles.push(device.create_object(&object.name, placed).map_err(unmade)?);
            if let Some(reference) = &object.reference {
                device.bind_reference(handle, module, reference, placed).map_err(unmade)?;
            }
        }
        prepared.check_bindings()?;
        let left = options.max_instructions;
        Ok(Self {
            prepared,
            options,
            only,
            device,
            executables,
            addresses,
            handles,
            left,
            most_ctas: 0,
            sink,
        })
    }

    fn finals(&self) -> Result<Vec<Vec<u8>>, DeviceError> {
        let buffers = self.prepared.plan.buffers.iter().zip(&self.addresses);
        buffers
            .map(|(buffer, &address)| Ok(self.device.read(address, buffer.bytes())?.to_vec()))
            .collect()
    }

    fn failed(&self, source: DeviceError) -> RunError {
        RunError::Device { workload: self.prepared.name.clone(), source }
    }

    /// Why a launch stopped. The budget is that of all launches together, of which this one had
    /// what was left.
    fn fault(&self, index: u64, mut fault: Fault) -> RunError {
        if let Fault::BudgetExceeded { budget, .. } = &mut fault {
            *budget = self.options.max_instructions;
        }
        RunError::Fault { workload: self.prepared.name.clone(), index, source: Box::new(fault) }
    }

    /// The parameter block: every argument where the kernel looks for it.
    fn parameters(&self, step: &LaunchStep) -> Vec<u8> {
        let program = &self.prepared.programs[step.kernel];
        let size = self.executables[step.kernel].parameter_bytes() as usize;
        let mut block = vec![0; size];
        for (argument, variable) in step.arguments.iter().zip(&program.variables) {
            // `resolve` held the widths against the parameters.
            self.store(argument, &mut block[variable.offset as usize..]);
        }
        block
    }

    /// Writes an argument to the start of `place`, or as much of it as there is room for.
    fn store(&self, argument: &Argument, place: &mut [u8]) {
        let value = match argument {
            // A pointer of a 32-bit module is the lower half of its address.
            Argument::Buffer { index, offset } => {
                let bytes = self.prepared.module.address_bits as usize / 8;
                (self.addresses[*index] + offset).to_le_bytes()[..bytes].to_vec()
            }
            Argument::Scalar(scalar) => scalar.bytes(),
            Argument::Object(index) => self.handles[*index].to_le_bytes().to_vec(),
            Argument::Bytes(bytes) => bytes.clone(),
            Argument::Structure(fields) => {
                for (at, field) in fields {
                    self.store(field, place.get_mut(*at as usize..).unwrap_or_default());
                }
                return;
            }
        };
        for (to, from) in place.iter_mut().zip(value) {
            *to = from;
        }
    }
}

impl<S: LaunchSink> LaunchTarget for Target<'_, S> {
    type Error = RunError;

    fn write(&mut self, buffer: usize, bytes: &[u8]) -> Result<(), RunError> {
        let address = self.addresses[buffer];
        self.device.write(address, bytes).map_err(|error| self.failed(error))
    }

    fn is_zero(&mut self, buffer: usize) -> Result<bool, RunError> {
        let bytes = self.prepared.plan.buffers[buffer].bytes();
        let contents = self.device.read(self.addresses[buffer], bytes);
        Ok(contents.map_err(|error| self.failed(error))?.iter().all(|&byte| byte == 0))
    }

    fn launch(&mut self, index: u64, step: &LaunchStep) -> Result<(), RunError> {
        let kernel = self.prepared.plan.kernels[step.kernel].as_str();
        let recorded = self.only.is_none_or(|only| only == kernel)
            && self.options.launch_index.is_none_or(|only| only == index);
        let record = match (recorded && self.options.record_paths, self.options.cta) {
            (false, _) => Record::Nothing,
            (true, None) => Record::All,
            (true, Some(cta)) => Record::Cta(cta),
        };
        let launch = Launch {
            grid: step.grid,
            block: step.block,
            dynamic_shared: step.dynamic_shared,
            cooperative: step.cooperative,
            arguments: self.parameters(step),
            max_instructions: self.left,
            record,
            record_accesses: self.options.accesses,
            record_lines: self.options.lines,
            max_kept_bytes: self.options.max_kept_bytes,
        };
        if let Some(watch) = watch::current() {
            watch.launch(step.grid.iter().map(|&side| u64::from(side)).product());
        }
        let program = &self.prepared.programs[step.kernel];
        let executable = &self.executables[step.kernel];
        let (device, sink) = (&mut self.device, &mut *self.sink);
        let part_bytes = self.options.part_bytes.filter(|_| recorded && !self.options.accesses);
        let outcome = if let Some(addresses) = sink.addresses().filter(|_| recorded) {
            execute_into(device, executable, &launch, addresses)
        } else if let Some(bytes) = part_bytes {
            execute_in_parts(device, executable, &launch, bytes, &mut |paths| {
                let outcome = LaunchOutcome { paths, ..LaunchOutcome::default() };
                let (step, last) = (step, false);
                sink.launch(LaunchRecord {
                    kernel,
                    index,
                    step,
                    program,
                    executable,
                    outcome,
                    last,
                });
            })
        } else {
            execute(device, executable, &launch)
        };
        let outcome = outcome.map_err(|fault| self.fault(index, fault))?;
        self.left = self.left.saturating_sub(outcome.warp_instructions);
        if recorded {
            self.most_ctas = self.most_ctas.max(outcome.ctas);
            let program = &self.prepared.programs[step.kernel];
            let executable = &self.executables[step.kernel];
            let last = true;
            let record = LaunchRecord { kernel, index, step, program, executable, outcome, last };
            self.sink.launch(record);
        }
        Ok(())
    }
}
