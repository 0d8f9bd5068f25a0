//! Cycle mode in warp instructions a second, and what waiting costs:
//! `cargo bench -p strata-benches --bench cycle_mode`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use strata_benches::cycles::{WAITING, WHOLE};

fn cycle_mode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cycle_mode");
    // One run takes a tenth of a second.
    group.sample_size(10);
    for work in WHOLE.iter().chain(WAITING) {
        let mut run = (work.prepare)();
        group.throughput(Throughput::Elements(run()));
        group.bench_function(work.name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

criterion_group!(benches, cycle_mode);
criterion_main!(benches);
