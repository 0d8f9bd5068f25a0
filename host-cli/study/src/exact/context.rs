//! What figures are computed from: the papers' facts and the product.

use super::papers::Papers;
use super::product::Product;

/// The facts and the product.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) facts: &'a Papers,
    pub(super) product: &'a Product,
}
