//! Compiling programs and fitting them to compiler-managed hierarchies, in instructions a second:
//! made-up ones by their length, and the workloads:
//! `cargo bench -p strata-benches --bench fitting`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use strata_benches::{compiling, fitting as made_up};

fn fitting(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fitting");
    // A long program takes a tenth of a second.
    group.sample_size(10);
    let works = [made_up::WORK, made_up::LONG, compiling::WORK, compiling::LONG];
    for work in works.into_iter().flatten() {
        let mut run = (work.prepare)();
        group.throughput(Throughput::Elements(run()));
        group.bench_function(work.name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

criterion_group!(benches, fitting);
criterion_main!(benches);
