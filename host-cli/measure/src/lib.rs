//! Launches under designs: what an execution or a trace recorded is counted ([`evaluate`]) or run
//! in time ([`timing`]).
//!
//! [`levels`] fits compiler-managed hierarchies to a launch's program, [`provision`] divides
//! unified storage for it, [`crossings`] counts what crosses strands, [`stalls`] names what issue
//! slots wait for, and [`timeline`] draws what happens in time.

#![forbid(unsafe_code)]

pub mod crossings;
pub mod evaluate;
pub mod levels;
pub mod provision;
pub mod stalls;
pub mod timeline;
pub mod timing;
