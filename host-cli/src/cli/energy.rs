//! `--energy`: where the energy of what no table prints comes from.

use clap::Args;

use crate::design;

/// What stands for the model that is fitted to the tables.
const INTERPOLATE: &str = "interpolate";

/// The option, of all commands that report energy.
#[derive(Clone, Debug, Default, Args)]
pub struct EnergyArg {
    /// Energy of sizes that no table prints: `interpolate`, from a model fitted to the tables
    /// (docs/MODEL.md), or a technology file, whose memory the main register file is made of. As
    /// `missing_energy=interpolated` or `technology=FILE` behind each design. Default: not known.
    #[arg(long, value_name = "interpolate|FILE.toml", value_parser = source)]
    pub energy: Option<String>,
}

fn source(text: &str) -> Result<String, String> {
    if text == INTERPOLATE || design::is_toml(text) {
        return Ok(text.to_owned());
    }
    Err(format!("expected `{INTERPOLATE}`, or a technology file, which ends in `.toml`"))
}

impl EnergyArg {
    /// From what is typed.
    ///
    /// # Errors
    /// What is expected instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        source(text).map(|energy| Self { energy: Some(energy) })
    }

    /// A design as a command line names it, with the parameter that the option stands for.
    pub fn behind(&self, design: &str) -> String {
        match self.energy.as_deref() {
            None => design.to_owned(),
            Some(INTERPOLATE) => format!("{design},missing_energy=interpolated"),
            Some(file) => format!("{design},technology={file}"),
        }
    }

    /// The same for several.
    pub fn behind_all(&self, designs: &[String]) -> Vec<String> {
        designs.iter().map(|design| self.behind(design)).collect()
    }
}
