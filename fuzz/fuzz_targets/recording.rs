//! Any bytes as the facts of a recorded launch: an error, or a launch that can be counted. The
//! checksums around them are left out, since no mutation would get past them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some(stored) = strata::trace::store::decode_facts(bytes) {
        let flat = strata_core::organisation::Organisation::FLAT;
        // A total may overflow, which is an error and no panic.
        let image = (&stored.image).into();
        let _ = strata::evaluate::count_launch(&flat, false, image, &stored.paths);
    }
});
