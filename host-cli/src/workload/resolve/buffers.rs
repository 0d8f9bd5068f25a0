//! Buffers: how many elements they have, and where they lie.

use strata_ptx::module::{StateSpace, Variable};
use toml::Spanned;

use super::super::array_file::{Array, ArrayFile, Column, Format};
use super::super::buffer::{BufferPlan, Contents};
use super::super::document::{self, FileSource, Formula, Generator};
use super::super::element::ElementType;
use super::super::error::Problem;
use super::super::plan::Place;
use super::{MAX_BUFFER_BYTES, Resolver, Result, list};

/// Sides of a buffer that the launch file states.
enum Stated {
    /// A number of elements.
    Count(u64),
    /// Every side.
    Shape(Vec<u64>),
}

impl Stated {
    fn shape(self) -> Vec<u64> {
        match self {
            Self::Count(count) => vec![count],
            Self::Shape(shape) => shape,
        }
    }
}

impl Resolver<'_> {
    pub(super) fn buffers(&mut self, buffers: &[Spanned<document::Buffer>]) -> Result<()> {
        let mut total = 0_u64;
        for (index, buffer) in buffers.iter().enumerate() {
            let key = format!("buffer[{index}]");
            let place = self.source.place(buffer.span(), key.as_str());
            let buffer = buffer.get_ref();
            let name = buffer.name.get_ref();
            if self.plan.buffer(name).is_some() {
                let place = self.source.place(buffer.name.span(), format!("{key}.name"));
                let (what, name) = ("buffer", name.clone());
                return Err(place.error(Problem::Duplicate { what, name }));
            }
            let planned = self.planned(buffer, &key, &place, MAX_BUFFER_BYTES - total)?;
            total += planned.bytes();
            self.plan.buffers.push(planned);
        }
        for (index, buffer) in buffers.iter().enumerate() {
            let Some(generator) = &buffer.get_ref().generator else { continue };
            if let Generator::Addresses(targets) = generator.get_ref() {
                let key = format!("buffer[{index}].generator");
                let place = self.source.place(generator.span(), key);
                let BufferPlan { element, count, .. } = self.plan.buffers[index];
                let contents = self.addresses(targets, element, count, &place)?;
                self.plan.buffers[index].contents = contents;
            }
        }
        Ok(())
    }

    /// One buffer of at most `limit` bytes.
    fn planned(
        &self,
        buffer: &document::Buffer,
        key: &str,
        place: &Place,
        limit: u64,
    ) -> Result<BufferPlan> {
        let element = buffer.element;
        let (name, generator) = (buffer.name.get_ref().clone(), buffer.generator.as_ref());
        let whole = buffer.variable.as_ref().map(|variable| {
            let place = self.source.place(variable.span(), format!("{key}.variable"));
            self.variable(variable.get_ref(), element, &place)
        });
        let whole = whole.transpose()?;
        let variable = buffer.variable.as_ref().map(|variable| variable.get_ref().clone());
        let stated = self.stated(buffer, key, place)?;
        let at = |generator: &Spanned<Generator>| {
            self.source.place(generator.span(), format!("{key}.generator"))
        };
        let file = generator.and_then(|generator| match generator.get_ref() {
            Generator::File(file) => Some((file, at(generator))),
            _ => None,
        });
        let listed = generator.and_then(|generator| match generator.get_ref() {
            Generator::Addresses(targets) => Some(targets.len() as u64),
            _ => None,
        });
        let (shape, read) = match (file, stated, whole) {
            (Some((file, place)), stated, _) => {
                let array = self.array(file, element, limit, &place)?;
                let shape = fitting(&array, stated, &file.0.path, &place)?;
                (shape, Some(Contents::Bytes(array.bytes.into())))
            }
            (None, Some(stated), _) => (stated.shape(), None),
            (None, None, Some(whole)) => (vec![whole], None),
            (None, None, None) if listed.is_some_and(|listed| listed > 0) => {
                (vec![listed.unwrap_or(0)], None)
            }
            (None, None, None) => {
                let (field, what) = ("count", "buffer");
                let instead = "`shape`, `variable` or a file";
                return Err(place.error(Problem::Missing { field, what, instead }));
            }
        };
        let count = shape.iter().fold(1_u64, |all, &side| all.saturating_mul(side));
        if count.saturating_mul(element.bytes()) > limit {
            return Err(place.error(Problem::TooMuchMemory { limit: MAX_BUFFER_BYTES }));
        }
        let most = whole.unwrap_or(u64::MAX);
        if count == 0 || count > most {
            let (what, value) = ("the number of elements", i64::try_from(count));
            let (value, high) = (value.unwrap_or(i64::MAX), i64::try_from(most));
            let high = high.unwrap_or(i64::MAX);
            return Err(place.error(Problem::OutOfRange { what, value, low: 1, high }));
        }
        let contents = match (read, generator) {
            (Some(read), _) => read,
            (None, Some(generator)) => {
                self.contents(generator.get_ref(), element, count, &at(generator))?
            }
            (None, None) if variable.is_some() => Contents::Kept,
            (None, None) => {
                let (field, what, instead) = ("generator", "buffer", "`variable`");
                return Err(place.error(Problem::Missing { field, what, instead }));
            }
        };
        Ok(BufferPlan { name, element, count, shape, variable, contents })
    }

    /// The sides that the launch file states.
    fn stated(
        &self,
        buffer: &document::Buffer,
        key: &str,
        place: &Place,
    ) -> Result<Option<Stated>> {
        let what = "the number of elements";
        match (&buffer.count, &buffer.shape) {
            (None, None) => Ok(None),
            (Some(count), None) => {
                let count = self.bounded(count, format!("{key}.count"), what, (1, i64::MAX))?;
                Ok(Some(Stated::Count(count as u64)))
            }
            (None, Some(shape)) => {
                let place = self.source.place(shape.span(), format!("{key}.shape"));
                let shape = shape.get_ref();
                if shape.is_empty() {
                    return Err(place.error(Problem::EmptyList));
                }
                let side = |Formula(side): &Formula| {
                    let value = self.evaluate(side, &place)?;
                    let (what, low, high) = ("a side", 1, i64::MAX);
                    let problem = Problem::OutOfRange { what, value, low, high };
                    if value < low { Err(place.error(problem)) } else { Ok(value as u64) }
                };
                let sides = shape.iter().map(side).collect::<Result<_>>()?;
                Ok(Some(Stated::Shape(sides)))
            }
            (Some(_), Some(_)) => {
                let fields = "`count`, `shape`";
                Err(place.error(Problem::ExactlyOne { fields, found: 2 }))
            }
        }
    }

    /// How many elements a variable of the module has.
    fn variable(&self, name: &str, element: ElementType, place: &Place) -> Result<u64> {
        let in_memory = |variable: &&Variable| {
            matches!(variable.space, StateSpace::Global | StateSpace::Const) && variable.size != 0
        };
        let variables = || self.module.variables.iter().filter(in_memory);
        let Some(variable) = variables().find(|variable| variable.name == name) else {
            let known = list(variables().map(|variable| variable.name.as_str()));
            let (what, name) = ("variable in global or constant memory", name.to_owned());
            return Err(place.error(Problem::UnknownName { what, name, known }));
        };
        if self.plan.buffers.iter().any(|buffer| buffer.variable.as_deref() == Some(name)) {
            let (what, name) = ("a buffer for variable", name.to_owned());
            return Err(place.error(Problem::Duplicate { what, name }));
        }
        let (size, element, each) = (variable.size, element.name(), element.bytes());
        if size.is_multiple_of(each) {
            Ok(size / each)
        } else {
            let name = name.to_owned();
            Err(place.error(Problem::VariableSize { name, size, element }))
        }
    }

    /// The array of at most `limit` bytes in a file.
    pub(super) fn array(
        &self,
        source: &FileSource,
        element: ElementType,
        limit: u64,
        place: &Place,
    ) -> Result<Array> {
        let Some(folder) = self.source.folder else { return Err(place.error(Problem::NoFolder)) };
        let table = &source.0;
        let path = folder.join(&table.path);
        let format = match &table.format {
            None => Format::of_path(&path),
            Some(name) => Format::ALL.into_iter().find(|format| format.name() == name),
        };
        let Some(format) = format else {
            let known = list(Format::ALL.into_iter().map(Format::name));
            let (what, name) = ("format of files", table.format.clone());
            let name = name.unwrap_or_else(|| table.path.clone());
            return Err(place.error(Problem::UnknownName { what, name, known }));
        };
        for (field, given, of) in [
            ("member", table.member.is_some(), Format::Npz),
            ("column", table.column.is_some(), Format::Csv),
            ("header", table.header, Format::Csv),
        ] {
            if given && format != of {
                let (of, format) = (of.name(), format.name());
                return Err(place.error(Problem::FieldOfFormat { field, of, format }));
            }
        }
        let column = table.column.as_ref().map(|column| match column {
            document::Column::Name(name) => Column::Name(name.clone()),
            document::Column::Index(index) => Column::Index(*index as usize),
        });
        let (member, header) = (table.member.clone(), table.header);
        let file = ArrayFile { path, format, member, column, header };
        file.read(element, limit).map_err(|error| place.error(Problem::of_file(&error)))
    }
}

/// The sides of a buffer that a file fills: the stated ones, or the file's. Where one of them has a
/// single side, the number of elements must agree, otherwise every side.
fn fitting(array: &Array, stated: Option<Stated>, path: &str, place: &Place) -> Result<Vec<u64>> {
    let found = if array.shape.is_empty() { vec![1] } else { array.shape.clone() };
    let Some(stated) = stated else { return Ok(found) };
    let keeps = matches!(stated, Stated::Count(_));
    let stated = stated.shape();
    if same_elements(&found, &stated) {
        return Ok(if keeps { found } else { stated });
    }
    let (path, found, expected) = (path.to_owned(), in_words(&found), in_words(&stated));
    Err(place.error(Problem::FileShape { path, found, expected }))
}

/// Whether two shapes have the same elements in the same order.
pub(super) fn same_elements(one: &[u64], two: &[u64]) -> bool {
    let count = |shape: &[u64]| shape.iter().try_fold(1_u64, |all, &side| all.checked_mul(side));
    let linear = one.len() == 1 || two.len() == 1;
    one == two || linear && count(one).is_some() && count(one) == count(two)
}

/// A shape as NumPy writes it, without its brackets.
pub(super) fn in_words(shape: &[u64]) -> String {
    let sides: Vec<_> = shape.iter().map(u64::to_string).collect();
    sides.join(" x ")
}
