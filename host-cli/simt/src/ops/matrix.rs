//! Matrix instructions: `mma wmma ldmatrix stmatrix movmatrix`, executed by a whole warp at once.
//!
//! Models: what they compute ([`product`]), how they move matrices ([`transfer`]) and where
//! elements lie in registers (`layout`, `fragment`). All 32 lanes take part.
//! Does not model: sparse and block-scaled products: they are refused.

mod decode;
mod fragment;
mod layout;
pub(crate) mod product;
pub(crate) mod transfer;

pub(crate) use decode::decode;
use product::Product;
use transfer::Transfer;

/// A matrix instruction.
#[derive(Clone, Debug)]
pub(crate) enum Matrix {
    Product(Box<Product>),
    Transfer(Box<Transfer>),
    /// `movmatrix`: the rows of the result and the source.
    Transpose {
        d: u32,
        a: u32,
    },
}
