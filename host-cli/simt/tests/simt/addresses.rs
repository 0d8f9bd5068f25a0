//! Addresses that the executor hands over: which, in which order, and what they move.

use strata_simt::moved::{Addresses, moved_bytes};
use strata_simt::{AddressSink, Device, Executable, Launch, Record, execute_into};

use crate::common::{Arguments, Bench, launch};

/// Two warps that wait for each other in the middle; every memory, partly under a guard.
const KERNEL: &str = ".version 8.6\n.target sm_90\n.address_size 64\n\
    .visible .entry k(.param .u64 in, .param .u64 out) {\n\
    .reg .pred %p<4>;\n.reg .b32 %me, %r<8>;\n.reg .b64 %in, %out, %rd<8>;\n\
    .shared .align 16 .b8 tile[1024];\n.local .align 16 .b8 frame[64];\n\
    ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %me, %tid.x;\n\
    mul.wide.u32 %rd0, %me, 4;\nadd.u64 %rd1, %in, %rd0;\nadd.u64 %rd2, %out, %rd0;\n\
    ld.global.u32 %r0, [%rd1];\nmov.u32 %r1, tile;\nshl.b32 %r2, %me, 3;\nadd.u32 %r1, %r1, %r2;\n\
    st.shared.u32 [%r1], %r0;\nbar.sync 0;\n\
    setp.lt.u32 %p0, %me, 40;\nmov.u64 %rd3, tile;\ncvta.shared.u64 %rd3, %rd3;\n\
    @%p0 ld.u32 %r3, [%rd3+4];\nst.local.u32 [frame+8], %r3;\nld.local.u32 %r4, [frame+8];\n\
    shfl.sync.bfly.b32 %r5, %r4, 1, 31, 0xffffffff;\n@!%p0 st.global.u32 [%rd2], %r5;\n\
    ret;\n}\n";

#[derive(Default)]
struct Sink {
    warps: Vec<(u64, u32)>,
    seen: Vec<(u32, u32, Vec<u64>)>,
    bytes: Vec<Vec<u32>>,
    executable: Option<Executable>,
}

impl AddressSink for Sink {
    fn begin(&mut self, cta: u64, warp: u32) {
        self.warps.push((cta, warp));
        self.bytes.push(Vec::new());
    }

    fn access(&mut self, pc: u32, mask: u32, addresses: Addresses<'_>) {
        let executable = self.executable.as_ref().expect("it was set");
        let shape = executable.access_shape(pc).expect("it has addresses");
        let bytes = moved_bytes(&executable.windows(), shape, mask, addresses);
        self.bytes.last_mut().expect("a warp began").push(bytes);
        self.seen.push((pc, mask, addresses.iter().collect()));
    }
}

fn run(record: Record) -> (Sink, strata_simt::LaunchOutcome, u64, Executable) {
    let mut bench = Bench::new(KERNEL);
    let input = bench.words("in", &[7; 64]);
    let output = bench.words("out", &[0; 64]);
    let executable = bench.prepare("k").expect("it can be executed");
    let arguments = Arguments::default().u64(input).u64(output);
    let launch = Launch { record, record_accesses: true, ..launch(2, 64, arguments) };
    let mut sink = Sink { executable: Some(executable.clone()), ..Sink::default() };
    let run = |device: &mut Device, sink: &mut Sink| {
        execute_into(device, &executable, &launch, sink).expect("it runs")
    };
    let streamed = run(&mut bench.device, &mut sink);
    assert!(streamed.accesses.is_empty(), "bytes are for sinks without addresses");
    let counted = strata_simt::execute(&mut bench.device, &executable, &launch).expect("it runs");
    assert_eq!(streamed.paths, counted.paths);
    (sink, counted, input, executable)
}

#[test]
fn addresses_come_by_cta_and_warp_and_move_what_was_counted() {
    let (sink, counted, input, executable) = run(Record::All);
    assert_eq!(sink.warps, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    // Load, store to shared memory, generic load, local store and load, and of the second warp the
    // guarded store; the exchange has no addresses.
    let kinds: Vec<(u32, usize)> =
        sink.seen[..5].iter().map(|(_, mask, each)| (*mask, each.len())).collect();
    assert_eq!(kinds, [(u32::MAX, 32); 5]);
    let second = &sink.seen[5..11];
    assert_eq!(second[2].1, 0xff, "lanes 32 to 39");
    assert_eq!(second[5].1, 0xffff_ff00);
    let words: Vec<u64> = (0..32).map(|lane| input + 4 * lane).collect();
    assert_eq!(sink.seen[0].2, words);
    assert_eq!(sink.seen[1].2, (0..32).map(|lane| 8 * lane).collect::<Vec<u64>>());
    assert_eq!(sink.seen[2].2, [executable.windows().shared + 4; 32]);
    assert_eq!(sink.seen[3].2, [8; 32]);
    assert_eq!(sink.bytes[0], [128, 128, 32, 128, 128]);
    assert_eq!(sink.bytes[1], [128, 128, 32, 128, 128, 96]);
    for (place, bytes) in sink.bytes.iter().enumerate() {
        let with_exchange = counted.accesses.of_warp(place);
        assert_eq!(with_exchange[5], 128, "a word of each lane");
        let without = [&with_exchange[..5], &with_exchange[6..]].concat();
        assert_eq!(&without, bytes, "warp {place}");
    }
    let program_counters: Vec<u32> = second.iter().map(|access| access.0).collect();
    assert!(program_counters.is_sorted(), "in order of execution");
}

#[test]
fn only_recorded_ctas_hand_over() {
    assert_eq!(run(Record::Cta(1)).0.warps, [(1, 0), (1, 1)]);
    assert!(run(Record::Nothing).0.warps.is_empty());
}
