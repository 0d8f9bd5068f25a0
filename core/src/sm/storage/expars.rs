//! Storage whose registers expand into scratchpad memory: more CTAs are resident, and the slot of a
//! CTA says where its registers lie ([`super::super::expansion::homes`]).
//!
//! Models: as [`Partitioned`], in which the warps of a slot have consecutive numbers as long as the
//! kernel runs.
//! Source: `[EXPARS]` 3.3.2; `docs/MODEL.md`, rule 41.

pub(in crate::sm) use super::partitioned::Partitioned as Expars;
