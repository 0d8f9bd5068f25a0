//! `report`: a page of runs, profiles and timelines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use strata_tests::{Outcome, start};
use tempfile::TempDir;

fn typed(folder: &Path, command: &str) -> Outcome {
    let words: Vec<&str> = command.split_whitespace().collect();
    start(env!("CARGO_BIN_EXE_strata-under-test"), folder, &words)
}

fn succeeds(folder: &Path, command: &str) -> String {
    let done = typed(folder, command);
    assert_eq!(done.status, Some(0), "`{command}`: {done}");
    done.stdout
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
}

fn parsed(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&read(folder, name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A folder with runs, profiles in both modes, and a timeline.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let runs = "run vectoradd bfs --scale small --mode cycle --design isca11-rfc6 \
                --design diss-orf3-lrf-split --format json";
    write(at, "runs.json", &succeeds(at, runs));
    let profile = "inspect bfs --scale small --profile --format json";
    write(at, "energy.json", &succeeds(at, profile));
    write(at, "stalls.json", &succeeds(at, &format!("{profile} --mode cycle")));
    let timeline = "run vectoradd --scale small --mode cycle --design isca11-rfc6 \
                    --timeline time.json --timeline-cycles 100..1500";
    succeeds(at, timeline);
    folder
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "<td class=\"number\"></td>".to_owned(),
        // Numbers of JSON have `.0`, those of the page have not.
        Value::Number(number) if number.is_f64() => {
            format!("<td class=\"number\">{}</td>", number.as_f64().expect("a number"))
        }
        other => format!("<td class=\"number\">{other}</td>"),
    }
}

/// A row of the table of all counters or ratios, out of the reports.
fn row(runs: &[Value], group: &str, name: &str) -> String {
    let mut text = format!("<tr><th scope=\"row\">{name}</th>");
    for run in runs {
        text += &cell(run[group].get(name).unwrap_or(&Value::Null));
    }
    text + "</tr>"
}

#[test]
fn a_page_has_the_numbers_of_its_files() {
    let folder = folder();
    let at = folder.path();
    let command = "report runs.json stalls.json time.json energy.json";
    assert_eq!(succeeds(at, command), "4 runs, 2 profiles, 1 timeline: report.html\n");
    let page = read(at, "report.html");
    assert!(!page.contains("<script") && page.contains("default-src 'none'"), "no script");
    let runs = parsed(at, "runs.json");
    let runs = runs.as_array().expect("reports");
    assert_eq!(runs.len(), 4);
    for group in ["counters", "derived"] {
        for name in runs[0][group].as_object().expect("numbers").keys() {
            let row = row(runs, group, name);
            assert!(page.contains(&row), "{row}");
        }
    }
    for run in runs {
        let (counters, energy) = (&run["counters"], &run["energy_fj"]);
        let own = [&counters["warp_instructions"], &counters["cycles"], &run["derived"]["ipc"]]
            .map(cell)
            .concat()
            + &cell(&energy["total"]);
        assert!(page.contains(&own), "{own}");
        // The table behind the energies, and behind the accesses.
        for part in ["mrf_bank", "mrf_wire"] {
            assert!(page.contains(&cell(&energy[part])), "{part}");
        }
        let [reads, writes] = ["mrf_reads", "mrf_writes"].map(|name| cell(&counters[name]));
        assert!(page.contains(&(reads + &writes)), "accesses");
        // Bars: reads for each instruction.
        let [all, of] = ["warp_instructions", "mrf_reads"].map(|name| counters[name].as_f64());
        let shown = format!("{:.3}</td>", of.expect("reads") / all.expect("instructions"));
        assert!(page.contains(&shown), "{shown}");
    }
    assert_eq!(page.matches("<svg class=\"chart\"").count(), 5);
    // The same files, the same bytes.
    let again = succeeds(at, &format!("{command} --out again.html"));
    assert!(again.ends_with(": again.html\n"), "{again}");
    let again = read(at, "again.html");
    assert_eq!(page, again.replace(" --out again.html", ""));
}

#[test]
fn lines_have_their_costs() {
    let folder = folder();
    let at = folder.path();
    succeeds(at, "report energy.json stalls.json");
    let page = read(at, "report.html");
    for (file, key) in [("energy.json", "energy_fj"), ("stalls.json", "stall_cycles")] {
        let profile = parsed(at, file);
        let total = profile["total"][key].as_f64().expect("a total");
        let lines = profile["lines"].as_array().expect("lines");
        let most = lines.iter().filter_map(|line| line[key].as_f64()).fold(0.0, f64::max);
        assert!(lines.len() > 50 && most > 0.0, "{file}");
        for line in lines {
            let value = line[key].as_f64().expect("a cost");
            let mut row = format!(
                "<tr><td class=\"heat\"><i style=\"opacity:{:.3}\"></i></td><td \
                 class=\"number\">{:.2}</td>{}{}",
                value / most,
                value / total * 100.0,
                cell(&line[key]),
                cell(&line["executions"])
            );
            if key == "energy_fj" {
                let _ = write!(
                    row,
                    "<th scope=\"row\" class=\"number\">{}</th><td><code>{}</code></td></tr>",
                    line["ptx_line"],
                    line["ptx"].as_str().expect("a statement")
                );
            }
            assert!(page.contains(&row), "{row}");
        }
    }
}

/// Cycles of all warps by what they do, out of a timeline.
fn in_time(timeline: &Value) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for event in timeline["traceEvents"].as_array().expect("events") {
        if event["pid"] == 2 && event["ph"] == "X" {
            let issues = event["args"].get("pc").is_some();
            let name = if issues { "issues" } else { event["name"].as_str().expect("a name") };
            *sums.entry(name.to_owned()).or_insert(0) += event["dur"].as_u64().expect("cycles");
        }
    }
    sums
}

#[test]
fn a_timeline_is_drawn_with_every_cycle_in_its_tables() {
    let folder = folder();
    let at = folder.path();
    succeeds(at, "report time.json");
    let page = read(at, "report.html");
    let sums = in_time(&parsed(at, "time.json"));
    assert!(sums.len() > 4 && sums["issues"] > 500, "{sums:?}");
    let all = page.split_once("<th scope=\"row\">all</th>").expect("a row of sums").1;
    let all = &all[..all.find("</tr>").expect("its end")];
    let mut shown: Vec<u64> = all
        .split("<td class=\"number\">")
        .skip(1)
        .map(|cell| cell.trim_end_matches("</td>").parse().expect("cycles"))
        .collect();
    let mut expected: Vec<u64> = sums.values().copied().collect();
    shown.sort_unstable();
    expected.sort_unstable();
    assert_eq!(shown, expected);
    // 1,400 cycles in columns of nine.
    assert!(page.contains("Cycles 100 to 1500 of a launch of 15765"), "the cycles");
    assert!(page.contains(", 9 in each column"), "the columns");
    assert!(page.contains("<title>issue slots in use</title>"), "the slots");
    assert!(page.contains("outside: waits; </td>") || page.contains("outside: waits</td>"));
}

#[test]
fn text_of_files_is_text() {
    let folder = folder();
    let at = folder.path();
    let evil = "<script>alert(1)</script>\"&'";
    let mut runs = parsed(at, "runs.json");
    for key in ["workload", "design", "command", "order"] {
        runs[0][key] = evil.into();
    }
    runs[0]["launches"][0]["kernel"] = evil.into();
    runs[0]["assumed"] = json!([evil]);
    runs[0]["tool"]["name"] = evil.into();
    runs[0]["counters"][evil] = 7.into();
    runs[0]["derived"][evil] = json!(7.5);
    runs[0]["energy_fj"][evil] = 0.into();
    write(at, "runs.json", &runs.to_string());
    let mut profile = parsed(at, "stalls.json");
    for key in ["workload", "design", "command"] {
        profile[key] = evil.into();
    }
    profile["kernels"][0]["kernel"] = evil.into();
    for key in ["kernel", "ptx", "cuda_file"] {
        profile["lines"][0][key] = evil.into();
    }
    profile["lines"][0]["cuda_line"] = 1.into();
    profile["lines"][0]["stalls"] = json!({ evil: 1 });
    write(at, "stalls.json", &profile.to_string());
    let mut other = parsed(at, "time.json")["otherData"].clone();
    for key in ["input", "design", "kernel", "launch", "grid", "block", "tool"] {
        other[key] = evil.into();
    }
    let time = read(at, "time.json");
    let (events, _) = time.split_once("\"otherData\":").expect("its end");
    let events = events.replace("warp place 0", &evil.replace('"', "\\\""));
    write(at, "time.json", &format!("{events}\"otherData\":{other}}}\n"));
    succeeds(at, "report runs.json stalls.json time.json");
    let page = read(at, "report.html");
    assert!(!page.contains("<script"), "a script");
    assert!(page.matches("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;").count() > 20, "text");
    // Quotes end no attribute.
    assert!(!page.contains("script>\""), "an attribute");
}

/// What a file's refusal says.
fn refusal(folder: &Path, text: &str) -> String {
    write(folder, "bad.json", text);
    let refused = typed(folder, "report runs.json bad.json");
    assert_eq!((refused.status, refused.stdout.as_str()), (Some(2), ""), "{refused}");
    assert!(!folder.join("report.html").exists(), "{refused}");
    let files = std::fs::read_dir(folder).expect("a folder").flatten();
    let left = files.filter(|file| file.file_name().to_string_lossy().contains("partial"));
    assert_eq!(left.count(), 0, "{refused}");
    let (first, hint) = refused.stderr.split_once('\n').expect("two lines");
    assert_eq!(
        hint,
        "  hint: give what `strata run --format json`, `strata inspect --profile --format json` or \
         `strata run --timeline` of this version wrote\n"
    );
    first.trim_start_matches("error: ").to_owned() + "\n"
}

#[test]
fn what_is_no_report_or_damaged_is_refused() {
    let folder = folder();
    let at = folder.path();
    let run = |change: &dyn Fn(&mut Value)| {
        let mut run = parsed(at, "runs.json")[0].clone();
        change(&mut run);
        run.to_string()
    };
    let profile = |change: &dyn Fn(&mut Value)| {
        let mut profile = parsed(at, "energy.json");
        change(&mut profile);
        profile.to_string()
    };
    let remove = |value: &mut Value, key: &str| {
        value.as_object_mut().expect("an object").remove(key);
    };
    let whole = read(at, "runs.json");
    let mut told = String::new();
    for text in [
        String::new(),
        "workload,design\n".to_owned(),
        "[]".to_owned(),
        "[1]".to_owned(),
        "{}".to_owned(),
        "{\"traceEvents\": []}".to_owned(),
        whole[..whole.len() / 2].to_owned(),
        whole.clone() + "]",
        format!("[\n{}]", run(&|run| run["schema"] = "strata.run/9".into())),
        run(&|run| run["schema"] = "strata.comparison/1".into()),
        run(&|run| remove(run, "counters")),
        run(&|run| remove(run, "energy_fj")),
        run(&|run| remove(&mut run["counters"], "orf_reads")),
        run(&|run| remove(&mut run["counters"], "slots_outside")),
        run(&|run| run["counters"]["mrf_reads"] = json!(-1)),
        run(&|run| run["counters"]["mrf_reads"] = json!("1")),
        run(&|run| run["energy_fj"]["mrf_bank"] = json!(1)),
        run(&|run| run["mode"] = "fast".into()),
        run(&|run| run["check"] = "failed".into()),
        profile(&|profile| profile["lines"][0]["energy_fj"] = json!(5)),
        profile(&|profile| profile["lines"][0]["energy_fj"] = Value::Null),
        profile(&|profile| profile["lines_total"] = json!(3)),
        profile(&|profile| remove(&mut profile["total"], "energy_fj")),
    ] {
        told += &refusal(at, &text);
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_damaged_timeline_is_refused() {
    let folder = folder();
    let at = folder.path();
    let whole = read(at, "time.json");
    let mut told = String::new();
    for (from, to) in [
        ("strata.timeline/1", "strata.timeline/2"),
        ("\"schema\":\"strata.timeline/1\",", ""),
        ("\"name\":\"waits: arithmetic\"", "\"name\":\"sleeps\""),
        ("\"cycles_drawn\":\"100..1500\"", "\"cycles_drawn\":\"100..1000\""),
        ("\"cycles_drawn\":\"100..1500\"", "\"cycles_drawn\":\"100..\""),
        ("\"cycles_drawn\":\"100..1500\"", "\"cycles_drawn\":\"100..20000\""),
        ("\"name\":\"warp place 0\"", "\"title\":\"warp place 0\""),
        ("\"ph\":\"X\",\"ts\":100,", "\"ph\":\"X\",\"ts\":900,"),
        ("\"ts\":100,", "\"ts\":-100,"),
        ("\n],\n", "\n,\n"),
    ] {
        assert!(whole.contains(from), "{from}");
        told += &refusal(at, &whole.replace(from, to));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn lines_of_json_and_several_reports_in_a_file_are_read() {
    let folder = folder();
    let at = folder.path();
    let lines = succeeds(at, "run vectoradd bfs --scale small --format jsonl");
    write(
        at,
        "all.json",
        &format!("{}\n{lines}{}", read(at, "energy.json"), read(at, "runs.json")),
    );
    let told = succeeds(at, "report all.json --out all.html");
    assert_eq!(told, "6 runs, 1 profile, 0 timelines: all.html\n");
    let page = read(at, "all.html");
    for name in ["vectoradd, isca11, count", "vectoradd, isca11-rfc6, cycle"] {
        assert!(page.contains(&format!("<th scope=\"row\">{name}</th>")), "{name}");
    }
    // Two files are twice as many runs, told apart.
    succeeds(at, "report runs.json runs.json");
    let page = read(at, "report.html");
    assert!(page.contains("bfs, isca11-rfc6 (2)</th>"), "the second");
}

#[test]
fn nothing_of_others_is_replaced_and_no_input() {
    let folder = folder();
    let at = folder.path();
    write(at, "report.html", "<!doctype html><p>mine");
    let refused = typed(at, "report runs.json");
    assert_eq!((refused.status, refused.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(refused.stderr, @r"
    error: `report.html` is there and does not begin like a page of Strata
      hint: name another file to write; `--force` replaces this one
    ");
    assert_eq!(read(at, "report.html"), "<!doctype html><p>mine");
    succeeds(at, "report runs.json --force");
    succeeds(at, "report runs.json");
    let refused = typed(at, "report runs.json --out runs.json --force");
    assert_eq!(refused.status, Some(2));
    insta::assert_snapshot!(refused.stderr, @r"
    error: `runs.json` is an input of this command
      hint: name another file to write
    ");
    let refused = typed(at, "report missing.json --out new.html");
    assert_eq!(refused.status, Some(2));
    insta::assert_snapshot!(refused.stderr, @"error: cannot read `missing.json`: No such file or directory (os error 2)");
    assert!(!at.join("new.html").exists());
    assert_eq!(typed(at, "report").status, Some(2));
}

#[test]
fn lines_of_cuda_stand_beside_their_costs() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/inputs");
    for name in ["lines.ptx", "lines.toml"] {
        std::fs::copy(inputs.join(name), at.join(name)).expect(name);
    }
    let profile = "inspect lines.ptx --profile --launch lines.toml --scale small --format json";
    write(at, "profile.json", &succeeds(at, profile));
    let profile = parsed(at, "profile.json");
    let lines = profile["lines"].as_array().expect("lines");
    let file = lines.iter().find_map(|line| line["cuda_file"].as_str()).expect("a file of CUDA");
    let own: Vec<&Value> = lines.iter().filter(|line| line["cuda_file"] == file).collect();
    let last = own.iter().filter_map(|line| line["cuda_line"].as_u64()).max().expect("lines");
    let mut sums = BTreeMap::<u64, u64>::new();
    for line in own {
        let cost = line["energy_fj"].as_u64().expect("a cost");
        *sums.entry(line["cuda_line"].as_u64().expect("a line")).or_default() += cost;
    }
    let name = file.rsplit('/').next().expect("a name");
    let code: Vec<String> = (1..=last).map(|line| format!("code <{line}>;")).collect();
    write(at, name, &code.join("\n"));
    succeeds(at, &format!("report profile.json --source {name}"));
    let page = read(at, "report.html");
    assert!(sums.len() > 1, "{sums:?}");
    for (line, sum) in sums {
        let row = format!(
            "<td class=\"number\">{sum}</td><th scope=\"row\" class=\"number\">{line}</th>\
             <td><code>code &lt;{line}&gt;;</code></td></tr>"
        );
        assert!(page.contains(&row), "{row}");
    }
    write(at, name, "one line\n");
    let refused = typed(at, &format!("report profile.json --source {name}"));
    let told = refused.stderr.replace(name, "NAME").replace(&last.to_string(), "LAST");
    assert_eq!(refused.status, Some(2));
    insta::assert_snapshot!(told, @r"
    error: `NAME` has 1 lines, and a profile names line LAST
      hint: give the file that was compiled, or compile it and profile again
    ");
    let refused = typed(at, "report profile.json --source lines.ptx");
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.starts_with("error: no profile names `lines.ptx`"), "{refused}");
}
