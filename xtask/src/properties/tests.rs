use super::*;

#[test]
fn tasks_are_read() {
    let text = "[tasks]\nprove_2x2 prove s2x2 small\n\nbmc_3 bmc s3 mutants\n[options]\nx: y\n";
    let task = |name: &str, kind, when, size: &str| Task {
        name: name.to_owned(),
        kind,
        when,
        size: size.to_owned(),
    };
    assert_eq!(
        parse_tasks(text),
        Ok(vec![
            task("prove_2x2", Kind::Prove, When::Small, "2x2"),
            task("bmc_3", Kind::Bounded, When::Mutants, "3"),
        ])
    );
    for (line, why) in [("a prove s1", "small, full"), ("a prove s1 smal", "unknown `smal`")] {
        let error = parse_tasks(&format!("[tasks]\n{line}\n")).expect_err(line);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn properties_are_read_with_their_whole_text() {
    let text = "  // A1. One.\n  a01: assert (1);\n  // A12. Two\n  // lines.\n\n  // No.\n  // C1. Can.\n";
    let found: Vec<_> = properties(text).into_iter().collect();
    let pair = |number: &str, text: &str| (number.to_owned(), text.to_owned());
    assert_eq!(found, [pair("A1", "One."), pair("A12", "Two lines."), pair("C1", "Can.")]);
}

#[test]
fn labels_belong_to_numbers() {
    assert_eq!(number_of("a07_value").as_deref(), Some("A7"));
    assert_eq!(number_of("c10").as_deref(), Some("C10"));
    assert_eq!(number_of("_witness_"), None);
    assert_eq!(number_of("a_unique"), None);
}

#[test]
fn the_prover_s_words_are_read() {
    let text = "\
SBY 10:00:00 [x] engine_0: ##   0:00:00  BMC failed!
SBY 10:00:00 [x] engine_0: ##   0:00:00  Assert failed in block: a07_value
SBY 10:00:00 [x] engine_0: ##   0:00:00  Assert failed in block: a07_other
SBY 10:00:00 [x] engine_0: ##   0:00:00  Writing trace to VCD file: engine_0/trace.vcd
SBY 10:00:00 [x] DONE (FAIL, rc=2)
";
    let verdict = Verdict {
        passed: false,
        word: "FAIL".to_owned(),
        broken: vec!["A7".to_owned()],
        trace: Some("engine_0/trace.vcd".to_owned()),
    };
    assert_eq!(Verdict::read(text), verdict);
    assert!(Verdict::read("SBY 10:00:00 [x] DONE (PASS, rc=0)\n").passed);
    assert!(!Verdict::read("SBY 10:00:00 [x] DONE (TIMEOUT, rc=8)\n").passed);
    assert!(!Verdict::read("").passed);
}

/// The labels of a text of properties: what stands before `: assert (` and `: cover (`.
fn labels(text: &str) -> Vec<String> {
    let before = |line: &str| {
        let (before, _) = line.split_once(": assert (").or_else(|| line.split_once(": cover ("))?;
        before.split_whitespace().last().map(str::to_owned)
    };
    text.lines().filter_map(before).collect()
}

#[test]
fn the_blocks_of_this_repository_are_whole() {
    let blocks = blocks().expect("they can be read");
    assert!(!blocks.is_empty());
    for block in &blocks {
        let name = &block.name;
        let small: Vec<Kind> = block
            .tasks
            .iter()
            .filter(|task| task.when == When::Small)
            .map(|task| task.kind)
            .collect();
        assert!(small.contains(&Kind::Prove) || small.contains(&Kind::Bounded), "{name}");
        assert!(small.contains(&Kind::Cover), "{name}");
        let file = folder().join(format!("{name}_properties.svh"));
        let labels = labels(&read(&file).expect("it was read above"));
        let of_labels: Vec<_> = labels.iter().filter_map(|label| number_of(label)).collect();
        assert_eq!(of_labels.len(), labels.len(), "{name}: each label has a number: {labels:?}");
        for number in &of_labels {
            assert!(block.properties.contains_key(number), "{name}: {number} has no text");
        }
        for letter in ['A', 'C', 'E'] {
            let count = block.properties.keys().filter(|key| key.starts_with(letter)).count();
            for index in 1..=count {
                let number = format!("{letter}{index}");
                assert!(block.properties.contains_key(&number), "{name}: there is no {number}");
                let has_label = letter == 'E' || of_labels.contains(&number);
                assert!(has_label, "{name}: {number} is asserted nowhere");
            }
        }
        let module = format!("fpga-softcore/rtl/{name}.sv");
        let module = read(&machine::root().join(module)).expect("the module is there");
        assert!(module.contains(&format!("`include \"{name}_properties.svh\"")), "{name}");
    }
}

#[test]
fn every_mutant_changes_one_place_and_names_what_it_breaks() {
    for block in blocks().expect("they can be read") {
        let mutants = mutants::read(&block.name).expect("they can be read");
        assert!(mutants.len() >= 8, "{}: {} mutants", block.name, mutants.len());
        assert!(block.tasks.iter().any(|task| task.when == When::Mutants), "{}", block.name);
        for (index, mutant) in mutants.iter().enumerate() {
            let module = machine::root().join("fpga-softcore/rtl").join(&mutant.file);
            let text = read(&module).expect("the module is there");
            assert!(mutant.apply(&text).is_ok(), "{}: {:?}", block.name, mutant.apply(&text));
            assert!(block.properties.contains_key(&mutant.killed_by), "{}", mutant.name);
            assert!(mutants[..index].iter().all(|other| other.name != mutant.name));
        }
    }
}

#[test]
fn the_pages_list_every_property_and_mutant() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for block in blocks().expect("they can be read") {
        let file = folder().join(format!("{}_properties.svh", block.name));
        let text = read(&file).expect("it was read above");
        let (_, page) = text.split_once("// docs/hw/").expect("it names its page");
        let page = page.split_whitespace().next().unwrap_or_default();
        let page = words(&read(&machine::root().join("docs/hw").join(page)).expect(page));
        for number in block.properties.keys() {
            let sentence = block.sentence(number);
            assert!(page.contains(&format!("- {sentence}")), "{}: {sentence}", block.name);
        }
        for mutant in mutants::read(&block.name).expect("they can be read") {
            let row = format!("| `{}` | {} | {} |", mutant.name, mutant.breaks, mutant.killed_by);
            assert!(page.contains(&row), "{}: {row}", block.name);
        }
    }
}

/// What a property's block is told to expect of its requester is also looked at in simulation.
#[test]
fn every_assumption_is_an_assertion_in_simulation() {
    // Of a value, which the comparison with the model follows.
    const BY_VALUE: [&str; 2] = ["access_sequencer E6", "register_file_cache E4"];
    let mut unchecked = Vec::new();
    for block in blocks().expect("the properties are there") {
        let assumed = block.properties.keys().filter(|number| number.starts_with('E'));
        let path = folder().join("interfaces").join(format!("{}_interface.sv", block.name));
        let text = std::fs::read_to_string(path).unwrap_or_default();
        for number in assumed {
            let label = format!("e{:02}_", number[1..].parse::<u32>().expect("a number"));
            let is_checked = text.lines().any(|line| {
                line.split_once(&label).is_some_and(|(_, rest)| rest.contains(": assert ("))
            });
            if !is_checked {
                unchecked.push(format!("{} {number}", block.name));
            }
        }
    }
    assert_eq!(unchecked, BY_VALUE);
}
