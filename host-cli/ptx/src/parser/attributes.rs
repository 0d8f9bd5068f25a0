//! Attributes of declarations: what stands between the space and the name.

use crate::module::{Linkage, Span, StateSpace, Variable};
use crate::types::ScalarType;

/// What stands between the space and the name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes {
    pub(super) space: StateSpace,
    pub(super) linkage: Linkage,
    pub(super) ty: ScalarType,
    pub(super) vector: u8,
    pub(super) align: Option<u32>,
    pub(super) pointer: Option<StateSpace>,
}

/// What each variable of a declaration `v<3>` is like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered {
    pub(super) attributes: Attributes,
    /// Where the declaration has its name.
    pub(super) span: Span,
}

impl Numbered {
    /// The variable of a name.
    pub(super) fn variable(self, name: &str) -> Variable {
        let Self { attributes, span } = self;
        let size = element_bytes(attributes);
        Variable {
            name: name.to_owned(),
            space: attributes.space,
            ty: attributes.ty,
            vector: attributes.vector,
            dimensions: Vec::new(),
            align: attributes.align.unwrap_or(size as u32),
            size,
            initial: None,
            linkage: attributes.linkage,
            register: None,
            pointer: attributes.pointer,
            span,
        }
    }
}

/// Size of one element with all its components. Unit: bytes.
pub(super) fn element_bytes(attributes: Attributes) -> u64 {
    u64::from(attributes.ty.bytes()) * u64::from(attributes.vector)
}
