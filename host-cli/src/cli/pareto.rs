//! Command line of `pareto`.

use std::path::PathBuf;

use clap::Args;

use super::table::{ColumnsArg, TableFormat};

/// Arguments of `pareto`.
#[derive(Clone, Debug, Args)]
pub struct ParetoArgs {
    /// Folder of a sweep.
    pub folder: PathBuf,
    /// Column of which less is better, or `storage_bytes`, the registers of an SM in all levels.
    /// Repeat it for more. Default without `--maximise`: `energy_total_fj` and, in cycle mode,
    /// `ipc` as more, otherwise `storage_bytes`.
    #[arg(long, value_name = "COLUMN")]
    pub minimise: Vec<String>,
    /// Column of which more is better. Repeat it for more.
    #[arg(long, value_name = "COLUMN")]
    pub maximise: Vec<String>,
    /// Only points with this value in a column. Repeat it for more.
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub wanted: Vec<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = TableFormat::Markdown)]
    pub format: TableFormat,
    /// Which columns.
    #[command(flatten)]
    pub columns: ColumnsArg,
}
