//! `--energy`: where the energy of what no table prints comes from.

use clap::Args;

use strata_measure::options::EnergySource;

/// The option, of all commands that report energy.
#[derive(Clone, Debug, Default, Args)]
pub struct EnergyArg {
    /// Energy of sizes that no table prints: `interpolate`, from a model fitted to the tables
    /// (docs/MODEL.md), or a technology file, whose memory the main register file is made of. As
    /// `missing_energy=interpolated` or `technology=FILE` behind each design. Default: not known.
    #[arg(long, value_name = "interpolate|FILE.toml")]
    pub energy: Option<EnergySource>,
}

impl EnergyArg {
    /// A design as a command line names it, with the parameter that the option stands for.
    pub fn behind(&self, design: &str) -> String {
        self.energy.as_ref().map_or_else(|| design.to_owned(), |energy| energy.behind(design))
    }

    /// Designs as a command line names them, with the parameter that the option stands for.
    pub fn behind_all(&self, designs: &[String]) -> Vec<String> {
        EnergySource::behind_all(self.energy.as_ref(), designs)
    }
}
