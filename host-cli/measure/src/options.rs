//! Options: what to execute of an input, at which size, and what is simulated.

use std::path::PathBuf;
use std::str::FromStr;

use strata_compiler::Order;
use strata_core::named;

use strata_design as design;
use strata_files::failure::Failure;
use strata_trace::Reach;
use strata_workload::Toolchain;

named! {
    /// Size of a built-in workload's problem.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Scale {
        /// Tens of thousands of warp instructions.
        Small = "small",
        /// Millions of warp instructions.
        Default = "default",
        /// Beyond every cache; of few workloads.
        Large = "large",
    }

    /// What is simulated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Mode {
        /// Accesses in program order, without time.
        Count = "count",
        /// The SM cycle by cycle.
        Cycle = "cycle",
    }
}

/// Most warp instructions of an input unless more are asked for.
const MAX_INSTRUCTIONS: u64 = 4_000_000_000;

/// What to execute of an input, and how to compile it.
#[derive(Clone, Debug)]
pub struct Source {
    /// Launch description of a PTX file.
    pub launch: Option<PathBuf>,
    /// Problem size of workloads and PTX files. Default: [`Scale::Default`].
    pub scale: Option<Scale>,
    /// Which PTX of built-in workloads. Default: that of nvcc.
    pub ptx: Option<Toolchain>,
    /// Size parameters that replace the workload's, as `NAME=VALUE`.
    pub set: Vec<String>,
    /// Registers of a thread, 16 to 255: what does not fit is spilled to local memory. Default: as
    /// many as the kernel needs.
    pub registers: Option<u16>,
    /// Orders of instructions within basic blocks; most commands take one. Default: that of PTX.
    pub orders: Vec<Order>,
    /// Count only launches of this kernel; all launches still execute.
    pub kernel: Option<String>,
    /// Count only this launch, from 0; all launches still execute.
    pub launch_index: Option<u64>,
    /// Count only this CTA of each launch (linear index); all CTAs still execute.
    pub cta: Option<u64>,
    /// Stop with an error after this many warp instructions, all launches together. Default:
    /// 4 billion.
    pub max_instructions: Option<u64>,
    /// Read trace files that a list names outside its own folder.
    pub allow_outside: bool,
}

impl Source {
    /// Which files a list of traces may name.
    pub fn reach(&self) -> Reach {
        if self.allow_outside { Reach::Anywhere } else { Reach::Folder }
    }

    /// All of a workload at one size, as it is.
    pub fn of(scale: Scale) -> Self {
        Self {
            launch: None,
            scale: Some(scale),
            ptx: None,
            set: Vec::new(),
            registers: None,
            orders: Vec::new(),
            kernel: None,
            launch_index: None,
            cta: None,
            max_instructions: None,
            allow_outside: false,
        }
    }

    /// The order of instructions.
    ///
    /// # Errors
    ///
    /// More than one.
    pub fn order(&self) -> Result<Order, Failure> {
        match self.orders[..] {
            [] => Ok(Order::default()),
            [order] => Ok(order),
            _ => Err(Failure::input("`--order` names several orders")
                .hint("name one; `study active-warps` takes several")),
        }
    }

    /// The problem size.
    pub fn scale(&self) -> Scale {
        self.scale.unwrap_or(Scale::Default)
    }

    /// Most warp instructions, all launches together.
    pub fn max_instructions(&self) -> u64 {
        self.max_instructions.unwrap_or(MAX_INSTRUCTIONS)
    }
}

/// What stands for the model that is fitted to the tables.
const INTERPOLATE: &str = "interpolate";

/// Where the energy of sizes comes from that no table prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnergySource {
    /// A model that is fitted to the tables.
    Interpolation,
    /// A technology file, whose memory the main register file is made of.
    Technology(String),
}

impl FromStr for EnergySource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            INTERPOLATE => Ok(Self::Interpolation),
            file if design::is_toml(file) => Ok(Self::Technology(file.to_owned())),
            _ => Err(format!(
                "expected `{INTERPOLATE}`, or a technology file, which ends in `.toml`"
            )),
        }
    }
}

impl EnergySource {
    /// A design as a command line names it, with the parameter that the source stands for.
    pub fn behind(&self, design: &str) -> String {
        match self {
            Self::Interpolation => format!("{design},missing_energy=interpolated"),
            Self::Technology(file) => format!("{design},technology={file}"),
        }
    }

    /// Designs as a command line names them, with the parameter that the source stands for, if one
    /// is given.
    pub fn behind_all(source: Option<&Self>, designs: &[String]) -> Vec<String> {
        let named =
            |design: &String| source.map_or_else(|| design.clone(), |source| source.behind(design));
        designs.iter().map(named).collect()
    }
}
