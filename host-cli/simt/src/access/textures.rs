//! Textures and surfaces: what their instructions do to a warp's registers and to memory.
//!
//! Lanes are carried out in ascending order, so that of several stores to one place the highest
//! lane's stays. Lanes may name different objects. What PTX leaves open of surfaces
//! is in DEV-133; no bytes that textures and surfaces move are recorded (DEV-134).

use super::Memory;
use super::lanewise::little;
use crate::arith::atomic::atomic;
use crate::device::Device;
use crate::micro::{
    Component, ImageQuery, SurfaceBounds, SurfaceOperation, TextureAccess, TextureOperation,
};
use crate::row::{Lanes, lanes, store_row};
use crate::texture::{
    Coordinates, Dimensions, Filter, Image, Object, ObjectKind, Reader, Sampler, TextureProblem,
};
use strata_ptx::types::ScalarType;

/// What stopped a lane.
pub(crate) type Stopped = (usize, TextureProblem);

impl Memory<'_> {
    /// Carries out a texture or surface instruction for the lanes of `mask`.
    pub(crate) fn texture(
        &mut self,
        file: &mut Lanes,
        access: &TextureAccess,
        mask: u32,
    ) -> Result<(), Stopped> {
        let handles = self.resolve(file, access.object);
        match access.operation {
            TextureOperation::Fetch { .. } | TextureOperation::Gather { .. } => {
                let samplers = access.sampler.map(|sampler| self.resolve(file, sampler));
                let mut rest = mask;
                // Lanes with the same objects together: nearly always all of them.
                while rest != 0 {
                    let first = rest.trailing_zeros() as usize;
                    let alike = |values: &[u64; 32]| {
                        let same = values.map(|value| value == values[first]);
                        same.iter().rev().fold(0, |mask, &same| mask << 1 | u32::from(same))
                    };
                    let group = rest & alike(&handles) & samplers.as_ref().map_or(u32::MAX, alike);
                    rest &= !group;
                    let sampler = samplers.map(|samplers| samplers[first]);
                    sample(self.device, file, access, (handles[first], sampler), group)
                        .map_err(|problem| (first, problem))?;
                }
                Ok(())
            }
            TextureOperation::Query(query, kind) => {
                for lane in lanes(mask) {
                    let answer = self.query(handles[lane], query, kind);
                    let answer = answer.map_err(|problem| (lane, problem))?;
                    fill(file, access.components[0], lane, u64::from(answer));
                }
                Ok(())
            }
            TextureOperation::IsKind(kind, predicate) => {
                let named = |lane: &usize| self.device.names_object(handles[*lane], kind);
                let found = lanes(mask).filter(named).fold(0, |found, lane| found | 1 << lane);
                file.set_predicate(predicate, found, mask);
                Ok(())
            }
            TextureOperation::Surface(operation, bounds) => {
                for lane in lanes(mask) {
                    self.surface(file, access, (handles[lane], lane), operation, bounds)
                        .map_err(|problem| (lane, problem))?;
                }
                Ok(())
            }
        }
    }

    fn query(
        &self,
        handle: u64,
        query: ImageQuery,
        kind: ObjectKind,
    ) -> Result<u32, TextureProblem> {
        let found = self.device.object(handle, kind)?;
        let Some(image) = found.object.image() else { return Ok(0) };
        let normalized = match found.object {
            Object::Texture(texture) => texture.sampler.normalized,
            Object::Surface(_) | Object::Sampler(_) | Object::SamplerOfTexture(_) => false,
        };
        let dimensions = image.dimensions;
        let (exists, answer, wanted) = match query {
            ImageQuery::Width => (true, image.width, "1d"),
            ImageQuery::Height => (dimensions.count() > 1, image.height, "2d"),
            ImageQuery::Depth => (dimensions.count() > 2, image.depth, "3d"),
            ImageQuery::ArraySize => (dimensions.layered(), image.depth, "layered"),
            ImageQuery::NormalizedCoordinates => (true, u32::from(normalized), "1d"),
        };
        if !exists {
            let (name, found) = (found.name.to_owned(), dimensions.name());
            return Err(TextureProblem::WrongDimensions { name, found, wanted });
        }
        Ok(answer)
    }

    fn surface(
        &mut self,
        file: &mut Lanes,
        access: &TextureAccess,
        (handle, lane): (u64, usize),
        operation: SurfaceOperation,
        bounds: SurfaceBounds,
    ) -> Result<(), TextureProblem> {
        let size = u64::from(operation.bytes(access.count));
        let at = access.coordinates.map(|row| file.get32(row, lane) as i32);
        let layer = file.get32(access.layer, lane) as i32;
        let place = place(self.device, access, handle, (at, layer), (size, bounds))?;
        let components = &access.components[..access.count as usize];
        let Some(address) = place else {
            if let SurfaceOperation::Load { .. } = operation {
                for &component in components {
                    fill(file, component, lane, 0);
                }
            }
            return Ok(());
        };
        let index = self.device.find(address);
        let buffer = index.and_then(|index| self.device.buffers.get_mut(index));
        let Some(buffer) = buffer else { return Ok(()) };
        let first = (address - buffer.start) as usize;
        let Some(bytes) = buffer.data.get_mut(first..first + size as usize) else {
            return Ok(());
        };
        let before = self.device.watch.is_armed().then(|| bytes.to_vec());
        match operation {
            SurfaceOperation::Load { bytes: each } => {
                for (&component, bytes) in components.iter().zip(bytes.chunks(each as usize)) {
                    fill(file, component, lane, little(bytes));
                }
            }
            SurfaceOperation::Store { bytes: each } => {
                for (&component, bytes) in components.iter().zip(bytes.chunks_mut(each as usize)) {
                    let value = value(file, component.row, each, lane);
                    bytes.copy_from_slice(&value.to_le_bytes()[..each as usize]);
                }
            }
            SurfaceOperation::Reduce { operation, ty } => {
                let operand = value(file, access.components[0].row, ty.bytes(), lane);
                let new = atomic(operation, ty, little(bytes), operand, 0, false);
                let new = new.unwrap_or_default().to_le_bytes();
                bytes.copy_from_slice(&new[..ty.bytes() as usize]);
            }
        }
        if before.is_some_and(|before| before != bytes) {
            self.device.watch.change();
        }
        Ok(())
    }
}

/// Writes a lane of a register, zero-extended to its rows.
fn fill(file: &mut Lanes, component: Component, lane: usize, value: u64) {
    file.put32(component.row, lane, value as u32);
    for row in 1..u32::from(component.rows) {
        let upper = if row == 1 { (value >> 32) as u32 } else { 0 };
        file.put32(component.row + row, lane, upper);
    }
}

fn value(file: &Lanes, row: u32, bytes: u32, lane: usize) -> u64 {
    if bytes == 8 { file.get64(row, lane) } else { u64::from(file.get32(row, lane)) }
}

/// Fetches or gathers for lanes that name the same objects.
fn sample(
    device: &Device,
    file: &mut Lanes,
    access: &TextureAccess,
    (handle, sampler): (u64, Option<u64>),
    group: u32,
) -> Result<(), TextureProblem> {
    let found = device.object(handle, ObjectKind::Texture)?;
    let Object::Texture(texture) = found.object else { return Ok(()) };
    let (name, image) = (found.name, texture.image);
    let sampler = match sampler {
        None => texture.sampler,
        Some(handle) => match device.object(handle, ObjectKind::Sampler)?.object {
            Object::Sampler(sampler) => sampler,
            Object::SamplerOfTexture(sampler) => {
                Sampler { normalized: texture.sampler.normalized, ..sampler }
            }
            Object::Texture(_) | Object::Surface(_) => texture.sampler,
        },
    };
    check(name, access, &image, sampler)?;
    let reader = Reader::new(device.texels(name, &image)?, image, sampler);
    let coordinates = access.coordinates.map(|row| file.rows[row as usize].0);
    let layers = file.rows[access.layer as usize].0;
    let mut results = [[0; 32]; 4];
    for lane in lanes(group) {
        // Of a layered image z is the layer.
        let layer = if image.dimensions.layered() { layers[lane] } else { 0 };
        let at = [0, 1, 2].map(|dimension: usize| coordinates[dimension][lane]);
        let places = at.map(f32::from_bits);
        let values = match access.operation {
            TextureOperation::Gather { channel, .. } => reader.gather(places, (channel, layer)),
            TextureOperation::Fetch { places: true, .. } => {
                reader.fetch(Coordinates::Places(places), layer)
            }
            _ => reader.fetch(Coordinates::Texels(at.map(|index| index as i32)), layer),
        };
        for (result, value) in results.iter_mut().zip(values) {
            result[lane] = value;
        }
    }
    for (component, result) in access.components.iter().zip(&results) {
        store_row(&mut file.rows[component.row as usize], result, group);
        for upper in 1..u32::from(component.rows) {
            store_row(&mut file.rows[(component.row + upper) as usize], &[0; 32], group);
        }
    }
    Ok(())
}

/// Whether an instruction suits a texture.
fn check(
    name: &str,
    access: &TextureAccess,
    image: &Image,
    sampler: Sampler,
) -> Result<(), TextureProblem> {
    let (ty, places) = match access.operation {
        TextureOperation::Fetch { ty, places } => (ty, places),
        TextureOperation::Gather { ty, .. } => (ty, true),
        _ => return Ok(()),
    };
    suits(name, access.dimensions, image, !places)?;
    let floats = image.format.channel.reads_floats();
    if floats != (ty == ScalarType::F32) {
        let (name, format, ty) = (name.to_owned(), image.format, ty.name());
        return Err(TextureProblem::WrongType { name, format, ty });
    }
    let fetch = matches!(access.operation, TextureOperation::Fetch { .. });
    if places && fetch && sampler.filter == Filter::Linear && !floats {
        return Err(TextureProblem::NotFiltered { name: name.to_owned(), format: image.format });
    }
    Ok(())
}

/// Whether an image has the dimensions that an instruction names.
fn suits(
    name: &str,
    wanted: Dimensions,
    image: &Image,
    linear: bool,
) -> Result<(), TextureProblem> {
    let found = image.dimensions;
    let buffer = linear && found == Dimensions::Linear && wanted == Dimensions::One;
    if found == wanted || buffer {
        return Ok(());
    }
    let (found, wanted) = (found.name(), wanted.name());
    Err(TextureProblem::WrongDimensions { name: name.to_owned(), found, wanted })
}

/// The address that a lane's surface access goes to; `None`: outside, and nothing happens.
fn place(
    device: &Device,
    access: &TextureAccess,
    handle: u64,
    ([x, y, z], layer): ([i32; 3], i32),
    (size, bounds): (u64, SurfaceBounds),
) -> Result<Option<u64>, TextureProblem> {
    let found = device.object(handle, ObjectKind::Surface)?;
    let Object::Surface(image) = found.object else { return Ok(None) };
    suits(found.name, access.dimensions, &image, true)?;
    let name = || found.name.to_owned();
    device.texels(found.name, &image)?;
    let writes =
        !matches!(access.operation, TextureOperation::Surface(SurfaceOperation::Load { .. }, _));
    if writes && !device.writable(&image) {
        return Err(TextureProblem::ReadOnly { name: name() });
    }
    let z = if image.dimensions.layered() { layer } else { z };
    let y = if image.dimensions.count() > 1 { y } else { 0 };
    let z = if image.dimensions.count() > 2 || image.dimensions.layered() { z } else { 0 };
    let last = image.row_bytes().checked_sub(size).map(|last| last - last % size);
    let Some(last) = last else {
        return Err(TextureProblem::Misaligned { name: name(), x: x.into(), size });
    };
    let inside = (0..=last as i64).contains(&x.into())
        && (0..i64::from(image.height)).contains(&y.into())
        && (0..i64::from(image.depth)).contains(&z.into());
    let (x, y, z) = match bounds {
        _ if inside => (x.into(), y.into(), z.into()),
        SurfaceBounds::Trap => return Err(TextureProblem::Outside { name: name(), x, y, z }),
        SurfaceBounds::Zero => return Ok(None),
        SurfaceBounds::Clamp => (
            i64::from(x).clamp(0, last as i64),
            i64::from(y).clamp(0, i64::from(image.height) - 1),
            i64::from(z).clamp(0, i64::from(image.depth) - 1),
        ),
    };
    if !(x as u64).is_multiple_of(size) {
        return Err(TextureProblem::Misaligned { name: name(), x, size });
    }
    let row = z as u64 * u64::from(image.height) + y as u64;
    Ok(Some(image.address + row * image.pitch + x as u64))
}
