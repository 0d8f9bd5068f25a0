//! What figures are computed from: designs and tables that the product runs with.

use std::sync::LazyLock;

use crate::design::resolve;
use crate::design::technology::Technology;
use crate::design::{Design, Machine};

/// Designs by what they show, and the tables that they price accesses by.
#[derive(Clone)]
pub(super) struct Product {
    /// `[RFC2011]`'s flat register file.
    pub(super) isca11: Design,
    /// Its 6-entry cache for 8 active warps.
    pub(super) cache: Design,
    /// The same for all warps.
    pub(super) cache_of_all: Design,
    /// `[DISS]`'s flat register file.
    pub(super) dissertation: Design,
    /// Its operand register file of 5 entries, with a last result file.
    pub(super) managed: Design,
    /// `[WARRF]`'s SRAM and its design, leakage as printed.
    pub(super) sram_as_printed: Design,
    pub(super) warrf_as_printed: Design,
    /// The same with leakage in milliwatts, and STT-RAM without a pool.
    pub(super) sram: Design,
    pub(super) sttram: Design,
    pub(super) warrf: Design,
    /// `[RFC2011]` Table 2 with the wire.
    pub(super) isca11_tables: Technology,
    /// `[DISS]` Table 4.5 with the wire.
    pub(super) dissertation_tables: Technology,
}

/// The product as it is.
pub(super) fn product() -> &'static Product {
    static PRODUCT: LazyLock<Product> = LazyLock::new(|| {
        let design = |name: &str| resolve(name).expect("invariant: a test evaluates every figure");
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
        }
    });
    &PRODUCT
}
