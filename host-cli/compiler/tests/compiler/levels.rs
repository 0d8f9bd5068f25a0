//! Exact strands and levels of small kernels: each rule of `[DISS]` 6.3 and 6.4 on its own.

use strata_compiler::hierarchy::{
    Code, DualWrites, Hierarchy, HierarchyConfig, Lrf, Outcome, Start, fit,
};
use strata_compiler::program::Program;
use strata_compiler::statistics::{WideOperands, wide_operands};
use strata_core::placement::{Placement, Upper};

use crate::facts::compiled;
use crate::hierarchy::config;

/// What the bodies read, written in a strand of its own.
const BEFORE: &str = "mov.u32 %r9, %tid.x; mov.u32 %r8, %tid.y; mov.u64 %rd3, 64;
    cvt.rn.f32.u32 %f2, %r9; cvt.rn.f32.u32 %f4, %r8; bar.sync 0;";
/// Its instructions, and the load of the parameter before them.
const FIRST: usize = 7;

fn fitted(body: &str, config: &HierarchyConfig) -> (Program, Hierarchy) {
    let program = compiled(body);
    let hierarchy = fit(&Code::new(&program).expect("small"), config).expect("a good config");
    (program, hierarchy)
}

fn name(placement: Placement) -> String {
    let upper = match placement.upper {
        Some(Upper::Orf(entry)) => format!("o{entry}"),
        Some(Upper::Lrf(bank)) => format!("l{bank}"),
        None => return "m".into(),
    };
    if placement.main { format!("m+{upper}") } else { upper }
}

/// Levels of the body's instructions: operands, then results.
fn levels(body: &str, config: &HierarchyConfig) -> Vec<String> {
    let (program, hierarchy) = fitted(&format!("{BEFORE}{body}"), config);
    let names = |slots: &[Placement]| slots.iter().map(|&p| name(p)).collect::<Vec<_>>().join(" ");
    let records = program.image.instructions.iter();
    let text = records.map(|record| {
        let all = &hierarchy.placements[record.first_slot as usize..];
        let (sources, rest) = all.split_at(usize::from(record.sources));
        format!("{} -> {}", names(sources), names(&rest[..usize::from(record.destinations)]))
    });
    text.skip(FIRST).collect()
}

/// Instructions at which strands start, from the second, and why.
fn starts(body: &str) -> Vec<(usize, Start)> {
    let (_, hierarchy) = fitted(body, &config(Lrf::None));
    let starts = hierarchy.strands.starts.iter().enumerate().skip(1);
    starts.filter_map(|(pc, start)| Some((pc, (*start)?))).collect()
}

#[test]
fn strands_end_where_the_figure_shows() {
    // Figure 6.4(a): a loop with a load that its own body consumes.
    let body = "mov.u32 %r1, 0;
        L: ld.global.u32 %r2, [%rd1];
        add.s32 %r1, %r1, 1;
        add.s32 %r3, %r2, %r1;
        setp.lt.s32 %p1, %r1, 9;
        @%p1 bra L;
        st.global.u32 [%rd1], %r3;";
    let expected =
        [(2, Start::BackwardBranch), (4, Start::LongLatency), (7, Start::BackwardBranch)];
    assert_eq!(starts(body), expected);
    // Figure 6.4(b): whether %r2 is still pending behind the conditional depends on the path.
    let body = "ld.global.u32 %r2, [%rd1];
        setp.eq.u32 %p1, %r9, 1;
        @%p1 bra M;
        add.s32 %r3, %r2, 1;
        st.global.u32 [%rd1], %r3;
        M: add.s32 %r4, %r9, 1;
        add.s32 %r5, %r2, %r4;
        st.global.u32 [%rd1], %r5;";
    let expected = [(4, Start::LongLatency), (6, Start::Uncertain), (7, Start::LongLatency)];
    assert_eq!(starts(body), expected);
    assert_eq!(
        starts("add.s32 %r1, %r2, 1; bar.sync 0; st.global.u32 [%rd1], %r1;"),
        [(3, Start::Barrier)]
    );
}

#[test]
fn a_strand_ends_for_lanes_that_waited_through_a_deschedule() {
    // One side waits for its load. Lanes of the other side may have waited meanwhile, and both meet.
    let body = "add.s32 %r1, %r9, 1;
        setp.eq.u32 %p1, %r9, 1;
        @%p1 bra E;
        ld.global.u32 %r2, [%rd1];
        add.s32 %r3, %r2, %r1;
        bra M;
        E: add.s32 %r3, %r1, 5;
        M: st.global.u32 [%rd1], %r3;";
    let expected = [(5, Start::LongLatency), (7, Start::Waited), (8, Start::Waited)];
    assert_eq!(starts(body), expected);
    // What was made before the branch is read behind these starts: from the main register file.
    assert_eq!(levels(body, &config(Lrf::None))[0], "m+o0 -> m");
}

/// The lanes that a branch leaves behind are still in the strand that it ends: a warp leaves that
/// strand where none may be.
#[test]
fn a_warp_leaves_a_strand_with_its_last_lanes() {
    let body = "setp.eq.u32 %p1, %r9, 1;
        add.s32 %r1, %r9, 1;
        @%p1 bra E;
        L: add.s32 %r2, %r2, 1;
        setp.lt.s32 %p2, %r2, 9;
        @%p2 bra L;
        add.s32 %r3, %r2, 1;
        bra M;
        E: add.s32 %r3, %r1, 5;
        M: st.global.u32 [%rd1], %r3;";
    let expected = [(4, Start::BackwardBranch), (7, Start::BackwardBranch), (10, Start::Meeting)];
    assert_eq!(starts(body), expected);
    let program = compiled(body);
    let code = Code::new(&program).expect("small");
    let hierarchy = fit(&code, &config(Lrf::None)).expect("a good config");
    let leaves = hierarchy.strands.leaves_all(&code);
    // While the loop runs, lanes may wait at E within the first strand.
    let all: Vec<usize> = (0..leaves.len()).filter(|&pc| leaves[pc]).collect();
    assert_eq!(all, [0, 10]);
}

/// A value that a loop's turns hand on has its entry for the whole loop, as has one that was there
/// before and is read in it.
#[test]
fn values_stay_for_a_loop_if_strands_hold_it() {
    let past = |orf_entries: u8| HierarchyConfig {
        past_backward_branches: true,
        orf_entries,
        ..config(Lrf::None)
    };
    // %r1 goes from turn to turn, %r7 is only read.
    let body = "mov.u32 %r7, %r9;
        mov.u32 %r1, %r7;
        L: add.s32 %r2, %r1, 1;
        add.s32 %r3, %r2, %r7;
        mov.u32 %r1, %r3;
        setp.lt.s32 %p1, %r3, 9;
        @%p1 bra L;";
    // Where every backward branch ends a strand, both come from the main register file.
    let ended = levels(body, &config(Lrf::None));
    assert_eq!(ended[2..5], ["m -> o0", "o0 m -> o0", "o0 -> m"]);
    // %r2 and %r3 follow each other in one entry, %r1 and %r7 have one each until the loop ends.
    let kept = levels(body, &past(3));
    assert_eq!(kept[..2], ["m -> o2", "o2 -> o1"]);
    assert_eq!(kept[2..5], ["o1 -> o0", "o0 o2 -> o0", "o0 -> o1"]);
    // With one entry they save more for each slot than values that would have it for the loop.
    let one = levels(body, &past(1));
    assert_eq!(one[2..5], ["m -> o0", "o0 m -> o0", "o0 -> m"]);
    // A loop with a load that it waits for ends its strands as before.
    let body = "mov.u32 %r1, 0;
        L: ld.global.u32 %r2, [%rd1];
        add.s32 %r1, %r1, %r2;
        setp.lt.s32 %p1, %r1, 9;
        @%p1 bra L;";
    assert_eq!(levels(body, &past(3)), levels(body, &config(Lrf::None)));
    // Control enters this loop in its middle, past the first read of %r9.
    let body = "setp.eq.u32 %p1, %r9, 1;
        @%p1 bra M;
        add.s32 %r2, %r9, 1;
        L: add.s32 %r3, %r9, 2;
        M: setp.lt.s32 %p2, %r8, 9;
        @%p2 bra L;";
    assert_eq!(levels(body, &past(3)), levels(body, &config(Lrf::None)));
    // Two loops of which neither holds the other: what the second changes, the first reads.
    let body = "mov.u32 %r1, 0;
        L: add.s32 %r2, %r1, 5;
        M: add.s32 %r3, %r2, 1;
        setp.lt.s32 %p1, %r3, 9;
        @%p1 bra L;
        add.s32 %r1, %r3, 2;
        setp.lt.s32 %p2, %r1, 9;
        @%p2 bra M;";
    assert_eq!(levels(body, &past(3)), levels(body, &config(Lrf::None)));
    // What is read behind the strand is written to the main register file in every turn.
    let body = "mov.u32 %r1, 0;
        L: add.s32 %r1, %r1, 3;
        setp.lt.s32 %p1, %r1, 9;
        @%p1 bra L;
        bar.sync 0;
        st.global.u32 [%rd1], %r1;";
    assert_eq!(levels(body, &past(3))[..3], [" -> m+o0", "o0 -> m+o0", "o0 -> "]);
}

/// The savings of `[DISS]` Figures 6.5 and 6.8 with the energies of 3 entries, bank and wire of each
/// reader's own datapath.
#[test]
fn savings_are_the_figures() {
    let savings = |body: &str, register: usize| {
        let (_, hierarchy) = fitted(body, &config(Lrf::None));
        let kept = hierarchy.decisions.iter().filter_map(|decision| match decision.outcome {
            Outcome::Kept { savings, reads, .. } => Some((decision.pc as usize, reads, savings)),
            _ => None,
        });
        kept.into_iter()
            .find(|(pc, ..)| *pc == register)
            .map(|(_, reads, savings)| (reads, savings))
    };
    // MRF read 8 + 7.6, write 11 + 7.6; ORF read 1.2 + 1.52 (3.04 to shared units), write 4.4 + 1.52.
    let one = "add.s32 %r1, %r9, 1; add.s32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;";
    assert_eq!(savings(one, 1), Some((1, (15_600 - 2_720) - 5_920 + 18_600)));
    assert_eq!(savings(one, 2), Some((1, (15_600 - 4_240) - 5_920 + 18_600)), "read by a store");
    let live_out = "add.s32 %r1, %r9, 1; add.s32 %r2, %r1, %r1; bar.sync 0;
        st.global.v2.u32 [%rd1], {%r1, %r2};";
    // What the main register file has as well pays no wire to the nearer level.
    assert_eq!(savings(live_out, 1), Some((2, 2 * (15_600 - 2_720) - 4_400)), "Figure 6.5");
    let read_only = "add.s32 %r1, %r9, 1; add.s32 %r2, %r9, 2; add.s32 %r3, %r9, 3; bar.sync 0;
        st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r9};";
    assert_eq!(savings(read_only, 1), Some((2, 2 * (15_600 - 2_720) - 4_400)), "Figure 6.8");
    // Nothing reads it: that spares the write of the main register file.
    assert_eq!(savings("add.s32 %r1, %r9, 1;", 1), Some((0, 18_600 - 5_920)));
}

#[test]
fn values_that_save_more_for_each_slot_come_first() {
    let body = "add.s32 %r1, %r9, 1;
        add.s32 %r2, %r9, 2;
        add.s32 %r3, %r2, %r2;
        add.s32 %r4, %r3, %r1;
        st.global.u32 [%rd1], %r4;";
    let one = HierarchyConfig { orf_entries: 1, read_operands: false, ..config(Lrf::None) };
    // %r1 would occupy the only entry for three slots, through the whole lives of %r2 and %r3.
    let expected = ["m -> m", "m -> o0", "o0 o0 -> o0", "o0 m -> o0", "m m o0 -> "];
    assert_eq!(levels(body, &one)[..5], expected);
    // A second entry takes it, and the lowest that is free is chosen.
    let two = HierarchyConfig { orf_entries: 2, ..one };
    let expected = ["m -> o1", "m -> o0", "o0 o0 -> o0", "o0 o1 -> o0", "m m o0 -> "];
    assert_eq!(levels(body, &two)[..5], expected);
}

#[test]
fn a_value_that_does_not_fit_is_kept_for_its_first_reads() {
    // Figure 6.7(a): %r1 is read at once and again much later.
    let body = "add.s32 %r1, %r9, 1;
        add.s32 %r2, %r1, 1;
        add.s32 %r3, %r2, %r1;
        add.s32 %r4, %r3, %r3;
        add.s32 %r5, %r4, %r4;
        add.s32 %r6, %r5, %r1;
        st.global.u32 [%rd1], %r6;";
    let two = HierarchyConfig { orf_entries: 2, read_operands: false, ..config(Lrf::None) };
    let one = HierarchyConfig { orf_entries: 1, ..two };
    assert_eq!(levels(body, &two)[0], "m -> o1");
    // With one entry %r2 has it between %r1's first and second read: %r1 is written to both levels.
    let with = levels(body, &one);
    assert_eq!(with[..3], ["m -> m+o0", "o0 -> o0", "o0 m -> o0"]);
    assert_eq!(with[5], "o0 m -> o0");
    let without = levels(body, &HierarchyConfig { partial_ranges: false, ..one });
    assert_eq!(without[..3], ["m -> m", "m -> o0", "o0 m -> o0"]);
}

#[test]
fn a_value_that_is_only_read_is_left_by_its_first_read() {
    // Figure 6.7(b).
    let body = "add.s32 %r1, %r9, 1;
        add.s32 %r2, %r9, %r1;
        add.s32 %r3, %r2, %r9;
        st.global.u32 [%rd1], %r3;";
    let on = config(Lrf::None);
    assert_eq!(levels(body, &on)[..3], ["m+o1 -> o0", "o1 o0 -> o0", "o0 o1 -> o0"]);
    let off = HierarchyConfig { read_operands: false, ..on };
    assert_eq!(levels(body, &off)[..3], ["m -> o0", "m o0 -> o0", "o0 m -> o0"]);
    // Two slots of one instruction both read the main register file.
    let twice = "add.s32 %r1, %r9, %r9; add.s32 %r2, %r1, %r9; st.global.u32 [%rd1], %r2;";
    assert_eq!(levels(twice, &on)[..2], ["m+o1 m -> o0", "o0 o1 -> o0"]);
    // A read that a guard may leave out leaves nothing.
    let guarded = "setp.eq.u32 %p1, %r8, 1; mov.u32 %r1, 5; @%p1 add.s32 %r1, %r9, 1;
        add.s32 %r2, %r9, 2; add.s32 %r3, %r9, %r2; st.global.v2.u32 [%rd1], {%r1, %r3};";
    let read: Vec<_> = levels(guarded, &on)[2..5].iter().map(|text| text[..1].to_owned()).collect();
    assert_eq!(read, ["m", "m", "o"]);
}

/// Figure 6.9: %r1 was written by an earlier strand.
#[test]
fn forward_branches() {
    let hammock = |left: &str, right: &str| {
        format!(
            "mov.u32 %r1, 7; bar.sync 0;
             setp.eq.u32 %p1, %r9, 1;
             @%p1 bra E;
             {left}
             bra M;
             E: {right}
             M: add.s32 %r3, %r1, 1;
             st.global.u32 [%rd1], %r3;"
        )
    };
    let on = HierarchyConfig { read_operands: false, ..config(Lrf::None) };
    let behind = |left, right, config| levels(&hammock(left, right), config).split_off(4);
    // (a) written on one side only: the read behind cannot say where it is.
    let a = behind("add.s32 %r1, %r9, 1;", "add.s32 %r4, %r9, 2;", &on);
    assert_eq!((a[0].as_str(), a[3].as_str()), ("m -> m", "m -> o0"));
    // (b) a read on that side may still be served, if it pays for a second write.
    let read = "add.s32 %r1, %r9, 1; add.s32 %r5, %r1, 1;";
    let b = behind(read, "add.s32 %r4, %r9, 2;", &on);
    assert_eq!((b[..2].join(", "), b[4].as_str()), ("m -> m+o0, o0 -> o0".into(), "m -> o0"));
    let mut dear = on;
    dear.costs.orf.private.beside_main = 12_881;
    let b = behind(read, "add.s32 %r4, %r9, 2;", &dear);
    assert_eq!(b[..2], ["m -> m", "m -> o0"]);
    // (c) written on both: one entry, and no access of the main register file.
    let (left, right) = ("add.s32 %r1, %r9, 1;", "add.s32 %r1, %r9, 2;");
    let c = behind(left, right, &on);
    assert_eq!((c[0].as_str(), c[2].as_str(), c[3].as_str()), ("m -> o0", "m -> o0", "o0 -> o0"));
    let off = HierarchyConfig { forward_branches: false, ..on };
    let c = behind(left, right, &off);
    assert_eq!((c[0].as_str(), c[3].as_str()), ("m -> m", "m -> o0"));
}

#[test]
fn a_guarded_definition_shares_the_entry_of_the_value_it_leaves() {
    let body = "add.s32 %r1, %r9, 1;
        setp.eq.u32 %p1, %r8, 1;
        @%p1 add.s32 %r1, %r9, 2;
        add.s32 %r2, %r1, 1;
        st.global.u32 [%rd1], %r2;";
    let on = HierarchyConfig { read_operands: false, ..config(Lrf::None) };
    let found = levels(body, &on);
    assert_eq!(found[0], "m -> o0");
    assert_eq!(found[2], "m -> o0");
    // If the old value is in the main register file, so is the new one.
    let old = "mov.u32 %r1, 4; bar.sync 0; setp.eq.u32 %p1, %r8, 1; @%p1 add.s32 %r1, %r9, 2;
        add.s32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;";
    assert_eq!(levels(old, &on)[3..5], ["m -> m", "m -> o0"]);
}

#[test]
fn the_last_result_file_is_the_private_datapaths() {
    let body = "add.s32 %r1, %r9, 1;
        add.s32 %r2, %r1, 2;
        st.global.u32 [%rd1], %r2;";
    let unified = HierarchyConfig { read_operands: false, ..config(Lrf::Unified) };
    // %r2 is read by a store, a shared unit.
    assert_eq!(levels(body, &unified)[..3], ["m -> l0", "l0 -> o0", "m m o0 -> "]);
    // A special function's result comes from one.
    let sfu = "rcp.approx.f32 %f1, %f2; add.f32 %f3, %f1, %f4; st.global.f32 [%rd1], %f3;";
    assert_eq!(levels(sfu, &unified)[..2], ["m -> o0", "o0 m -> o0"]);
}

#[test]
fn a_split_file_has_a_bank_for_each_operand() {
    let body = "add.s32 %r1, %r9, 1;
        add.s32 %r2, %r9, 2;
        add.s32 %r3, %r9, 3;
        mad.lo.s32 %r4, %r1, %r2, %r3;
        st.global.u32 [%rd1], %r4;";
    let unified = HierarchyConfig { read_operands: false, ..config(Lrf::Unified) };
    let split = HierarchyConfig { read_operands: false, ..config(Lrf::Split) };
    // One entry holds the last of the three.
    let found = levels(body, &unified);
    assert_eq!(found[..4], ["m -> o1", "m -> o0", "m -> l0", "o1 o0 l0 -> o0"]);
    let found = levels(body, &split);
    assert_eq!(found[..4], ["m -> l0", "m -> l1", "m -> l2", "l0 l1 l2 -> o0"]);
    // Read by two operand slots: no bank serves both.
    let both = "add.s32 %r1, %r9, 1; add.s32 %r2, %r1, %r1; st.global.u32 [%rd1], %r2;";
    assert_eq!(levels(both, &split)[..2], ["m -> o0", "o0 o0 -> o0"]);
    assert_eq!(levels(both, &unified)[..2], ["m -> l0", "l0 l0 -> o0"]);
}

#[test]
fn a_wide_value_takes_an_entry_for_each_register() {
    let body = "add.s64 %rd2, %rd3, 8; ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1;";
    let on = HierarchyConfig { read_operands: false, ..config(Lrf::None) };
    assert_eq!(levels(body, &on)[..2], ["m m -> o0 o1", "o0 o1 -> m"]);
    let one = HierarchyConfig { orf_entries: 1, ..on };
    assert_eq!(levels(body, &one)[..2], ["m m -> o0 m", "o0 m -> m"]);
    let wide = |config| {
        let (program, hierarchy) = fitted(&format!("{BEFORE}{body}"), config);
        wide_operands(&program, &hierarchy.placements)
    };
    // Two results before the body; a sum of one, read as an address; an address.
    assert_eq!(wide(&on), WideOperands { all: 6, apart: 0 });
    assert_eq!(wide(&one), WideOperands { all: 6, apart: 2 });
}

#[test]
fn words_are_together_where_one_name_can_mean_both() {
    let body = "add.s64 %rd2, %rd3, 8; add.s64 %rd4, %rd2, 8; st.global.u64 [%rd1], %rd4;";
    let config = HierarchyConfig { read_operands: false, ..config(Lrf::Split) };
    let (program, mut hierarchy) = fitted(&format!("{BEFORE}{body}"), &config);
    let sum = program.image.instructions[FIRST].first_slot as usize + 2;
    let mut apart = |words: [Placement; 2]| {
        hierarchy.placements.fill(Placement::MAIN);
        hierarchy.placements[sum..sum + 2].copy_from_slice(&words);
        wide_operands(&program, &hierarchy.placements)
    };
    let at = |main, upper| Placement { main, upper: Some(upper) };
    for (words, together) in [
        ([Placement::MAIN, Placement::MAIN], true),
        ([at(false, Upper::Orf(1)), at(false, Upper::Orf(2))], true),
        ([at(true, Upper::Orf(0)), at(true, Upper::Orf(1))], true),
        ([at(true, Upper::Orf(0)), at(false, Upper::Orf(1))], false),
        ([at(false, Upper::Orf(2)), at(false, Upper::Orf(1))], false),
        ([at(false, Upper::Orf(0)), at(false, Upper::Orf(2))], false),
        ([at(false, Upper::Orf(0)), Placement::MAIN], false),
        ([at(false, Upper::Lrf(0)), at(false, Upper::Lrf(1))], false),
    ] {
        let expected = WideOperands { all: 8, apart: u32::from(!together) };
        assert_eq!(apart(words), expected, "{words:?}");
    }
}

#[test]
fn what_the_encoding_cannot_name_is_not_written_twice() {
    // %r1 leaves the strand and is read three times before.
    let body = "add.s32 %r1, %r9, 1; mad.lo.s32 %r2, %r1, %r1, %r1; bar.sync 0;
        st.global.v2.u32 [%rd1], {%r1, %r2};";
    let first = |dual_writes, lrf| {
        let config = HierarchyConfig { dual_writes, read_operands: false, ..config(lrf) };
        levels(body, &config).swap_remove(0)
    };
    assert_eq!(first(DualWrites::Any, Lrf::None), "m -> m+o0");
    assert_eq!(first(DualWrites::Any, Lrf::Unified), "m -> m+l0");
    assert_eq!(first(DualWrites::LastResultOnly, Lrf::None), "m -> m");
    assert_eq!(first(DualWrites::LastResultOnly, Lrf::Unified), "m -> m+l0");
    assert_eq!(first(DualWrites::Never, Lrf::Unified), "m -> m");
    let (program, _) = fitted(body, &config(Lrf::None));
    let register = program.image.slots[program.image.instructions[1].first_slot as usize + 1].0;
    assert_eq!(first(DualWrites::SameName, Lrf::None), format!("m -> m+o{}", register % 3));
}
