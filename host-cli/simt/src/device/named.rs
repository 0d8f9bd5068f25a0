//! What the handles of textures, surfaces and samplers stand for.

use crate::texture::{Object, ObjectKind};

/// An object or a reference to one.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(super) name: String,
    pub(super) kind: ObjectKind,
    /// `None`: a reference that is not bound.
    pub(super) object: Option<Object>,
}
