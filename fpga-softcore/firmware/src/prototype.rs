//! Prototype: the interface that the application drives, to hardware behind a bus or to software.

use strata_core::prototype::settings::Settings;
use strata_link::message::{Broken, Data, Parameters};

/// Something that runs batches of commands and moves their values.
///
/// A batch is queued command by command, run, and its outcomes taken, one for each command, in
/// order. Every wait is bounded: an outcome that does not arrive is [`Broken`].
pub trait Prototype {
    /// The parameters of the build.
    ///
    /// # Errors
    ///
    /// There is no prototype.
    fn parameters(&mut self) -> Result<Parameters, Broken>;

    /// Empties everything, clears the counters, and takes settings, which the caller has checked
    /// against [`parameters`](Self::parameters). The contents of registers are undefined then.
    ///
    /// # Errors
    ///
    /// It refuses settings within its parameters.
    fn configure(&mut self, settings: Settings) -> Result<(), Broken>;

    /// Queues a packed command. `value` is given if the command has one
    /// ([`Operation::has_value`](strata_core::prototype::command::Operation::has_value)).
    ///
    /// # Errors
    ///
    /// The queue is full, although the batch is not too long.
    fn queue(&mut self, command: u32, value: Option<&Data>) -> Result<(), Broken>;

    /// Runs the queued commands back to back. Returns the clocks that they took.
    ///
    /// # Errors
    ///
    /// The batch did not end.
    fn run(&mut self) -> Result<u32, Broken>;

    /// The next outcome, packed. `read` is given if the command is a read, and receives the lanes
    /// that were read; its other lanes are undefined then.
    ///
    /// # Errors
    ///
    /// There is no outcome.
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
