//! Code: what the instructions of a launch are called on a timeline.

use std::fmt::Write as _;

use strata_compiler::program::Program;
use strata_ptx::module::Module;

use strata_trace::TracedInstruction;

/// Longest name. Unit: characters.
const LONGEST: usize = 100;

/// A launch's code as it was written.
#[derive(Clone, Copy, Debug)]
pub enum Code<'a> {
    /// Compiled from PTX.
    Ptx {
        /// What was compiled.
        module: &'a Module,
        /// The kernel.
        program: &'a Program,
        /// Text of the module.
        text: &'a str,
    },
    /// Machine code, as a trace names it.
    Traced(&'a [TracedInstruction]),
}

/// What one instruction is called, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    /// Its line of PTX, or its mnemonic.
    pub(crate) name: String,
    /// Line of the PTX file, with that of CUDA where it is known, or address of the machine code.
    pub(crate) source: String,
}

impl Code<'_> {
    /// One label for each instruction, by program counter.
    pub(crate) fn labels(self) -> Vec<Label> {
        match self {
            Self::Ptx { module, program, text } => {
                let lines: Vec<&str> = text.lines().collect();
                let instructions = program.instructions.iter();
                let label = instructions.map(|one| {
                    let line = (one.line as usize).checked_sub(1).and_then(|line| lines.get(line));
                    let statement = line.map_or("", |line| statement(line));
                    let name = if statement.is_empty() {
                        one.instruction.opcode.name().to_owned()
                    } else {
                        shortened(statement)
                    };
                    let cuda = module.cuda.of(one.instruction.span);
                    let cuda = cuda.map_or_else(String::new, |place| format!(" ({place})"));
                    Label { name, source: format!("line {}{cuda}", one.line) }
                });
                label.collect()
            }
            Self::Traced(instructions) => {
                let label = |one: &TracedInstruction| {
                    let mut source = String::from("address ");
                    let _ = write!(source, "{:#06x}", one.pc);
                    Label { name: shortened(&one.mnemonic), source }
                };
                instructions.iter().map(label).collect()
            }
        }
    }
}

/// A line of PTX without its comment and its last semicolon.
pub fn statement(line: &str) -> &str {
    let code = line.split_once("//").map_or(line, |(code, _)| code);
    code.trim().trim_end_matches(';')
}

/// A name or statement that is not too long to be read.
pub fn shortened(name: &str) -> String {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_lose_comments_and_semicolons() {
        assert_eq!(statement("\t@%p1 bra done; // ends"), "@%p1 bra done");
        assert_eq!(statement("    ret;\r"), "ret");
        assert_eq!(statement("// nothing"), "");
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(shortened(&"é".repeat(LONGEST)), "é".repeat(LONGEST));
        assert_eq!(shortened(&"é".repeat(LONGEST + 1)), format!("{}...", "é".repeat(LONGEST)));
    }
}
