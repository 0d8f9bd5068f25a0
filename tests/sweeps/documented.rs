//! The examples of docs/SWEEPS.md, as they stand there.

use std::fs;
use std::path::PathBuf;

use crate::{done, own_file, run_python};

/// A sweep of the shape that the examples ask about, but smaller.
const SWEEP: &[&str] = &[
    "sweep",
    "--vary",
    "cache.entries=1..3",
    "--vary",
    "active_warps=2..4",
    "--workload",
    "matrixmul",
    "--workload",
    "bfs",
    "--workload",
    "reduction",
    "--scale",
    "small",
    "--mode",
    "cycle",
    "--out",
    "sweep",
];

/// The blocks of a language in the document, in order.
fn blocks(language: &str) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/SWEEPS.md");
    let text = fs::read_to_string(path).expect("the document");
    let fence = format!("```{language}\n");
    let starts = text.split(&fence).skip(1);
    starts.map(|rest| rest.split("```").next().expect("a block").to_owned()).collect()
}

#[test]
fn the_examples_run_and_say_what_tables_say() {
    let home = tempfile::tempdir().expect("a folder");
    done(home.path(), SWEEP);
    let pivot =
        ["--pivot", "cache.entries", "active_warps", "ipc", "--where", "workload=matrixmul"];
    let table = done(home.path(), &[&["sweep", "table", "sweep"][..], &pivot].concat());
    let numbers: Vec<Vec<&str>> =
        table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!((numbers.len(), numbers[0].len()), (3, 4), "{table}");
    let (queries, programs) = (blocks("sql"), blocks("python"));
    assert_eq!((queries.len(), programs.len()), (2, 2));
    let shown = queries.iter().map(|query| {
        let program = own_file("query.py");
        run_python(home.path(), &[&program, query])
    });
    let shown: Vec<_> = shown.collect();
    // One line for each line of the table, and one for each value.
    let as_lines: Vec<_> = numbers.iter().map(|line| line.join(",")).collect();
    assert_eq!(shown[0].lines().collect::<Vec<_>>(), as_lines);
    let each =
        numbers.iter().flat_map(|line| line[1..].iter().zip(2..).map(move |of| (line[0], of)));
    let each: Vec<_> =
        each.map(|(entries, (ipc, warps))| format!("{entries},{warps},{ipc}")).collect();
    let of_matrixmul = shown[1].lines().filter_map(|line| line.strip_prefix("matrixmul,"));
    assert_eq!(of_matrixmul.collect::<Vec<_>>(), each);
    assert_eq!(shown[1].lines().count(), 27, "{}", shown[1]);
    let printed = run_python(home.path(), &["-c", &programs[0]]);
    let printed: Vec<Vec<f64>> = printed
        .lines()
        .skip(2)
        .map(|line| line.split_whitespace().map(|word| word.parse().expect(line)).collect())
        .collect();
    let expected = numbers.iter().map(|line| line.iter().map(|of| of.parse().expect("a number")));
    let expected: Vec<Vec<f64>> = expected.map(Iterator::collect).collect();
    for (line, wanted) in printed.iter().zip(&expected) {
        let near = line.iter().zip(wanted).all(|(one, other)| (one - other).abs() < 1e-4 * other);
        assert!(near && line.len() == wanted.len(), "{printed:?} {expected:?}");
    }
    assert_eq!(printed.len(), expected.len());
    // The plot.
    assert!(programs[1].trim().lines().count() <= 10, "{}", programs[1]);
    run_python(
        home.path(),
        &["-c", &format!("import matplotlib\nmatplotlib.use('Agg')\n{}", programs[1])],
    );
    let drawn = fs::read(home.path().join("sweep.png")).expect("the plot");
    assert!(drawn.starts_with(b"\x89PNG") && drawn.len() > 10_000, "{}", drawn.len());
}
