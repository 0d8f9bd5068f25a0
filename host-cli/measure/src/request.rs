//! Request: what to execute and count, and the command line that asks for it.

use crate::options::{Mode, Source};
use crate::subject;
use crate::timeline;
use strata_design::Design;
use strata_files::failure::Failure;
use strata_trace::Reach;
use strata_workload::dump::Dump;
use strata_workload::simulate::Options;
use strata_workload::{Overrides, SEED};

/// Paths of a launch that are counted at a time where its accesses are not needed. Unit: bytes.
const PART_BYTES: u64 = 64 << 20;

/// What to execute and which part of it to count, validated.
#[derive(Clone, Debug)]
pub struct Request {
    /// Size by name.
    pub size: String,
    /// Parameters that replace the size's.
    pub overrides: Overrides,
    /// Which part of it to count, and when to give up.
    pub options: Options,
    /// Which files a list of traces may name.
    pub reach: Reach,
    /// What is simulated.
    pub mode: Mode,
    /// What to draw of it, with one design and in cycle mode.
    pub timeline: Option<timeline::Request>,
    /// Buffers to write when all launches have ended.
    pub dumps: Vec<Dump>,
    /// Whether to keep what each instruction does in time.
    pub(crate) line_profiles: bool,
    /// Whether reports are without their launches.
    pub(crate) totals_only: bool,
    /// The options in their normal form, for the command in the report.
    words: Vec<String>,
}

impl Request {
    /// Checks the options.
    pub fn new(args: &Source) -> Result<Self, Failure> {
        let overrides = subject::overrides(&args.set)?;
        let mut words = vec!["--scale".to_owned(), args.scale().name().to_owned()];
        for (name, value) in &overrides {
            words.extend(["--set".to_owned(), format!("{name}={value}")]);
        }
        if !args.orders.is_empty() {
            let names: Vec<&str> = args.orders.iter().map(|order| order.name()).collect();
            words.extend(["--order".to_owned(), names.join(",")]);
        }
        if args.allow_outside {
            words.push("--allow-outside".to_owned());
        }
        for (option, value) in [
            ("registers", args.registers.map(|registers| registers.to_string())),
            ("kernel", args.kernel.clone()),
            ("launch-index", args.launch_index.map(|index| index.to_string())),
            ("cta", args.cta.map(|cta| cta.to_string())),
        ] {
            if let Some(value) = value {
                words.extend([format!("--{option}"), value]);
            }
        }
        Ok(Self {
            size: args.scale().name().to_owned(),
            overrides,
            options: Options {
                kernel: args.kernel.clone(),
                launch_index: args.launch_index,
                cta: args.cta,
                max_instructions: args.max_instructions(),
                part_bytes: Some(PART_BYTES),
                ..Options::default()
            },
            reach: args.reach(),
            mode: Mode::Count,
            timeline: None,
            dumps: Vec::new(),
            line_profiles: false,
            totals_only: false,
            words,
        })
    }

    /// This request with another seed of all random contents.
    #[must_use]
    pub fn with_seed(mut self, seed: u32) -> Self {
        self.overrides.insert(SEED.to_owned(), i64::from(seed));
        self.words.extend(["--set".to_owned(), format!("{SEED}={seed}")]);
        self
    }

    /// The options in their normal form.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// This request in another mode.
    #[must_use]
    pub fn in_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self.options.accesses = mode == Mode::Cycle;
        if mode == Mode::Cycle {
            self.words.splice(0..0, ["--mode", "cycle"].map(str::to_owned));
        }
        self
    }

    /// This request for these designs: with the lines that accesses touch, if one has a data cache.
    #[must_use]
    pub fn for_designs<'a>(mut self, designs: impl IntoIterator<Item = &'a Design>) -> Self {
        let has_cache = |design: &Design| design.data_cache.is_some();
        self.options.lines = designs.into_iter().any(has_cache);
        self
    }

    /// This request with every launch in one part.
    #[must_use]
    pub fn in_whole_launches(mut self) -> Self {
        self.options.part_bytes = None;
        self
    }

    /// This request with a drawing.
    #[must_use]
    pub fn with_timeline(mut self, timeline: Option<timeline::Request>) -> Self {
        self.timeline = timeline;
        self
    }

    /// This request with buffers to write.
    #[must_use]
    pub fn with_dumps(mut self, dumps: Vec<Dump>) -> Self {
        self.dumps = dumps;
        self
    }

    /// This request with reports of all launches together.
    #[must_use]
    pub const fn with_totals_only(mut self) -> Self {
        self.totals_only = true;
        self
    }

    /// This request with what each instruction does in time.
    #[must_use]
    pub(crate) const fn with_line_profiles(mut self) -> Self {
        self.line_profiles = true;
        self
    }
}

/// A command line as a shell takes it, from how it names its inputs and what follows.
pub fn command_line<'a>(
    command: &str,
    inputs: impl IntoIterator<Item = &'a [String]>,
    options: &[String],
) -> String {
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    // Options behind the inputs are shared by all of them.
    let mut shared: &[String] = &[];
    let mut sized = false;
    for input in inputs {
        if let [name, more @ ..] = input {
            words.push(name.clone());
            shared = if shared.is_empty() { more } else { shared };
            sized |= !subject::is_recorded(name);
        }
    }
    words.extend_from_slice(shared);
    // What is traced has its size.
    let scale = options.iter().position(|word| word == "--scale").filter(|_| !sized);
    let left_out = scale.map_or(0..0, |place| place..place + 2);
    let kept = options.iter().enumerate().filter(|(place, _)| !left_out.contains(place));
    words.extend(kept.map(|(_, word)| word.clone()));
    // Only a word with a NUL cannot be quoted, and no command line can have one.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}
