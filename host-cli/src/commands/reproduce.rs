//! `reproduce`: the papers' figures and tables, remade, as CSV, SVG and one page.

use std::io::Write as _;

use clap::ValueEnum as _;

use crate::cli::reproduce::{PaperArg, ReproduceArgs};
use crate::printer::Printer;
use strata_figures::reproduce::{self, Reproduction, Selection, explorer, page, svg};
use strata_files::failure::{ExitStatus, Failure};
use strata_files::partial_folder::{FolderKind, PartialFolder};
use strata_measure::parallel;
use strata_report::columns::{Columns, Form};

/// The page: the file that names the others.
const PAGE: &str = "report.html";

const FOLDER: FolderKind = FolderKind { command: "strata reproduce", list: PAGE, holds: is_ours };

/// Data of a figure, its drawing, and the claims.
fn is_ours(name: &str) -> bool {
    matches!(name.rsplit_once('.'), Some((_, "csv" | "svg")))
}

/// Runs the command.
pub fn run(args: &ReproduceArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let papers = match args.paper {
        PaperArg::All | PaperArg::Explorer => Vec::new(),
        one => {
            one.to_possible_value().map(|value| value.get_name().to_owned()).into_iter().collect()
        }
    };
    let explorer_alone = args.paper == PaperArg::Explorer;
    let selection = Selection { papers, labels: args.labels(), explorer_alone };
    if explorer_alone && args.scale.is_some() {
        return Err(Failure::input("`--scale` is the size of figures, and the explorer has none")
            .hint(format!(
                "leave `--scale` out: its workloads have their {} size",
                explorer::SCALE.name()
            )));
    }
    // What cannot be written is said before anything runs, and so is a label that no paper has.
    selection.entries()?;
    let folder = PartialFolder::create(&args.out, FOLDER, &[])?;
    let made = reproduce::run(&selection, args.scale(), parallel::jobs(args.jobs), printer)?;
    write(&made, &folder).map_err(|error| Failure::file(folder.folder(), "write to", &error))?;
    let page = folder.folder().join(PAGE);
    folder.finish()?;
    if explorer_alone {
        return printer.data(&format!("the explorer: {}\n", page.display()));
    }
    let charts: usize = made.drawn.iter().map(|drawn| drawn.panels.len()).sum();
    let several = |count: usize, one: &str, more: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {more}"),
    };
    printer.data(&format!(
        "{} of {}: {}\n",
        several(charts, "chart", "charts"),
        several(made.drawn.len(), "figure or table", "figures and tables"),
        page.display()
    ))
}

fn write(made: &Reproduction, folder: &PartialFolder) -> std::io::Result<()> {
    let csv = |columns: &Columns| {
        columns
            .to_bytes(Form::Csv)
            .map_err(|failure| std::io::Error::other(failure.message().to_owned()))
    };
    for drawn in &made.drawn {
        for (place, panel) in drawn.panels.iter().enumerate() {
            let name = match drawn.panels.len() {
                1 => drawn.id.to_owned(),
                _ => format!("{}-{}", drawn.id, place + 1),
            };
            folder.file(&format!("{name}.csv"))?.write_all(&csv(&panel.columns())?)?;
            folder.file(&format!("{name}.svg"))?.write_all(svg::file(panel).as_bytes())?;
        }
    }
    if let Some(trends) = &made.trends {
        folder.file("claims.csv")?.write_all(&csv(&trends.columns())?)?;
    }
    folder.file(PAGE)?.write_all(page::page(made).as_bytes())
}
