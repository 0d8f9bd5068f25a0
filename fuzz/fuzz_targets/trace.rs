//! Any bytes as an Accel-Sim trace: an error, or a launch that can be counted.
#![no_main]

use strata::trace::{Keep, TracedLaunch};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let keep = Keep { accesses: true, max_instructions: 1 << 20, ..Keep::default() };
    if let Ok(launch) = TracedLaunch::parse(bytes.to_vec(), "fuzz.traceg", &keep) {
        let flat = strata_core::organisation::Organisation::FLAT;
        let image = (&launch.code.image).into();
        let counted = strata::evaluate::count_launch(&flat, false, image, &launch.paths);
        counted.expect("what was read can be counted");
    }
});
