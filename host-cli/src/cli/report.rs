//! Command line of `report`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `report`.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// What `run --format json` or `jsonl`, `inspect --profile --format json` and `run --timeline`
    /// wrote, in any order: the content says what it is.
    #[arg(value_name = "FILE.json", required = true)]
    pub files: Vec<PathBuf>,
    /// Page to write.
    #[arg(long, short, value_name = "OUT.html", default_value = "report.html")]
    pub out: PathBuf,
    /// CUDA file that a profile names (`nvcc -lineinfo`): its lines are shown beside their cost.
    /// Repeat it for more.
    #[arg(long = "source", value_name = "FILE.cu")]
    pub sources: Vec<PathBuf>,
    /// Replace the file of `--out` whatever it is; without it only a page of Strata is replaced.
    #[arg(long)]
    pub force: bool,
}
