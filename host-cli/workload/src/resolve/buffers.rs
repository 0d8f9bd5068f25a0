//! Buffers: how many elements they have, and where they lie.

use strata_ptx::module::{StateSpace, Variable};
use toml::Spanned;

use super::super::array_file::{Array, ArrayFile, Column, Format};
use super::super::buffer::{BufferPlan, Contents};
use super::super::document::{self, FileSource, Formula, Generator};
use super::super::element::ElementType;
use super::super::error::Problem;
use super::super::source::Place;
use super::{Failed, MAX_BUFFER_BYTES, Resolver, Result, list};

/// More elements than any buffer has; of any type less than 2^64 bytes.
const MOST_ELEMENTS: u64 = 1 << 60;

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

/// What says how many elements a buffer has.
struct Sides<'a> {
    /// Elements of the variable that it is.
    whole: Option<u64>,
    stated: Option<Stated>,
    /// The array that fills it.
    array: Option<&'a Array>,
    generator: Option<&'a (&'a Generator, Place)>,
}

/// The number of elements of a shape.
fn elements(shape: &[u64]) -> u64 {
    shape.iter().fold(1_u64, |all, &side| all.saturating_mul(side))
}

/// Whether a key is one of the buffer with the key `buffer`, and not the name or a part of the
/// generator.
fn changes_size(key: &str, buffer: &str) -> bool {
    let field = key.strip_prefix(buffer);
    field.is_some_and(|field| {
        field.is_empty()
            || field.starts_with('.') && !field.starts_with(".generator.") && field != ".name"
    })
}

/// In the place of a buffer that is wrong, so that its name is known: no place in it is refused.
fn stand_in(buffer: &document::Buffer) -> BufferPlan {
    let (name, element, count) = (buffer.name.get_ref().clone(), buffer.element, MOST_ELEMENTS);
    BufferPlan {
        name,
        element,
        count,
        shape: vec![count],
        variable: None,
        contents: Contents::Zero,
    }
}

impl Resolver<'_> {
    pub(super) fn buffers(&mut self, buffers: &[Spanned<document::Buffer>]) {
        let mut total = 0_u64;
        for (index, buffer) in buffers.iter().enumerate() {
            let key = format!("buffer[{index}]");
            let place = self.source.place(buffer.span(), key.as_str());
            let buffer = buffer.get_ref();
            self.keep(self.first_of_its_name(buffer, &key));
            let planned = self.keep(self.planned(buffer, &key, &place, MAX_BUFFER_BYTES - total));
            let planned = planned.filter(|_| !self.changed.iter().any(|of| changes_size(of, &key)));
            if let Some(planned) = &planned {
                total += planned.bytes();
            } else {
                self.unknown.push(index);
            }
            self.plan.buffers.push(planned.unwrap_or_else(|| stand_in(buffer)));
        }
        for (index, buffer) in buffers.iter().enumerate() {
            let Some(generator) = &buffer.get_ref().generator else { continue };
            if let Generator::Addresses(targets) = generator.get_ref() {
                let key = format!("buffer[{index}].generator");
                let place = self.source.place(generator.span(), key);
                let contents = self.keep(self.addresses(targets, index, &place));
                self.plan.buffers[index].contents = contents.unwrap_or(Contents::Zero);
            }
        }
    }

    /// Refuses a name that an earlier buffer has.
    fn first_of_its_name(&self, buffer: &document::Buffer, key: &str) -> Result<()> {
        let name = buffer.name.get_ref();
        if self.plan.buffer(name).is_none() {
            return Ok(());
        }
        let place = self.source.place(buffer.name.span(), format!("{key}.name"));
        let (what, name) = ("buffer", name.clone());
        Err(place.mistake(Problem::Duplicate { what, name }))
    }

    /// One buffer of at most `limit` bytes.
    fn planned(
        &self,
        buffer: &document::Buffer,
        key: &str,
        place: &Place,
        limit: u64,
    ) -> Result<BufferPlan> {
        let document::Buffer { element, ref generator, ref variable, .. } = *buffer;
        let generator = generator.as_ref().map(|generator| {
            let place = self.source.place(generator.span(), format!("{key}.generator"));
            (generator.get_ref(), place)
        });
        let whole = variable.as_ref().map(|variable| {
            let place = self.source.place(variable.span(), format!("{key}.variable"));
            self.variable(variable.get_ref(), element, &place)
        });
        let whole = self.keep(whole.transpose());
        let stated = self.keep(self.stated(buffer, key, place));
        let read = generator.as_ref().and_then(|(generator, place)| match generator {
            Generator::File(file) => Some(self.array(file, element, limit, place)),
            _ => None,
        });
        let read = self.keep(read.transpose());
        let shape = match (whole, stated, &read) {
            (Some(whole), Some(stated), Some(read)) => {
                let array = read.as_ref();
                let sides = Sides { whole, stated, array, generator: generator.as_ref() };
                self.keep(self.shape(sides, element, limit, place))
            }
            _ => None,
        };
        let contents = match (read.flatten(), &generator) {
            (Some(array), _) => Ok(Contents::Bytes(array.bytes.into())),
            // What is wrong with the file has been kept.
            (None, Some((Generator::File(_), _))) => Err(Failed::Follows),
            (None, Some((generator, place))) => {
                let count = shape.as_deref().map(elements);
                self.contents(generator, element, count, place)
            }
            (None, None) if variable.is_some() => Ok(Contents::Kept),
            (None, None) => {
                let (field, what, instead) = ("generator", "buffer", "`variable`");
                Err(place.mistake(Problem::Missing { field, what, instead }))
            }
        };
        let (contents, shape) = (contents?, shape.ok_or(Failed::Follows)?);
        let variable = variable.as_ref().map(|variable| variable.get_ref().clone());
        let (name, count) = (buffer.name.get_ref().clone(), elements(&shape));
        Ok(BufferPlan { name, element, count, shape, variable, contents })
    }

    /// The sides of a buffer of at most `limit` bytes.
    fn shape(
        &self,
        sides: Sides<'_>,
        element: ElementType,
        limit: u64,
        place: &Place,
    ) -> Result<Vec<u64>> {
        let Sides { whole, stated, array, generator } = sides;
        let shape = match (array, generator, stated, whole) {
            (Some(array), Some((Generator::File(file), place)), stated, _) => {
                fitting(array, stated, &file.0.path, place)?
            }
            (_, _, Some(stated), _) => stated.shape(),
            (_, _, None, Some(whole)) => vec![whole],
            (_, Some((Generator::Addresses(targets), _)), None, None) if !targets.is_empty() => {
                vec![targets.len() as u64]
            }
            (_, _, None, None) => {
                let (field, what) = ("count", "buffer");
                let instead = "`shape`, `variable` or a file";
                return Err(place.mistake(Problem::Missing { field, what, instead }));
            }
        };
        let count = elements(&shape);
        if count.saturating_mul(element.bytes()) > limit {
            return Err(self.too_much_memory(place));
        }
        let most = whole.unwrap_or(u64::MAX);
        if count == 0 || count > most {
            let (what, value) = ("the number of elements", i64::try_from(count));
            let (value, high) = (value.unwrap_or(i64::MAX), i64::try_from(most));
            let high = high.unwrap_or(i64::MAX);
            return Err(place.mistake(Problem::OutOfRange { what, value, low: 1, high }));
        }
        Ok(shape)
    }

    /// Said once, of the first buffer for which no memory is left.
    fn too_much_memory(&self, place: &Place) -> Failed {
        let problem = Problem::TooMuchMemory { limit: MAX_BUFFER_BYTES };
        if self.mistakes.borrow().iter().any(|mistake| mistake.problem == problem) {
            return Failed::Follows;
        }
        place.mistake(problem)
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
                    return Err(place.mistake(Problem::EmptyList));
                }
                let side = |Formula(side): &Formula| {
                    let value = self.evaluate(side, &place)?;
                    let (what, low, high) = ("a side", 1, i64::MAX);
                    let problem = Problem::OutOfRange { what, value, low, high };
                    if value < low { Err(place.mistake(problem)) } else { Ok(value as u64) }
                };
                Ok(Some(Stated::Shape(self.keep_all(shape.iter().map(side))?)))
            }
            (Some(_), Some(_)) => {
                let fields = "`count`, `shape`";
                Err(place.mistake(Problem::ExactlyOne { fields, found: 2 }))
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
            return Err(place.mistake(Problem::UnknownName { what, name, known }));
        };
        if self.plan.buffers.iter().any(|buffer| buffer.variable.as_deref() == Some(name)) {
            let (what, name) = ("a buffer for variable", name.to_owned());
            return Err(place.mistake(Problem::Duplicate { what, name }));
        }
        let (size, element, each) = (variable.size, element.name(), element.bytes());
        if size.is_multiple_of(each) {
            Ok(size / each)
        } else {
            let name = name.to_owned();
            Err(place.mistake(Problem::VariableSize { name, size, element }))
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
        let array = self.array_file(source, place)?.read(element, limit);
        array.map_err(|error| place.mistake(Problem::of_file(&error)))
    }

    /// The file of an array, which need not be there.
    pub(super) fn array_file(&self, source: &FileSource, place: &Place) -> Result<ArrayFile> {
        let Some(folder) = self.source.folder else { return Err(place.mistake(Problem::NoFolder)) };
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
            return Err(place.mistake(Problem::UnknownName { what, name, known }));
        };
        for (field, given, of) in [
            ("member", table.member.is_some(), Format::Npz),
            ("column", table.column.is_some(), Format::Csv),
            ("header", table.header, Format::Csv),
        ] {
            if given && format != of {
                let (of, format) = (of.name(), format.name());
                return Err(place.mistake(Problem::FieldOfFormat { field, of, format }));
            }
        }
        let column = table.column.as_ref().map(|column| match column {
            document::Column::Name(name) => Column::Name(name.clone()),
            document::Column::Index(index) => Column::Index(*index as usize),
        });
        let (member, header) = (table.member.clone(), table.header);
        Ok(ArrayFile { path, format, member, column, header })
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
    Err(place.mistake(Problem::FileShape { path, found, expected }))
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
