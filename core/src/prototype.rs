//! The hardware prototype's twin: what the RTL of `fpga-softcore/rtl` does, over the same
//! [`RegisterFileCache`](crate::register_file_cache), [`WritePool`](crate::write_pool) and
//! [`SplitBankWrite`](crate::split_bank_write) that the SM uses.
//!
//! Models: for each [`command`], its [`outcome`] and the clock in which it is done; all counters;
//! the whole state of the [`cache_block`] behind its handshake, and of the
//! [`main_register_file`]; what the [`queues`] take and lose.
//! Does not model: values, which the hardware moves.
//! Source: the contracts in `docs/hw/`; `docs/MODEL.md`, rules 7 to 14, 29 and 30.

pub mod cache_block;
pub mod command;
pub mod counters;
pub mod field;
pub mod main_register_file;
pub mod outcome;
pub mod queues;
pub mod regmap;
pub mod sequencer;
pub mod settings;
