//! Log: a line for an observer of the device, in programs that log; otherwise nothing.

#[cfg(feature = "defmt")]
macro_rules! log {
    ($($argument:tt)*) => { defmt::info!($($argument)*) };
}

#[cfg(not(feature = "defmt"))]
macro_rules! log {
    ($text:literal $(, $value:expr)*) => {{ $(let _ = $value;)* }};
}

pub(crate) use log;
