//! Launch: a kernel with its grid and its arguments.

use std::fmt::{self, Debug, Formatter};

use strata_compiler::{Order, RegisterLimit};
use strata_measure::options::{Scale, Source};

use crate::Kernel;
use crate::call::{Call, CallArgument, CallArray};
use crate::element::{Element, Scalar};

/// One to three sides of a grid or of a CTA, x first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides([u32; 3]);

impl From<u32> for Sides {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<[u32; 2]> for Sides {
    fn from([x, y]: [u32; 2]) -> Self {
        Self([x, y, 1])
    }
}

impl From<[u32; 3]> for Sides {
    fn from(sides: [u32; 3]) -> Self {
        Self(sides)
    }
}

/// Writes the final contents of an array into its slice.
type WriteBack<'a> = Box<dyn FnMut(&[u8]) + 'a>;

/// One launch of a kernel. Its arguments are given in the order of the kernel's parameters.
///
/// The kernel runs on copies of the slices; when it has run and was measured without an error, what
/// is in the copy of a [`Launch::array_mut`] is written back.
pub struct Launch<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) call: Call,
    pub(crate) source: Source,
    /// One for each array; none of one that is not written back.
    write_backs: Vec<Option<WriteBack<'a>>>,
}

impl<'a> Launch<'a> {
    /// One without arguments: so many CTAs of so many threads.
    pub fn new(kernel: &'a Kernel, grid: impl Into<Sides>, block: impl Into<Sides>) -> Self {
        let (Sides(grid), Sides(block)) = (grid.into(), block.into());
        let call = Call {
            grid: grid.to_vec(),
            block: block.to_vec(),
            dynamic_shared: 0,
            cooperative: false,
            arrays: Vec::new(),
            arguments: Vec::new(),
        };
        Self { kernel, call, source: Source::of(Scale::Default), write_backs: Vec::new() }
    }

    /// The next argument is the address of a copy of this slice, or a structure of its bytes.
    #[must_use]
    pub fn array<T: Element>(self, slice: &[T]) -> Self {
        self.with_array(slice, None)
    }

    /// The next argument is the address of a copy of this slice, which is written back.
    #[must_use]
    pub fn array_mut<T: Element>(self, slice: &'a mut [T]) -> Self {
        let copy: Vec<T> = slice.to_vec();
        let write_back = move |bytes: &[u8]| {
            let elements = bytes.chunks_exact(size_of::<T>()).map(T::of);
            slice.iter_mut().zip(elements).for_each(|(to, of)| *to = of.unwrap_or(*to));
        };
        self.with_array(&copy, Some(Box::new(write_back)))
    }

    fn with_array<T: Element>(mut self, slice: &[T], write_back: Option<WriteBack<'a>>) -> Self {
        let mut bytes = Vec::with_capacity(size_of_val(slice));
        for &element in slice {
            element.append_to(&mut bytes);
        }
        self.call.arguments.push(CallArgument::Array(self.call.arrays.len()));
        self.call.arrays.push(CallArray { element: T::TYPE, bytes: bytes.into() });
        self.write_backs.push(write_back);
        self
    }

    /// The next argument is a number.
    #[must_use]
    pub fn scalar(mut self, scalar: impl Into<Scalar>) -> Self {
        self.call.arguments.push(scalar.into().into());
        self
    }

    /// The next argument is a structure of these bytes.
    #[must_use]
    pub fn structure(mut self, bytes: &[u8]) -> Self {
        self.call.arguments.push(CallArgument::Bytes(bytes.to_vec()));
        self
    }

    /// Dynamic shared memory. Unit: bytes for each CTA.
    #[must_use]
    pub fn dynamic_shared(mut self, bytes: u32) -> Self {
        self.call.dynamic_shared = bytes;
        self
    }

    /// All CTAs are resident at once, for `grid.sync()`.
    #[must_use]
    pub fn cooperative(mut self) -> Self {
        self.call.cooperative = true;
        self
    }

    /// Registers of a thread; what does not fit is spilled to local memory.
    #[must_use]
    pub fn registers(mut self, limit: RegisterLimit) -> Self {
        self.source.registers = Some(limit.get());
        self
    }

    /// The order of the instructions within basic blocks, in place of that of the PTX.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.source.orders = vec![order];
        self
    }

    /// More warp instructions than these are an error. Default: 4 billion.
    #[must_use]
    pub fn max_instructions(mut self, most: u64) -> Self {
        self.source.max_instructions = Some(most);
        self
    }

    /// Writes the final contents of the arrays back.
    pub(crate) fn write_back(self, finals: &[Vec<u8>]) {
        for (write_back, bytes) in self.write_backs.into_iter().zip(finals) {
            if let Some(mut write_back) = write_back {
                write_back(bytes);
            }
        }
    }
}

impl Debug for Launch<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Call { grid, block, arguments, .. } = &self.call;
        f.debug_struct("Launch")
            .field("kernel", &self.kernel.name())
            .field("grid", grid)
            .field("block", block)
            .field("arguments", &arguments.len())
            .finish_non_exhaustive()
    }
}
