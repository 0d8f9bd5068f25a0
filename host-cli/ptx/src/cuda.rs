//! CUDA lines: where instructions came from, as `.file` and `.loc` say.
//!
//! Compilers write both with `-lineinfo` or `-G`. A `.loc` holds for the instructions behind it, up
//! to the next one or the end of the function. Source: PTX ISA 8.5, "Debugging Directives".

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::module::span::Span;

/// A file of a `.file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaFile {
    /// Its name as the PTX has it, often with folders; control characters are written as escapes.
    pub name: String,
    /// The name without folders, where no other file of the module has the same.
    pub short: String,
}

/// A place in a file of CUDA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaPlace {
    /// The file.
    pub file: Arc<CudaFile>,
    /// Line, from 1.
    pub line: u32,
}

impl CudaPlace {
    /// `kernel.cu:12`: [`CudaFile::short`] and the line.
    pub fn short(&self) -> String {
        format!("{}:{}", self.file.short, self.line)
    }
}

impl Display for CudaPlace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.name, self.line)
    }
}

/// From where on a place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// Unit: bytes from the start of the PTX.
    start: u32,
    /// Number of the file; after [`Builder::finish`] an index into [`CudaLines::files`].
    file: u32,
    /// 0 for no place.
    line: u32,
}

/// The CUDA places of a module's instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CudaLines {
    files: Vec<Arc<CudaFile>>,
    // Invariant: ascending starts; every mark with a line has a file.
    marks: Vec<Mark>,
}

impl CudaLines {
    /// The place that an instruction came from, of inlined code the place in the function that was
    /// inlined. None where no `.loc` holds, or one with line 0 or a number that no `.file` has.
    pub fn of(&self, instruction: Span) -> Option<CudaPlace> {
        let after = self.marks.partition_point(|mark| mark.start <= instruction.start);
        let mark = self.marks.get(after.checked_sub(1)?)?;
        let file = self.files.get(mark.file as usize).filter(|_| mark.line != 0)?;
        Some(CudaPlace { file: file.clone(), line: mark.line })
    }

    /// Whether no instruction has a place.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }
}

/// What the parser has read of it so far: files may be named behind the places in them.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    /// By their numbers, as written.
    files: BTreeMap<u32, String>,
    marks: Vec<Mark>,
}

impl Builder {
    /// `.file`; false where the number has another name already.
    pub(crate) fn file(&mut self, number: u32, name: &str) -> bool {
        self.files.entry(number).or_insert_with(|| name.to_owned()) == name
    }

    /// `.loc`, which ends at a byte of the text.
    pub(crate) fn place(&mut self, end: u32, file: u32, line: u32) {
        self.marks.push(Mark { start: end, file, line });
    }

    /// A function begins: what held before holds no more.
    pub(crate) fn function(&mut self, start: u32) {
        if self.marks.last().is_some_and(|last| last.line != 0) {
            self.place(start, 0, 0);
        }
    }

    /// Resolves the numbers of the files.
    pub(crate) fn finish(self) -> CudaLines {
        let Self { files, mut marks } = self;
        let indices: FxHashMap<u32, u32> = files.keys().copied().zip(0..).collect();
        for mark in &mut marks {
            let file = indices.get(&mark.file).filter(|_| mark.line != 0);
            (mark.file, mark.line) = file.map_or((0, 0), |&file| (file, mark.line));
        }
        marks.dedup_by_key(|mark| (mark.file, mark.line));
        if marks.iter().all(|mark| mark.line == 0) {
            return CudaLines::default();
        }
        CudaLines { files: named(files.into_values().collect()), marks }
    }
}

/// Files with their short names.
fn named(names: Vec<String>) -> Vec<Arc<CudaFile>> {
    let mut alike = FxHashMap::default();
    for name in &names {
        *alike.entry(without_folders(name).to_owned()).or_insert(0_u32) += 1;
    }
    let file = |name: String| {
        let short = without_folders(&name);
        let short = if alike.get(short) == Some(&1) { short } else { &name };
        Arc::new(CudaFile { short: escaped(short), name: escaped(&name) })
    };
    names.into_iter().map(file).collect()
}

/// The last part of a path; the path, where it has none.
fn without_folders(name: &str) -> &str {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    if last.is_empty() { name } else { last }
}

/// A name that a terminal shows as it is.
fn escaped(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}
