//! `slang`: elaborates the hardware as slang does, which keeps closer to the standard of
//! SystemVerilog than Verilator and Yosys do: a name that is used before its declaration is an
//! error, as in commercial simulators.

use std::path::Path;

use crate::hardware_tools::{self, HardwareTools};
use crate::installation::Missing;
use crate::machine;
use crate::packages::Tools;
use crate::process::{self, Failure};
use crate::stages::{Stages, lacking};
use crate::synthesis::board::{RTL, hardware};

/// Runs slang's driver: it prints its errors, and the exit status is 1 if there is one.
const DRIVER: &str = "\
import sys
from pyslang import driver

slang = driver.Driver()
slang.addStandardArgs()
arguments = ' '.join(['slang'] + ['\"' + name + '\"' for name in sys.argv[1:]])
read = slang.parseCommandLine(arguments) and slang.processOptions() and slang.parseAllSources()
sys.exit(0 if read and slang.runFullCompilation() else 1)
";

/// The stage.
pub(crate) fn stages(stages: &mut Stages) {
    stages.one("slang", || match hardware_tools::ensure(Tools::Slang) {
        Ok(tools) => elaborate(&tools).into(),
        Err(Missing { what, remedy }) => lacking(format!("missing {what}; run: {remedy}")),
    });
}

/// Elaborates all of the hardware. The processor, which is of another project, is left out.
fn elaborate(tools: &HardwareTools) -> Result<(), Failure> {
    let mut slang = process::command(tools.program("python3"));
    slang.args(["-c", DRIVER, "--ignore-unknown-modules"]);
    slang.args(hardware(Path::new(RTL))?).current_dir(machine::root());
    process::run(&mut slang)
}
