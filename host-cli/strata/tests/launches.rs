//! Launches over slices, as a program that uses the library makes them.

use strata::{Design, Kernel, Launch, Mode, Note, RegisterLimit, Report, measure};

/// Adds `more` to each of as many numbers as there are threads.
const ADD: &str = ".version 8.0\n.target sm_75\n.address_size 64\n\
    .visible .entry add(.param .u64 to, .param .u32 more)\n{\n.reg .b32 %i, %v, %m;\n\
    .reg .b64 %to;\nld.param.u64 %to, [to];\nld.param.u32 %m, [more];\n\
    mov.u32 %i, %tid.x;\nmad.wide.u32 %to, %i, 4, %to;\nld.global.u32 %v, [%to];\n\
    add.u32 %v, %v, %m;\nst.global.u32 [%to], %v;\nret;\n}\n";

fn designs() -> [Design; 2] {
    ["isca11", "isca11-rfc6"].map(|name| Design::new(name).unwrap())
}

#[test]
fn a_launch_changes_its_slice_and_is_measured_under_each_design() {
    let kernel = Kernel::new(ADD).unwrap();
    let mut numbers: Vec<u32> = (0..64).collect();
    let launch = Launch::new(&kernel, 1, [32, 2, 1]).array_mut(&mut numbers).scalar(5_u32);
    let measured = measure(launch, &designs(), Mode::Cycle).unwrap();
    // Threads of both rows have the same x: two warps add to the first 32.
    assert_eq!(numbers[31], 41);
    assert_eq!(numbers[32..], (32..64).collect::<Vec<_>>());
    let [flat, cached] = &measured.reports[..] else { panic!("two designs, two reports") };
    assert_eq!((flat.design.as_str(), cached.design.as_str()), ("isca11", "isca11-rfc6"));
    assert_eq!(flat.counters.warp_instructions(), cached.counters.warp_instructions());
    assert!(cached.counters.mrf_reads() < flat.counters.mrf_reads());
    assert!(cached.energy_fj().unwrap() < flat.energy_fj().unwrap());
    for Report { counters, details, energy, time, .. } in &measured.reports {
        assert_eq!(details.counters["mrf_reads"], counters.mrf_reads());
        assert_eq!(details.counters["cycles"], time.as_ref().unwrap().cycles());
        assert_eq!(details.energy_fj.as_ref().unwrap()["total"], energy.unwrap().total().0);
    }
    assert_eq!(measured.notes, []);
}

#[test]
fn count_mode_has_no_cycles_and_what_is_passed_to_read_is_not_written() {
    let kernel = Kernel::named(ADD, "add").unwrap();
    let numbers = [1_i32; 4];
    let launch = Launch::new(&kernel, 1, 4).array(&numbers).scalar(1_u64);
    let measured = measure(launch, &designs()[..1], Mode::Count).unwrap();
    assert_eq!((numbers, measured.reports[0].cycles()), ([1; 4], None));
}

#[test]
fn a_launch_that_fails_changes_nothing_and_says_why() {
    let kernel = Kernel::new(ADD).unwrap();
    let mut numbers = [1_u32; 4];
    let launch = Launch::new(&kernel, 1, 8).array_mut(&mut numbers).scalar(1_u8);
    let error = measure(launch, &designs(), Mode::Count).unwrap_err().to_string();
    assert!(error.contains("PTX line 12") && error.contains("thread (4, 0, 0)"), "{error}");
    let launch = Launch::new(&kernel, 1, 4).array_mut(&mut numbers).scalar(1.5_f64);
    let error = measure(launch, &designs(), Mode::Count).unwrap_err().to_string();
    assert!(error.starts_with("argument 1 of kernel `add`"), "{error}");
    let twice = [designs()[0].clone(), designs()[0].clone()];
    let launch = Launch::new(&kernel, 1, 4).array_mut(&mut numbers).scalar(1_u8);
    let error = measure(launch, &twice, Mode::Count).unwrap_err().to_string();
    assert!(error.starts_with("design `isca11` is named twice"), "{error}");
    assert_eq!(numbers, [1; 4]);
}

#[test]
fn designs_and_kernels_come_from_texts() {
    let text = "base = \"isca11-rfc6\"\n[cache]\nentries = 4\n";
    let of_text = Design::from_toml("mine", text).unwrap();
    let mut numbers = [0_u32; 4];
    let kernel = Kernel::new(ADD).unwrap();
    let mut counters = |design: Design| {
        let launch = Launch::new(&kernel, 1, 4)
            .array_mut(&mut numbers)
            .scalar(1_i64)
            .registers(RegisterLimit::new(32).unwrap());
        measure(launch, &[design], Mode::Count).unwrap().reports.remove(0).counters
    };
    assert_eq!(of_text.name(), "mine");
    assert_eq!(counters(of_text), counters(Design::new("isca11-rfc4").unwrap()));
    assert_eq!(numbers, [2; 4]);
    let error = Design::from_toml("mine", "base = \"isca11\"\n[cach]\n").unwrap_err();
    assert!(error.to_string().contains("mine.toml:2"), "{error}");
    let error = Kernel::new(&ADD.replace("mov.u32 %i", "mov.u32 %j")).unwrap_err();
    assert!(error.to_string().contains("PTX:10:"), "{error}");
    let unknown = Kernel::new(&ADD.replace("add.u32", "addd.u32")).unwrap();
    let launch = Launch::new(&unknown, 1, 4).array(&numbers).scalar(1_u8);
    let error = measure(launch, &designs(), Mode::Count).unwrap_err();
    assert!(error.to_string().contains("PTX:13:"), "{error}");
}

#[test]
fn what_a_kernel_prints_is_a_note() {
    let printing = ".version 8.0\n.target sm_75\n.address_size 64\n\
        .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n\
        .global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};\n\
        .visible .entry hello()\n{\n.reg .b64 %f, %z;\n.reg .b32 %r;\n\
        mov.u64 %f, text;\ncvta.global.u64 %f, %f;\nmov.u64 %z, 0;\n{\n\
        .param .b64 p0;\nst.param.b64 [p0], %f;\n.param .b64 p1;\nst.param.b64 [p1], %z;\n\
        .param .b32 r0;\ncall.uni (r0), vprintf, (p0, p1);\nld.param.b32 %r, [r0];\n}\nret;\n}\n";
    let kernel = Kernel::new(printing).unwrap();
    let measured = measure(Launch::new(&kernel, 1, 1), &designs(), Mode::Count).unwrap();
    let [Note::Note(text)] = &measured.notes[..] else { panic!("{:?}", measured.notes) };
    assert!(text.ends_with("hello"), "{text}");
}
