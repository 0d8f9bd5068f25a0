//! Command line of `reproduce`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::by_name;
use strata_measure::options::Scale;

/// A paper, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaperArg {
    /// Register file cache and two-level scheduler.
    Isca11,
    /// The dissertation.
    Dissertation,
    /// Unified storage.
    Micro12,
    /// Registers in scratchpad memory.
    Expars,
    /// STT-RAM.
    Warrf,
    /// No paper: the page's explorer alone.
    Explorer,
    /// All five, and the explorer.
    All,
}

/// Arguments of `reproduce`.
#[derive(Clone, Debug, Args)]
pub struct ReproduceArgs {
    /// Paper. Default: all, with the table of their claims, and the explorer.
    #[arg(value_enum, default_value_t = PaperArg::All)]
    pub paper: PaperArg,
    /// Only this figure, such as `6`, `6.13` or `"Table 5"`. Repeat it for more.
    #[arg(long = "figure", value_name = "N|LABEL")]
    pub figures: Vec<String>,
    /// Problem size of the figures' workloads. Default: `small`, which the explorer's always have.
    #[arg(long, value_parser = by_name::parser::<Scale>())]
    pub scale: Option<Scale>,
    /// Folder to write to: new, empty, or of an earlier `reproduce`, which is replaced.
    #[arg(long, short, value_name = "DIR", default_value = "reproduction")]
    pub out: PathBuf,
    /// Threads, at most 4 for each core; never changes a result. Default: one for each core.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

impl ReproduceArgs {
    /// The size of the figures' workloads.
    pub fn scale(&self) -> Scale {
        self.scale.unwrap_or(Scale::Small)
    }

    /// The labels that are asked for, as papers write them.
    pub fn labels(&self) -> Vec<String> {
        let label = |text: &String| {
            if text.starts_with(|first: char| first.is_ascii_digit()) {
                format!("Figure {text}")
            } else {
                text.clone()
            }
        };
        self.figures.iter().map(label).collect()
    }
}
