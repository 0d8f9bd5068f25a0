//! Fitting programs to a compiler-managed hierarchy, in instructions a second, by their length:
//! `cargo bench -p strata-benches --bench fitting`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use strata_benches::fitting::{LONG, WORK};

fn fitting(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fitting");
    // A long program takes a tenth of a second.
    group.sample_size(10);
    for work in WORK.iter().chain(LONG) {
        let mut run = (work.prepare)();
        group.throughput(Throughput::Elements(run()));
        group.bench_function(work.name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

criterion_group!(benches, fitting);
criterion_main!(benches);
