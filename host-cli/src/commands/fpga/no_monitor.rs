//! `fpga monitor` of a program that is built without the decoder of logs.

use crate::cli::fpga::MonitorArgs;
use crate::printer::Printer;
use strata_files::failure::{ExitStatus, Failure};

/// Says that this build has no monitor, before a board is started.
pub(super) fn run(_: &MonitorArgs, _: &Printer) -> Result<ExitStatus, Failure> {
    Err(Failure::input("this program was built without the decoder of logs")
        .hint("build it with the feature `logs`, which is on by default"))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::fpga::FpgaCommand;
    use crate::cli::{Cli, Command};

    #[test]
    fn it_says_what_is_missing() {
        let cli = Cli::parse_from(["strata", "fpga", "monitor", "--board", "host"]);
        let Command::Fpga(FpgaCommand::Monitor(args)) = cli.command else { panic!("{cli:?}") };
        let failure = run(&args, &Printer::new(true)).unwrap_err();
        assert_eq!(failure.status(), ExitStatus::InputError);
        assert!(failure.message().contains("without the decoder of logs"));
        assert!(failure.message().contains("the feature `logs`"));
    }
}
