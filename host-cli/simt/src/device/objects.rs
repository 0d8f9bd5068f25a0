//! Textures, surfaces and samplers of a device: handles, and references of modules.

use super::named::Named;
use super::{Device, ModuleHandle};
use crate::texture::{Image, Object, ObjectKind, TextureError, TextureProblem};
use strata_ptx::module::{Module, Variable};

/// Handles of objects begin here: below every address of memory, so that a load from one faults.
const FIRST_HANDLE: u64 = 0x7d00_0000_0000;

/// From one handle to the next.
const HANDLE_STEP: u64 = 64;

/// An object that a lane has named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'d> {
    pub(crate) name: &'d str,
    pub(crate) object: Object,
}

impl Device {
    /// Makes an object and returns its handle, which kernels take in a parameter of 64 bits. The
    /// name appears in messages.
    ///
    /// # Errors
    /// When the description is wrong ([`Object::check`]) or its texels lie in no buffer.
    pub fn create_object(&mut self, name: &str, object: Object) -> Result<u64, TextureError> {
        self.check_object(name, &object)?;
        let handle = FIRST_HANDLE + HANDLE_STEP * self.handles;
        self.handles += 1;
        let named = Named { name: name.to_owned(), kind: object.kind(), object: Some(object) };
        self.objects.insert(handle, named);
        Ok(handle)
    }

    /// Binds a module's `.texref`, `.surfref` or `.samplerref`, by name; a later binding replaces
    /// an earlier one. Of an array of references the first is bound.
    ///
    /// # Errors
    /// When the module has no such reference of the object's kind, or as
    /// [`Device::create_object`].
    pub fn bind_reference(
        &mut self,
        handle: ModuleHandle,
        module: &Module,
        name: &str,
        object: Object,
    ) -> Result<(), TextureError> {
        self.check_object(name, &object)?;
        let address = self.variable(handle, module, name);
        match address.and_then(|address| self.objects.get_mut(&address)) {
            Some(named) if named.kind == object.kind() => {
                named.object = Some(object);
                Ok(())
            }
            _ => Err(TextureError::NoReference { name: name.to_owned(), kind: object.kind() }),
        }
    }

    fn check_object(&self, name: &str, object: &Object) -> Result<(), TextureError> {
        object.check(name)?;
        let Some(image) = object.image() else { return Ok(()) };
        let bytes = image.bytes().and_then(|bytes| self.read(image.address, bytes).ok());
        bytes.map(|_| ()).ok_or_else(|| TextureError::Memory { name: name.to_owned() })
    }

    /// Notes the references of a variable that has been placed: their addresses name them. Samplers
    /// are what the module initialises them with until something is bound to them.
    pub(super) fn declare_references(&mut self, variable: &Variable, address: u64) {
        let Some(kind) = ObjectKind::of(variable.ty) else { return };
        let each = u64::from(variable.ty.bytes()).max(1);
        for index in 0..variable.size / each {
            let name = match (index, variable.dimensions.is_empty()) {
                (_, true) => variable.name.clone(),
                (index, false) => format!("{}[{index}]", variable.name),
            };
            let initial = variable.initial.as_ref();
            let sampler = initial.and_then(|initial| initial.samplers.get(index as usize));
            let object = sampler.map(Object::initial);
            self.objects.insert(address + each * index, Named { name, kind, object });
        }
    }

    /// Whether a value names an object of a kind, bound or not.
    pub(crate) fn names_object(&self, handle: u64, kind: ObjectKind) -> bool {
        self.objects.get(&handle).is_some_and(|named| named.kind == kind)
    }

    /// The object that a handle or the address of a reference names.
    pub(crate) fn object(
        &self,
        handle: u64,
        wanted: ObjectKind,
    ) -> Result<Found<'_>, TextureProblem> {
        let Some(named) = self.objects.get(&handle) else {
            return Err(TextureProblem::NoObject { handle, wanted });
        };
        let name = named.name.as_str();
        match named.object {
            _ if named.kind != wanted => {
                let (name, found) = (name.to_owned(), named.kind);
                Err(TextureProblem::WrongKind { name, found, wanted })
            }
            None => Err(TextureProblem::NotBound { name: name.to_owned(), wanted }),
            Some(object) => Ok(Found { name, object }),
        }
    }

    /// The texels of an image, from its address on.
    pub(crate) fn texels(&self, name: &str, image: &Image) -> Result<&[u8], TextureProblem> {
        let bytes = image.bytes().and_then(|bytes| self.read(image.address, bytes).ok());
        bytes.ok_or_else(|| TextureProblem::NoMemory { name: name.to_owned() })
    }

    /// Whether kernels may write an image.
    pub(crate) fn writable(&self, image: &Image) -> bool {
        self.search(image.address).is_some_and(|index| self.buffers[index].writable)
    }
}
