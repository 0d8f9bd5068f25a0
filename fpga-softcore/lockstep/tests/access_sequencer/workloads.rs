//! The accesses of executed programs, as `strata fpga run` streams them.

use strata_board::material::Material;
use strata_board::plan::Plan;
use strata_board::stream::Stream;
use strata_core::prototype::counters::Counter;
use strata_design as design;
use strata_lockstep::access_sequencer::LARGEST;
use strata_measure::Request;
use strata_measure::notes::Silent;
use strata_measure::options::{Scale, Source};
use strata_measure::subject::Subject;

use super::bench::Bench;

/// Accesses of each stream.
const ACCESSES: u64 = 20_000;

/// Commands that the prototype runs at a time.
const BATCH: usize = 128;

fn run(workload: &str, designs: &[&str]) {
    let source = Source::of(Scale::Small);
    let request = Request::new(&source).unwrap();
    let subject = Subject::new(workload, &source, &Silent).unwrap();
    let material = Material::new(&subject, &request, ACCESSES, &Silent).unwrap();
    for design in designs {
        let plan = Plan::new(&design::resolve(design).unwrap()).unwrap();
        let mut stream = Stream::of_accesses(&material, &plan, ACCESSES);
        let mut bench = Bench::<8, 13, 60>::new(LARGEST, plan.settings(material.registers));
        loop {
            let commands: Vec<_> = stream.by_ref().take(BATCH).collect();
            if commands.is_empty() {
                break;
            }
            if let Err(difference) = bench.run(&commands) {
                panic!("{workload}, {design}: {difference}");
            }
        }
        bench.compare_counters().unwrap();
        let made = stream.made();
        assert!(made.accesses >= ACCESSES, "{workload}: {made:?}");
        let counters = bench.model().counters();
        assert_eq!(counters.get(Counter::Commands), made.commands, "{workload}, {design}");
    }
}

#[test]
fn hotspot() {
    run("hotspot", &["isca11-rfc6", "sttram", "warrf-rfc6"]);
}

#[test]
fn breadth_first_search() {
    run("bfs", &["isca11-rfc6", "warrf-rfc6"]);
}
