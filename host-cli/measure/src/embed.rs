//! Embedding: one executed launch as Rust source, so that firmware has it in its image and needs
//! neither files nor a decoder.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;

use strata_compiler::Order;
use strata_core::image::{Predicates, StaticInstruction};
use strata_core::path::PathStep;
use strata_core::units::LaneMask;

use crate::notes::Notes;
use crate::options::Mode;
use crate::request::Request;
use crate::subject;
use strata_files::failure::Failure;
use strata_files::output::{Kind, Output};
use strata_files::partial_file::PartialFile;
use strata_workload::Workload;
use strata_workload::simulate::LaunchRecord;

/// What [`embed`] writes.
pub const EMBEDDED: Kind = Kind {
    name: "what `strata trace embed` writes",
    begins: b"// Written by `strata trace embed`: ",
};

/// Executes a workload and writes the one launch that the request counts as an expression of type
/// `strata_firmware::Workload`. Returns its warps.
pub fn embed(
    workload: &Workload,
    output: &Output,
    request: &Request,
    notes: &dyn Notes,
) -> Result<usize, Failure> {
    if workload.options.order == Order::ScheduledRenamed {
        return Err(Failure::input(format!(
            "firmware has no register file that grows with `--order {}`",
            workload.options.order.name()
        ))
        .hint("choose another order"));
    }
    let request = request.clone().in_mode(Mode::Cycle);
    let prepared = subject::prepare(workload, &request.size, &request.overrides)?;
    let failed = |error: std::io::Error| Failure::file(output.named(), "write", &error);
    let mut file = PartialFile::create(output).map_err(failed)?;
    let (mut launches, mut warps, mut text) = (0_u32, 0, Ok(String::new()));
    let finals = prepared.execute(&request.options, |launch| {
        launches += 1;
        if launches == 1 {
            warps = launch.outcome.paths.warps().len();
            text = source(&workload.name, &launch);
        }
        if !launch.outcome.printf.is_empty() {
            notes.note(&crate::results::printed(&launch));
        }
    });
    let finals = finals.map_err(|error| subject::run_error(workload, &error))?;
    crate::results::check(&prepared, &finals)?;
    if launches != 1 {
        return Err(Failure::input(format!(
            "firmware holds one launch, but `{}` has {launches} of those asked for",
            workload.name
        ))
        .hint("choose one with `--launch-index`"));
    }
    file.write_all(text?.as_bytes()).and_then(|()| file.finish()).map_err(failed)?;
    Ok(warps)
}

/// The launch as an expression. Equal sequences of accesses are written once, as paths are.
fn source(name: &str, launch: &LaunchRecord<'_>) -> Result<String, Failure> {
    let (image, outcome) = (&launch.program.image, &launch.outcome);
    let (mut sequences, mut numbers) = (Vec::new(), HashMap::new());
    let mut warps = String::new();
    for (place, warp) in outcome.paths.warps().iter().enumerate() {
        let moved = outcome.accesses.of_warp(place);
        let number = *numbers.entry(moved).or_insert_with(|| {
            sequences.push(moved);
            sequences.len() - 1
        });
        let (Ok(path), Ok(accesses)) = (u16::try_from(warp.path), u16::try_from(number)) else {
            return Err(Failure::input(format!(
                "`{name}` has more than 65536 distinct paths or sequences of accesses"
            ))
            .hint("choose a smaller size, or one CTA with `--cta`"));
        };
        line(&mut warps, format_args!("WarpRecord {{ path: {path}, accesses: {accesses} }},"));
    }
    let mut text = heading(name, launch);
    for one in &image.instructions {
        instruction(&mut text, one);
    }
    text.push_str("    ],\n    slots: &[\n");
    for slots in image.slots.chunks(6) {
        let slots: Vec<_> = slots.iter().map(|slot| format!("RegisterId({})", slot.0)).collect();
        line(&mut text, format_args!("{},", slots.join(", ")));
    }
    text.push_str("    ],\n    },\n    paths: &[\n");
    for (path, _) in outcome.paths.iter() {
        text.push_str("    &[\n");
        for &PathStep { pc, length, mask: LaneMask(mask) } in path {
            line(
                &mut text,
                format_args!(
                    "PathStep {{ pc: {pc}, length: {length}, mask: LaneMask({mask:#010x}) }},"
                ),
            );
        }
        text.push_str("    ],\n");
    }
    text.push_str("    ],\n    accesses: &[\n");
    for moved in sequences {
        line(&mut text, format_args!("&{moved:?},"));
    }
    text.push_str("    ],\n    warps: &[\n");
    text.push_str(&warps);
    text.push_str("    ],\n    }\n}\n");
    Ok(text)
}

/// Everything before the instructions.
fn heading(name: &str, launch: &LaunchRecord<'_>) -> String {
    let threads: u32 = launch.step.block.iter().product();
    let shared_bytes = launch.program.shared_bytes + u64::from(launch.step.dynamic_shared);
    let (kernel, registers) = (launch.kernel, launch.program.image.registers);
    format!(
        "// Written by `strata trace embed`: kernel `{kernel}` of workload `{name}`.\n\
         {{\n    use strata_core::image::{{Flags, KernelImage, MemorySpace, Predicates}};\n    \
         use strata_core::image::{{StaticInstruction, Unit}};\n    \
         use strata_core::path::PathStep;\n    \
         use strata_core::units::{{LaneMask, RegisterId}};\n    \
         use strata_firmware::{{WarpRecord, Workload}};\n    \
         Workload {{\n    name: {name:?},\n    threads: {threads},\n    \
         shared_bytes: {shared_bytes},\n    \
         image: KernelImage {{\n    registers: {registers},\n    instructions: &[\n"
    )
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "        {what}");
}

/// Taken apart field by field: a new field does not compile before it is written here too.
fn instruction(text: &mut String, instruction: &StaticInstruction) {
    let StaticInstruction {
        first_slot,
        sources,
        destinations,
        unit,
        space,
        flags,
        predicates: Predicates { read, written },
        last_use,
        never_read,
        not_read_before_deschedule,
        last_use_before_deschedule,
        private_reads,
    } = *instruction;
    let space = space.map_or("None".to_owned(), |space| format!("Some(MemorySpace::{space:?})"));
    line(
        text,
        format_args!(
            "StaticInstruction {{ first_slot: {first_slot}, sources: {sources}, \
             destinations: {destinations}, unit: Unit::{unit:?}, space: {space}, \
             flags: Flags::from_bits_retain({:#x}), \
             predicates: Predicates {{ read: {read:#x}, written: {written:#x} }}, \
             last_use: {last_use:#x}, never_read: {never_read:#x}, \
             not_read_before_deschedule: {not_read_before_deschedule:#x}, \
             last_use_before_deschedule: {last_use_before_deschedule:#x}, \
             private_reads: {private_reads:#x} }},",
            flags.bits()
        ),
    );
}
