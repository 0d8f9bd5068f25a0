//! Strata as a library: kernels of PTX texts, launched over slices of a Rust program, executed with
//! checked accesses, and measured under designs of register hierarchies.
//!
//! ```
//! use strata::{Design, Kernel, Launch, Mode, measure};
//!
//! # fn main() -> Result<(), strata::Error> {
//! let ptx = "
//!     .version 8.0
//!     .target sm_75
//!     .address_size 64
//!     .visible .entry scale(.param .u64 data, .param .f32 by)
//!     {
//!         .reg .b64 %rd<3>;
//!         .reg .b32 %r<2>;
//!         .reg .f32 %f<3>;
//!         ld.param.u64 %rd1, [data];
//!         ld.param.f32 %f1, [by];
//!         mov.u32 %r1, %tid.x;
//!         mad.wide.u32 %rd2, %r1, 4, %rd1;
//!         ld.global.f32 %f2, [%rd2];
//!         mul.f32 %f2, %f2, %f1;
//!         st.global.f32 [%rd2], %f2;
//!         ret;
//!     }";
//! let mut data = [1.0_f32, 2.0, 3.0, 4.0];
//! let kernel = Kernel::new(ptx)?;
//! let launch = Launch::new(&kernel, 1, 4).array_mut(&mut data).scalar(2.5_f32);
//! let designs = [Design::new("isca11")?, Design::new("isca11-rfc6")?];
//! let measured = measure(launch, &designs, Mode::Count)?;
//! assert_eq!(data, [2.5, 5.0, 7.5, 10.0]);
//! let [flat, cached] = &measured.reports[..] else { unreachable!() };
//! assert!(cached.counters.mrf_reads() < flat.counters.mrf_reads());
//! # Ok(())
//! # }
//! ```
//!
//! Nothing is printed and nothing is kept between measurements: what a command line would say
//! stands in [`Measured::notes`]. [`call`] is the same for programs that learn the types of
//! arguments at run time.

#![forbid(unsafe_code)]

pub mod call;
mod design;
mod element;
mod kernel;
mod launch;
mod measured;

pub use design::Design;
pub use element::{Element, Scalar};
pub use kernel::Kernel;
pub use launch::{Launch, Sides};
pub use measured::{Measured, Report, measure};
pub use strata_compiler::{Order, RegisterLimit};
pub use strata_files::failure::Failure as Error;
pub use strata_measure::notes::Said as Note;
pub use strata_measure::options::Mode;
