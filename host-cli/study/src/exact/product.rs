//! What figures are computed from: designs and tables that the product runs with.

use std::sync::LazyLock;

use strata_core::sm::expansion::{Capacity, Threshold};
use strata_core::sm::partition::{Areas, Division, Limits};

use strata_design::resolve;
use strata_design::storage_technology::{self, StorageTechnology};
use strata_design::technology::Technology;
use strata_design::{Design, Machine};

/// Designs by what they show, and the tables that they price accesses by.
#[derive(Clone)]
pub(super) struct Product {
    /// `[RFC2011]`'s flat register file.
    pub(super) isca11: Design,
    /// Its 6-entry cache for 8 active warps.
    pub(super) cache: Design,
    /// Its 6-entry cache for all warps.
    pub(super) cache_of_all: Design,
    /// `[DISS]`'s flat register file.
    pub(super) dissertation: Design,
    /// Its operand register file of 5 entries, with a last result file.
    pub(super) managed: Design,
    /// `[WARRF]`'s SRAM and its design, leakage as printed.
    pub(super) sram_as_printed: Design,
    pub(super) warrf_as_printed: Design,
    /// `[WARRF]`'s SRAM, STT-RAM without a pool and its design, leakage in milliwatts.
    pub(super) sram: Design,
    pub(super) sttram: Design,
    pub(super) warrf: Design,
    /// `[MICRO2012]` and `[DISS]` chapter 7.
    pub(super) storage: Storage,
    pub(super) storage_technologies: StorageTechnologies,
    /// `[EXPARS]`.
    pub(super) expansion: Expansion,
    /// `[RFC2011]` Table 2 with the wire.
    pub(super) isca11_tables: Technology,
    /// `[DISS]` Table 4.5 with the wire.
    pub(super) dissertation_tables: Technology,
}

/// What an SM with all its storage costs at 32 nm.
#[derive(Clone)]
pub(super) struct StorageTechnologies {
    /// By `[MICRO2012]`, SRAM's leakage as a part of the SM's.
    pub(super) micro12: StorageTechnology,
    /// By `[MICRO2012]`, with the printed leakage of a KB.
    pub(super) micro12_as_printed: StorageTechnology,
    /// By `[DISS]`.
    pub(super) dissertation: StorageTechnology,
}

/// How the storage of an SM can be divided.
#[derive(Clone)]
pub(super) struct Storage {
    /// 256 KB of registers, 64 KB each of shared memory and cache.
    pub(super) baseline: Division,
    /// `[DISS]`'s areas of fixed sizes.
    pub(super) fixed: [Areas; 5],
    /// Its two ways to divide 64 KB beside the registers.
    pub(super) limited: [Division; 2],
    /// `[MICRO2012]`'s unified storage of 128, 256, 384 and 512 KB.
    pub(super) unified: [Division; 4],
    /// `[MICRO2012]`'s unified storage without bounds, as in limit studies.
    pub(super) unbounded: Division,
    /// `[DISS]`'s unified storage of 384 KB.
    pub(super) powers_of_two: Division,
    pub(super) limits: Limits,
}

impl Storage {
    const fn new() -> Self {
        Self {
            baseline: Division::BASELINE,
            fixed: Areas::DISSERTATION,
            limited: Division::DISSERTATION_LIMITED,
            unified: [
                Division::micro12_unified(128),
                Division::micro12_unified(256),
                Division::micro12_unified(384),
                Division::micro12_unified(512),
            ],
            unbounded: Division::micro12_unified(u32::MAX),
            powers_of_two: Division::dissertation_unified(384),
            limits: Limits::MICRO12,
        }
    }
}

/// Machines whose registers may lie in scratchpad memory.
#[derive(Clone)]
pub(super) struct Expansion {
    pub(super) fermi: Capacity,
    pub(super) maxwell: Capacity,
    pub(super) threshold: Threshold,
}

/// The product as it is.
pub(super) fn product() -> &'static Product {
    static PRODUCT: LazyLock<Product> = LazyLock::new(|| {
        let design = |name: &str| resolve(name).expect("invariant: a test evaluates every figure");
        let technology = |name: &str| {
            let found = storage_technology::built_in(name);
            StorageTechnology::clone(found.expect("invariant: a test evaluates every figure"))
        };
        let tables = |machine: &Machine| machine.technology().clone();
        let (isca11, dissertation) = (design("isca11"), design("dissertation"));
        Product {
            isca11_tables: tables(isca11.machine),
            dissertation_tables: tables(dissertation.machine),
            isca11,
            cache: design("isca11-rfc6"),
            cache_of_all: design("isca11-rfc6-single"),
            dissertation,
            managed: design("diss-orf5-lrf-split"),
            sram_as_printed: design("warrf-gtx480-as-printed"),
            warrf_as_printed: design("warrf-as-printed"),
            sram: design("warrf-gtx480"),
            sttram: design("sttram"),
            warrf: design("warrf"),
            storage: Storage::new(),
            expansion: Expansion {
                fermi: Capacity::FERMI,
                maxwell: Capacity::MAXWELL,
                threshold: Threshold::PAPER,
            },
            storage_technologies: StorageTechnologies {
                micro12: technology("micro12-32nm"),
                micro12_as_printed: technology("micro12-32nm-as-printed"),
                dissertation: technology("diss-32nm"),
            },
        }
    });
    &PRODUCT
}
