//! Reading traces, in bytes of their text a second, whether it is the text that is read or its
//! recording: `cargo bench -p strata-benches --bench traces`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use strata_benches::reading::{WORK, text_bytes};

fn traces(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("traces");
    for work in WORK {
        let mut run = (work.prepare)();
        group.throughput(Throughput::Bytes(text_bytes(work.name)));
        group.bench_function(work.name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

criterion_group!(benches, traces);
criterion_main!(benches);
