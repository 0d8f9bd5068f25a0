//! Functional execution, and count mode over recorded paths, in warp instructions a second:
//! `cargo bench -p strata-benches --bench functional`.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use strata_benches::Work;
use strata_benches::execution::{DISTINCT_PATHS, DISTINCT_PATHS_DEFAULT, WORK};

fn bench(group: &mut BenchmarkGroup<'_, WallTime>, work: &Work) {
    let mut run = (work.prepare)();
    group.throughput(Throughput::Elements(run()));
    group.bench_function(work.name, |bencher| bencher.iter(&mut run));
}

fn functional(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("functional");
    // One execution takes milliseconds.
    group.sample_size(20);
    for work in WORK.iter().chain(DISTINCT_PATHS).chain(DISTINCT_PATHS_DEFAULT) {
        bench(&mut group, work);
    }
    group.finish();
}

criterion_group!(benches, functional);
criterion_main!(benches);
