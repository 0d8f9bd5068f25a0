//! Recording of what is executed: a workload's launches into a `.strata` file.

use strata_simt::AddressSink;

use crate::notes::Notes;
use crate::request::Request;
use crate::results::check;
use crate::results::printed;
use crate::subject;
use strata_files::failure::Failure;
use strata_files::output::Output;
use strata_trace::store::{Recorder, StoreError, Stored};
use strata_trace::{Header, declared_version, native_instructions};
use strata_workload::Workload;
use strata_workload::simulate::{LaunchRecord, LaunchSink, Prepared};

/// Executes a workload and records its paths and addresses. Returns how many launches and warp
/// instructions there are.
pub fn record(
    workload: &Workload,
    output: &Output,
    request: &Request,
    notes: &dyn Notes,
) -> Result<(u64, u64), Failure> {
    let prepared = subject::prepare(workload, &request.size, &request.overrides)?;
    Ok(record_prepared((workload, &prepared), output, (request, true), notes)??)
}

/// Executes a prepared workload and records its paths, with addresses or without. Returns how many
/// launches and warp instructions there are. Without addresses, launches come in parts as the
/// request says, each of which is a launch of the recording.
pub(crate) fn record_prepared(
    (workload, prepared): (&Workload, &Prepared),
    output: &Output,
    (request, addresses): (&Request, bool),
    notes: &dyn Notes,
) -> Result<Result<(u64, u64), StoreError>, Failure> {
    let recorder = match Recorder::create(output) {
        Ok(recorder) => recorder,
        Err(error) => return Ok(Err(error)),
    };
    let written = Ok(());
    let mut tape = Tape { recorder, addresses, written, launches: 0, instructions: 0, notes };
    let finals = prepared.execute_into(&request.options, &mut tape);
    let finals = finals.map_err(|error| subject::run_error(workload, &error))?;
    let Tape { recorder, written, launches, instructions, .. } = tape;
    if let Err(error) = written {
        return Ok(Err(error));
    }
    check(prepared, &finals)?;
    Ok(recorder.finish().map(|()| (launches, instructions)))
}

/// A recording while its workload runs.
struct Tape<'a> {
    recorder: Recorder,
    /// Whether addresses are wanted.
    addresses: bool,
    written: Result<(), StoreError>,
    launches: u64,
    instructions: u64,
    notes: &'a dyn Notes,
}

impl LaunchSink for Tape<'_> {
    fn addresses(&mut self) -> Option<&mut dyn AddressSink> {
        self.addresses.then_some(&mut self.recorder as &mut dyn AddressSink)
    }

    fn launch(&mut self, launch: LaunchRecord<'_>) {
        if !launch.outcome.printf.is_empty() {
            self.notes.note(&printed(&launch));
        }
        if self.written.is_ok() {
            self.launches += 1;
            self.instructions += launch.outcome.paths.warp_instructions();
            self.written = self.recorder.launch(&stored(launch));
        }
    }
}

fn stored(launch: LaunchRecord<'_>) -> Stored {
    let LaunchRecord { program, executable, step, outcome, .. } = launch;
    let windows = executable.windows();
    let instructions = native_instructions(program, executable);
    let shared_bytes = program.shared_bytes + u64::from(step.dynamic_shared);
    Stored {
        header: Header {
            name: program.name.clone(),
            grid: step.grid,
            block: step.block,
            shared_bytes: u32::try_from(shared_bytes).unwrap_or(u32::MAX),
            registers: program.general_registers.max(1),
            binary_version: declared_version(&instructions),
            shared_base: windows.shared,
            local_base: windows.local,
            parameter_base: windows.parameters,
            tracer_version: 0,
            line_info: false,
        },
        instructions,
        image: program.image.clone(),
        order: Some(program.order),
        resident_registers: program.resident_registers,
        assumptions: Vec::new(),
        paths: outcome.paths,
    }
}
