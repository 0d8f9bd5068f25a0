//! A board's report: what is committed of a run of the tools.

use std::fmt::Write as _;

use super::board::{Block, Board, Frame};
use super::timing::{Cells, Layout, Path, mhz};

/// A block's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Which.
    pub(crate) block: &'static Block,
    /// Of the best seed; cells without those of the wrapper.
    pub(crate) best: Layout,
    /// The best seed.
    pub(crate) seed: u32,
    /// The lowest frequency of any seed. Unit: 10 kHz.
    pub(crate) worst: u32,
}

/// Before the number that says which sources a report is of.
const SOURCES: &str = "Sources: `";

/// The whole report.
pub(crate) fn report(board: &Board, tools: &str, digest: u64, rows: &[Row]) -> String {
    let Board { name, device, device_options, .. } = board;
    let mut text = format!(
        "# What fits {name}, and how fast\n\nMade by `cargo xtask synth {name}`, not by hand; \
         [what it means](../../../docs/hw/synthesis.md).\n\n\
         Device: {device} (`{}`)\\\nTools: {tools}\\\n{SOURCES}{digest:016x}`\n\n",
        device_options.join(" ")
    );
    text.push_str(
        "| block | parameters | LUT4 | of these memory | flip-flops | block RAM | multipliers | \
         MHz, best seed | MHz, worst seed |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for Row { block, best, seed, worst } in rows {
        let Cells { tables, memories, flip_flops, block_memories, multipliers } = best.cells;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | {tables} | {} | {flip_flops} | {block_memories} | {multipliers} | \
             {} (seed {seed} of {}) | {} |",
            block.name,
            parameters(block),
            4 * memories,
            mhz(best.frequency),
            block.seeds.len(),
            mhz(*worst),
        );
    }
    text.push_str("\n## Critical paths\n\n");
    for Row { block, best, .. } in rows {
        text.push_str(&critical_path(block, &best.path));
    }
    text
}

/// The line of a report that says how it came about, for the reader who compares.
fn critical_path(block: &Block, path: &Path) -> String {
    let Path { names, levels, logic_ns, routing_ns } = path;
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!(
        "- `{}`: {levels} cells, {logic_ns} ns in them and {routing_ns} ns in wires:\n  {}\n",
        block.name,
        names.join(",\n  "),
    )
}

fn parameters(block: &Block) -> String {
    let list: Vec<String> =
        block.parameters.iter().map(|(name, value)| format!("{name} {value}")).collect();
    match (list.is_empty(), block.frame) {
        (true, Frame::Pins) => "as `top.sv` says".to_owned(),
        (true, Frame::ShiftRegisters) => "none".to_owned(),
        (false, _) => list.join(", "),
    }
}

/// True if a report is of these sources.
pub(crate) fn is_of(report: &str, digest: u64) -> bool {
    report.contains(&format!("{SOURCES}{digest:016x}`"))
}

#[cfg(test)]
mod tests {
    use super::super::board::BOARDS;
    use super::*;

    #[test]
    fn a_report_has_a_row_and_a_path_for_each_block_and_knows_its_sources() {
        let board = &BOARDS[0];
        let best = Layout {
            cells: Cells { tables: 17, memories: 2, flip_flops: 5, ..Cells::default() },
            frequency: 10_305,
            path: Path { names: vec!["a_q".to_owned(), "b_q".to_owned()], ..Path::default() },
        };
        let block = &board.blocks[0];
        let row = Row { block, best, seed: 2, worst: 9_007 };
        let text = report(board, "a tool", 0xab, &[row]);
        assert!(text.contains("Sources: `00000000000000ab`\n"), "{text}");
        let cells = format!("| 17 | 8 | 5 | 0 | 0 | 103.05 (seed 2 of {}) |", block.seeds.len());
        assert!(text.contains(&cells) && text.contains(" | 90.07 |\n"), "{text}");
        assert!(text.contains("`a_q`,\n  `b_q`\n"), "{text}");
        assert!(is_of(&text, 0xab) && !is_of(&text, 0xac) && !is_of(&text, 0xa));
    }
}
