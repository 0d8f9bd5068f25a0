//! Prints a kernel with instructions of every form in the tables, to be compared with `ptxas`.

fn main() {
    let number = |index, default| {
        std::env::args().nth(index).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let mut random = strata_ptx::fuzzing::Random(number(1, 1));
    print!("{}", strata_ptx::fuzzing::every_form(&mut random, number(2, 1) as usize));
}
