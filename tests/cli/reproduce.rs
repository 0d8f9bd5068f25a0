//! Figures of papers, remade into a folder.

use std::fs;

use crate::strata;

#[test]
fn a_figure_is_data_a_drawing_and_a_page() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("figures");
    let out = folder.to_str().expect("UTF-8");
    let told = |jobs: &str| {
        let arguments =
            ["reproduce", "isca11", "--figure", "2", "--out", out, "--jobs", jobs, "--quiet"];
        let outcome = strata(&arguments);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
        assert_eq!(
            outcome.stdout.replace(out, "OUT"),
            "2 charts of 1 figure or table: OUT/report.html\n"
        );
        let mut files: Vec<_> = fs::read_dir(&folder)
            .expect("it is there")
            .map(|entry| {
                let entry = entry.expect("it can be read");
                let text = fs::read_to_string(entry.path()).expect("text");
                (entry.file_name().into_string().expect("UTF-8"), text)
            })
            .collect();
        files.sort();
        files
    };
    let first = told("1");
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "WRITTEN-BY-STRATA",
            "report.html",
            "value-usage-1.csv",
            "value-usage-1.svg",
            "value-usage-2.csv",
            "value-usage-2.svg"
        ]
    );
    // Into a folder of its own, and with the same bytes.
    assert_eq!(first, told("2"));
    let csv = &first[2].1;
    assert!(csv.starts_with("series,source,x,value,deviation,most\nread once,strata,vectoradd,"));
    assert!(csv.ends_with("values read once,paper,mean,60,,70\n"), "{csv}");
    let page = &first[1].1;
    assert!(page.contains("How often values are read") && !page.contains("<script"), "a page");
    assert!(first[3].1.starts_with("<?xml version") && first[3].1.ends_with("</svg>\n"));
}

#[test]
fn the_explorer_alone_is_one_page() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("explorer");
    let out = folder.to_str().expect("UTF-8");
    let outcome = strata(&["reproduce", "explorer", "--out", out, "--quiet"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
    assert_eq!(outcome.stdout.replace(out, "OUT"), "the explorer: OUT/report.html\n");
    let page = fs::read_to_string(folder.join("report.html")).expect("text");
    // The module, the designs, twelve workloads and the script.
    assert_eq!(page.matches("<script").count(), 15);
    assert!(page.contains("<h2 id=\"explorer\">") && !page.contains("Left out"), "a section");
    assert!(page.contains("Made by <code>strata reproduce explorer</code>"), "its command");
    assert!(page.contains("default-src 'none'") && page.len() < 600 << 10, "{}", page.len());
    let wrong = strata(&["reproduce", "explorer", "--figure", "2", "--out", out]);
    assert_eq!(wrong.status, Some(2), "{wrong}");
    assert_eq!(
        wrong.stderr,
        "error: the explorer has no figures\n  hint: name a paper, or leave `--figure` out\n"
    );
    let wrong = strata(&["reproduce", "explorer", "--scale", "small", "--out", out]);
    assert_eq!(wrong.status, Some(2), "{wrong}");
    assert_eq!(
        wrong.stderr,
        "error: `--scale` is the size of figures, and the explorer has none\n  hint: leave \
         `--scale` out: its workloads have their small size\n"
    );
}

#[test]
fn what_is_no_figure_and_no_folder_is_refused_before_anything_runs() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("figures");
    let out = folder.to_str().expect("UTF-8");
    let wrong = strata(&["reproduce", "warrf", "--figure", "9", "--out", out]);
    assert_eq!(wrong.status, Some(2), "{wrong}");
    assert_eq!(
        wrong.stderr,
        "error: no `Figure 9` in warrf\n  hint: docs/FIGURES.md lists all figures and tables; \
         `--figure 6` is Figure 6\n"
    );
    assert!(!folder.exists());
    let own = parent.path().to_str().expect("UTF-8");
    fs::write(parent.path().join("mine.txt"), "mine").expect("it is written");
    let wrong = strata(&["reproduce", "warrf", "--figure", "6", "--out", own]);
    assert_eq!(wrong.status, Some(2), "{wrong}");
    assert!(wrong.stderr.contains("holds"), "{wrong}");
    assert_eq!(fs::read_to_string(parent.path().join("mine.txt")).expect("it stays"), "mine");
}
