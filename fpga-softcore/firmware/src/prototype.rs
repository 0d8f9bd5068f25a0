//! Prototype: what the application drives, behind a bus or in software.

use strata_core::prototype::settings::Settings;
use strata_link::message::{Broken, Data, Parameters};

/// Something that runs batches of commands and moves their values.
///
/// A batch is queued command by command, run, and its outcomes taken, one for each command, in
/// order. Nothing here waits without end: what does not come is [`Broken`].
pub trait Prototype {
    /// What was built in.
    ///
    /// # Errors
    ///
    /// It is not there.
    fn parameters(&mut self) -> Result<Parameters, Broken>;

    /// Empties everything, clears the counters, and takes settings, which the caller has checked
    /// against [`parameters`](Self::parameters). What a register holds then is not said.
    ///
    /// # Errors
    ///
    /// It does not do what it says it can.
    fn configure(&mut self, settings: Settings) -> Result<(), Broken>;

    /// Queues a packed command. `value` is there if the command has one
    /// ([`Operation::has_value`](strata_core::prototype::command::Operation::has_value)).
    ///
    /// # Errors
    ///
    /// It takes no more, although the batch is not longer than it may be.
    fn queue(&mut self, command: u32, value: Option<&Data>) -> Result<(), Broken>;

    /// Runs what was queued, back to back. Returns the clocks that it took.
    ///
    /// # Errors
    ///
    /// It did not come to an end.
    fn run(&mut self) -> Result<u32, Broken>;

    /// The next outcome, packed. `read` is there if the command is a read, and takes the lanes that
    /// were read; what the others become is not said.
    ///
    /// # Errors
    ///
    /// There is none.
    fn outcome(&mut self, read: Option<&mut Data>) -> Result<u32, Broken>;

    /// A counter since the last configure, by its place in the core's names.
    fn counter(&mut self, place: usize) -> u64;
}

impl<P: Prototype + ?Sized> Prototype for &mut P {
    fn parameters(&mut self) -> Result<Parameters, Broken> {
        (**self).parameters()
    }

    fn configure(&mut self, settings: Settings) -> Result<(), Broken> {
        (**self).configure(settings)
    }

    fn queue(&mut self, command: u32, value: Option<&Data>) -> Result<(), Broken> {
        (**self).queue(command, value)
    }

    fn run(&mut self) -> Result<u32, Broken> {
        (**self).run()
    }

    fn outcome(&mut self, read: Option<&mut Data>) -> Result<u32, Broken> {
        (**self).outcome(read)
    }

    fn counter(&mut self, place: usize) -> u64 {
        (**self).counter(place)
    }
}
