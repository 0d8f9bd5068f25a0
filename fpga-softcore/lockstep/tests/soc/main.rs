//! The simulated board, as a program and as the other end of a line. `cargo xtask test` builds it
//! with `cargo xtask soc`, and runs these tests with its folder in `STRATA_SOC`.

mod command_line;
mod host;
mod killed;
mod session;
mod simulator;
