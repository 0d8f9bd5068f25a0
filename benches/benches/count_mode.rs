//! Count mode in warp instructions a second: `cargo bench -p strata-benches --bench count_mode`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use strata_benches::counting::WORK;

fn count_mode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("count_mode");
    for work in WORK {
        let mut run = (work.prepare)();
        group.throughput(Throughput::Elements(run()));
        group.bench_function(work.name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

criterion_group!(benches, count_mode);
criterion_main!(benches);
