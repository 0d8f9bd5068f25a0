//! Points: what a definition means, each point with its key.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use rayon::prelude::*;
use strata_core::MODEL_VERSION;

use super::axes::{drawn, grid};
use super::definition::{DEFAULT_DESIGN, Definition, How};
use super::key::{Digest, Key};
use super::row::{Labels, Row};
use super::store::List;
use super::{SCHEMA, row};
use strata_config::ConfigError;
use strata_design::{self as design, Design};
use strata_files::failure::Failure;
use strata_measure::Request;
use strata_measure::notes::Notes;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::report::RunReport;
use strata_measure::subject::{self, Subject};

/// Most points of a sweep.
const MOST_POINTS: usize = 10_000_000;

/// An input of a sweep.
#[derive(Debug)]
pub struct Input {
    /// What is executed or read.
    pub subject: Subject,
    /// How.
    pub request: Request,
    /// The parameters that replace the size's, as they are typed.
    pub set: String,
    digest: Key,
}

/// A design of a sweep.
#[derive(Debug)]
pub struct DesignPoint {
    /// The design as a command line names it.
    pub argument: String,
    /// The keys that are varied, with their values.
    pub given: Vec<(String, String)>,
    /// The design, or why there is none.
    pub design: Result<Design, String>,
    digest: Key,
}

/// Every point of a sweep: each input under each design, the inputs one after the other.
#[derive(Debug)]
pub struct Points {
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The designs.
    pub designs: Vec<DesignPoint>,
    /// What is simulated.
    pub mode: Mode,
    scale: &'static str,
    axes: Vec<String>,
    keys: Vec<Key>,
}

impl Points {
    /// Lists the points of a definition. Nothing is executed.
    ///
    /// # Errors
    /// When an input does not exist, an axis names a key that no design file has or only values
    /// that no design can take, every design is impossible, or there are too many points.
    pub fn new(definition: &Definition, notes: &dyn Notes) -> Result<Self, Failure> {
        Self::of(definition, arguments(definition)?, None, notes)
    }

    /// Lists the points of one input, by its place among those of the definition, under designs
    /// that are given, instead of those of the definition.
    ///
    /// # Errors
    /// When there is no such input, an input cannot be loaded, every design is impossible, or there
    /// are too many points.
    pub fn of_input(
        definition: &Definition,
        input: usize,
        designs: &[String],
        notes: &dyn Notes,
    ) -> Result<Self, Failure> {
        let arguments = designs.iter().map(|design| (design.clone(), Vec::new())).collect();
        Self::of(definition, arguments, Some(input), notes)
    }

    fn of(
        definition: &Definition,
        arguments: Vec<Argument>,
        only: Option<usize>,
        notes: &dyn Notes,
    ) -> Result<Self, Failure> {
        let mode = definition.how.mode.unwrap_or(Mode::Count);
        let designs: Vec<_> = arguments.into_par_iter().map(DesignPoint::new).collect();
        let designs = designs.into_iter().collect::<Result<Vec<_>, _>>()?;
        if let [DesignPoint { design: Err(error), .. }, ..] = designs.as_slice()
            && designs.iter().all(|of| of.design.is_err())
        {
            return Err(Failure::input(error.clone()));
        }
        let inputs = inputs(definition, (mode, &designs), only, notes)?;
        if inputs.len().saturating_mul(designs.len()) > MOST_POINTS {
            let message = format!(
                "{} inputs under {} designs are more than {MOST_POINTS} points",
                inputs.len(),
                designs.len()
            );
            return Err(Failure::input(message).hint("divide them between several sweeps"));
        }
        let pairs = inputs.iter().flat_map(|input| designs.iter().map(move |of| (input, of)));
        let keys: Vec<_> =
            pairs.map(|(input, design)| key(input.digest, design.digest, mode)).collect();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Failure::input("a point of the sweep comes twice")
                .hint("name each input and each design once"));
        }
        let drawn = definition.random.iter().flat_map(|random| &random.vary);
        let mut axes: Vec<_> =
            definition.vary.iter().chain(drawn).map(|axis| axis.key.clone()).collect();
        axes.sort_unstable();
        let several = |several: bool, name: &str| several.then(|| name.to_owned());
        let sets = !definition.set.is_empty();
        let others = [
            several(definition.designs.len() > 1, "design"),
            several(sets, "set"),
            several(true, "workload"),
        ];
        others.into_iter().flatten().for_each(|label| axes.insert(0, label));
        let scale = definition.how.scale.unwrap_or(Scale::Default).name();
        Ok(Self { inputs, designs, mode, scale, axes, keys })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key of a design's point of an input.
    pub fn key(&self, input: usize, design: usize) -> Key {
        self.keys[self.place(input, design)]
    }

    /// The keys of all, in order.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.keys.iter().copied()
    }

    /// Its place among all.
    pub const fn place(&self, input: usize, design: usize) -> usize {
        input * self.designs.len() + design
    }

    /// What its row says it is of.
    pub fn labels(&self, input: usize, design: usize) -> Labels<'_> {
        let Input { subject, set, .. } = &self.inputs[input];
        let of = &self.designs[design];
        Labels {
            key: self.key(input, design),
            workload: subject.name(),
            scale: if matches!(subject, Subject::Trace(_)) { "" } else { self.scale },
            set,
            design: of.design.as_ref().map_or(&of.argument, |design| &design.name),
            mode: self.mode.name(),
        }
    }

    /// The list of them that their folder has.
    pub fn list(&self) -> List {
        debug_assert!(self.axes.iter().all(|axis| row::place(axis).is_some()));
        List {
            schema: SCHEMA.to_owned(),
            model: MODEL_VERSION,
            axes: self.axes.clone(),
            points: self.keys.iter().map(ToString::to_string).collect(),
        }
    }
}

/// A design as a command line names it, and the keys that are varied.
type Argument = (String, Vec<(String, String)>);

/// The designs of a definition, in order.
fn arguments(definition: &Definition) -> Result<Vec<Argument>, Failure> {
    let default = [DEFAULT_DESIGN.to_owned()];
    let bases = match definition.designs.as_slice() {
        [] => &default,
        bases => bases,
    };
    // As `strata run` has it, and before anything is combined.
    subject::designs(bases)?;
    let count: usize =
        definition.vary.iter().fold(1, |all, axis| all.saturating_mul(axis.values.len()));
    let random = definition.random.as_ref();
    let drawn_points = random.map_or(1, |random| random.points as usize);
    let count = count.saturating_mul(drawn_points).saturating_mul(bases.len());
    if count > MOST_POINTS {
        return Err(Failure::input(format!(
            "the axes have {count} combinations, and a sweep has at most {MOST_POINTS} points"
        ))
        .hint("give fewer values, or draw points: `[random]` in a sweep's file"));
    }
    let none = vec![Vec::new()];
    let draws = random.map(|random| drawn(&random.vary, random.points, random.seed));
    let draws = draws.as_ref().unwrap_or(&none);
    let mut all = Vec::with_capacity(count);
    for base in bases {
        for draw in draws {
            for combination in grid(&definition.vary) {
                let mut pairs: Vec<_> = draw.iter().chain(&combination).collect();
                pairs.sort_unstable();
                let given: Vec<_> = pairs
                    .into_iter()
                    .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                    .collect();
                let parameters = given.iter().map(|(key, value)| format!(",{key}={value}"));
                all.push((format!("{base}{}", parameters.collect::<String>()), given));
            }
        }
    }
    Ok(all)
}

impl DesignPoint {
    /// The design of an argument. One whose keys and values are possible, but not together, is a
    /// point that fails.
    fn new((argument, given): Argument) -> Result<Self, Failure> {
        let design = match design::resolve(&argument) {
            Ok(design) => Ok(design),
            Err(error @ ConfigError::Combination { .. }) => {
                Err(Failure::from(error).message().to_owned())
            }
            Err(error) => return Err(error.into()),
        };
        let digest = design_digest(design.as_ref().map_err(String::as_str), &argument);
        Ok(Self { argument, given, design, digest })
    }
}

/// A digest of a design, or of why there is none, and of how a command line names it.
fn design_digest(design: Result<&Design, &str>, argument: &str) -> Key {
    let mut digest = Digest::default();
    match design {
        // All of it, whatever a design will have one day. Writing to a digest cannot fail.
        Ok(design) => drop(write!(digest, "{design:?}")),
        Err(error) => digest.text(error),
    }
    digest.text(argument);
    digest.key()
}

/// The inputs of a definition, each under every combination of its parameters, or only the one at
/// a place among these.
fn inputs(
    definition: &Definition,
    (mode, designs): (Mode, &[DesignPoint]),
    only: Option<usize>,
    notes: &dyn Notes,
) -> Result<Vec<Input>, Failure> {
    let How { scale, ptx, order, registers, ref launch, .. } = definition.how;
    let args = Source {
        launch: launch.clone(),
        scale,
        ptx,
        registers,
        orders: order.into_iter().collect(),
        ..Source::of(scale.unwrap_or(Scale::Default))
    };
    let args = Source { scale, ..args };
    let designs: Vec<_> =
        designs.iter().filter_map(|of| of.design.as_ref().ok()).cloned().collect();
    let mut all = Vec::new();
    for (column, combination) in grid(&definition.set).into_iter().enumerate() {
        let set: Vec<_> = combination.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let args = Source { set: set.clone(), ..args.clone() };
        let request = Request::new(&args)?.in_mode(mode).for_designs(&designs).with_totals_only();
        let subjects = subject::subjects(&definition.workloads, &args, notes)?;
        for (line, subject) in subjects.into_iter().enumerate() {
            all.push(((line, column), subject, request.clone(), set.join(" ")));
        }
    }
    // The inputs one after the other, not their parameters.
    all.sort_by_key(|(place, ..)| *place);
    let wanted = all.into_iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at));
    let input = |(_, subject, request, set)| {
        let digest = input_digest(&subject, &request)?;
        Ok(Input { subject, request, set, digest })
    };
    let inputs = wanted.map(|(_, of)| input(of)).collect::<Result<Vec<Input>, Failure>>()?;
    if inputs.is_empty() {
        return Err(Failure::input("the sweep has no such input"));
    }
    Ok(inputs)
}

/// A digest of what an input is and of how it is executed.
fn input_digest(subject: &Subject, request: &Request) -> Result<Key, Failure> {
    let mut digest = Digest::default();
    let file = |path: &Path, digest: &mut Digest| {
        File::open(path)
            .and_then(|file| digest.read(file))
            .map_err(|error| Failure::file(path, "read", &error))
    };
    match subject {
        Subject::Workload(workload) => {
            digest.text(&workload.name);
            digest.text(&workload.ptx);
            digest.text(workload.launch_text());
            workload.contents().iter().for_each(|bytes| digest.add(bytes));
            digest.text(&format!("{:?}", workload.options));
            digest.text(&request.size);
            for (name, value) in &request.overrides {
                digest.text(&format!("{name}={value}"));
            }
            // PTX and launch file are read already, and may be standard input.
            for path in workload.files.iter().skip(2) {
                file(path, &mut digest)?;
            }
        }
        Subject::Trace(input) => {
            digest.text(input);
            for path in subject.files(request.reach)? {
                file(&path, &mut digest)?;
            }
        }
    }
    Ok(digest.key())
}

/// The key of an input's point under a design, outside of a sweep.
///
/// # Errors
/// Files of the input that cannot be read.
pub fn key_of((subject, request): (&Subject, &Request), design: &Design) -> Result<Key, Failure> {
    let input = input_digest(subject, request)?;
    Ok(key(input, design_digest(Ok(design), &design.argument), request.mode))
}

/// What a design did with an input that is no sweep's, as a row of one.
///
/// # Errors
/// Files of the input that cannot be read; a report that is no row would be a defect.
pub fn row_of(
    (subject, request): (&Subject, &Request),
    design: &Design,
    report: &RunReport,
) -> Result<Row, Failure> {
    let labels = Labels {
        key: key_of((subject, request), design)?,
        workload: subject.name(),
        scale: "",
        set: "",
        design: &design.name,
        mode: request.mode.name(),
    };
    Row::of(&labels, report).map_err(|error| Failure::internal(&error))
}

fn key(input: Key, design: Key, mode: Mode) -> Key {
    let mut digest = Digest::default();
    digest.text(SCHEMA);
    digest.text(&MODEL_VERSION.to_string());
    digest.text(mode.name());
    digest.text(&input.to_string());
    digest.text(&design.to_string());
    digest.key()
}
