//! What nextpnr's log says: cells in use, the highest frequency, and the path that limits it.

use crate::process::Failure;

/// Cells that are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cells {
    /// Places of four-input tables, those of distributed memory and carries included.
    pub(crate) tables: u32,
    /// Of these, groups of four that are 16 x 4 bits of distributed memory.
    pub(crate) memories: u32,
    /// Flip-flops.
    pub(crate) flip_flops: u32,
    /// Block memories of 18 kilobits.
    pub(crate) block_memories: u32,
    /// Multipliers.
    pub(crate) multipliers: u32,
}

/// The path that limits the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path {
    /// The names along it, of registers, memories and signals, as far as they are ours.
    pub(crate) names: Vec<String>,
    /// Cells between its two ends.
    pub(crate) levels: u32,
    /// Time in cells, as printed. Unit: ns.
    pub(crate) logic_ns: String,
    /// Time in wires, as printed. Unit: ns.
    pub(crate) routing_ns: String,
}

/// What placement and routing achieved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Cells.
    pub(crate) cells: Cells,
    /// The highest frequency of the slowest clock. Unit: 10 kHz.
    pub(crate) frequency: u32,
    /// What limits it.
    pub(crate) path: Path,
}

/// Frequencies are printed in MHz.
pub(crate) fn mhz(frequency: u32) -> String {
    format!("{}.{:02}", frequency / 100, frequency % 100)
}

/// Reads a log. Its last report is of the routed design.
pub(crate) fn parse(log: &str) -> Result<Layout, Failure> {
    let mut layout = Layout::default();
    let clocks = frequencies(log);
    let (clock, frequency) = clocks
        .iter()
        .min_by_key(|(_, frequency)| *frequency)
        .ok_or_else(|| Failure("the log of nextpnr names no frequency".to_owned()))?;
    layout.frequency = *frequency;
    let start = format!("Critical path report for clock '{clock}'");
    let section = log.rsplit_once(&start).map_or("", |(_, section)| section);
    layout.path = path(section);
    layout.cells = Cells {
        tables: used(log, "TRELLIS_COMB"),
        memories: used(log, "TRELLIS_RAMW"),
        flip_flops: used(log, "TRELLIS_FF"),
        block_memories: used(log, "DP16KD"),
        multipliers: used(log, "MULT18X18D"),
    };
    Ok(layout)
}

/// The last frequency of each clock.
fn frequencies(log: &str) -> Vec<(&str, u32)> {
    let mut clocks: Vec<(&str, u32)> = Vec::new();
    for line in log.lines() {
        let Some((_, rest)) = line.split_once("Max frequency for clock") else { continue };
        let Some((clock, rest)) = rest.split_once("': ") else { continue };
        let clock = clock.trim().trim_start_matches('\'');
        let Some(frequency) = rest.split_whitespace().next().and_then(hundredths) else { continue };
        clocks.retain(|(name, _)| *name != clock);
        clocks.push((clock, frequency));
    }
    clocks
}

/// `75.69` as 7569.
fn hundredths(number: &str) -> Option<u32> {
    let (whole, fraction) = number.split_once('.')?;
    if fraction.len() != 2 {
        return None;
    }
    Some(whole.parse::<u32>().ok()? * 100 + fraction.parse::<u32>().ok()?)
}

/// Cells of a kind: `TRELLIS_FF:  710/  83640  0%`.
fn used(log: &str, kind: &str) -> u32 {
    let cells = log.lines().find_map(|line| {
        let (_, rest) = line.split_once(&format!("\t{kind:>20}:"))?;
        rest.split('/').next()?.trim().parse().ok()
    });
    cells.unwrap_or_default()
}

fn path(section: &str) -> Path {
    let mut path = Path::default();
    for line in section.lines() {
        let text = line.strip_prefix("Info:").unwrap_or(line).trim();
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [logic, "ns", "logic,", routing, "ns", "routing"] => {
                logic.clone_into(&mut path.logic_ns);
                routing.clone_into(&mut path.routing_ns);
                break;
            }
            ["logic", _, _, "Source", _] => path.levels += 1,
            [_, _, _, "Net", name, ..] => note(&mut path.names, name),
            ["setup", _, _, "Source", name] => {
                // The port of the cell comes after its name.
                note(&mut path.names, name.rsplit_once('.').map_or(name, |(cell, _)| cell));
            }
            _ => {}
        }
    }
    path
}

/// Adds what we called a signal, unless it was the last already.
fn note(names: &mut Vec<String>, name: &str) {
    let name = ours(name);
    if !name.is_empty() && names.last().is_none_or(|last| *last != name) {
        names.push(name);
    }
}

/// The part of a name that is ours: the tools append what they made of the signal.
fn ours(name: &str) -> String {
    const MADE: [&str; 11] = [
        "_TRELLIS",
        "_LUT4",
        "_PFUMX",
        "_L6MUX21",
        "_CCU2C",
        "_DPR16X4",
        "_DP16KD",
        "_MULT18X18D",
        "_DO_",
        "_DI_",
        "$",
    ];
    let end = MADE.iter().filter_map(|made| name.find(made)).min().unwrap_or(name.len());
    let parts: Vec<&str> = name[..end]
        .split('[')
        .next()
        .unwrap_or_default()
        .trim_start_matches("u_block.")
        .split('.')
        .take_while(|part| !part.starts_with(|first: char| first.is_ascii_digit()))
        .collect();
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
Info: \t          TRELLIS_IO:       4/    365     1%
Info: \t              DP16KD:       2/    208     0%
Info: \t          MULT18X18D:       0/    156     0%
Info: \t          TRELLIS_FF:     710/  83640     0%
Info: \t        TRELLIS_COMB:    1861/  83640     2%
Info: \t        TRELLIS_RAMW:     120/  10455     1%
Info: Critical path report for clock '$glbnet$clk_i' (posedge -> posedge):
Info:   clk-to-q  0.52  0.52 Source u_block.early_TRELLIS_FF_Q.Q
Info: 1.00 ns logic, 1.00 ns routing
Info: Max frequency for clock '$glbnet$clk_i': 75.69 MHz (FAIL at 100.00 MHz)
Info: Critical path report for clock '$glbnet$clk_i' (posedge -> posedge):
Info:       type curr  total name
Info:   clk-to-q  0.52  0.52 Source u_block.req_warp_i_TRELLIS_FF_Q.Q
Info:    routing  1.44  1.96 Net in_q[10] (101,49) -> (105,50)
Info:                          Sink u_block.registers_q.0.6$DPRAM_COMB1.B
Info:      logic  0.24  2.20 Source u_block.registers_q.0.6$DPRAM_COMB1.F
Info:    routing  0.73  2.92 Net u_block.registers_q.0.6_DO_2[1] (105,50) -> (105,51)
Info:      logic  0.24  3.16 Source u_block.registers_q.0.6_DO_LUT4_B_Z_LUT4_Z_1.F
Info:    routing  0.61  3.77 Net u_block.registers_q.0.6_DO_LUT4_B_Z[1] (105,51) -> (105,51)
Info:      setup  0.00  3.77 Source u_block.u_pool.order_q_TRELLIS_FF_Q_1.M
Info: 2.75 ns logic, 8.00 ns routing
Info: Critical path report for cross-domain path '<async>' -> 'posedge $glbnet$clk_i':
Info:      logic  0.24  1.98 Source rst_ni_LUT4_D.F
Warning: Max frequency for clock '$glbnet$clk_i': 93.07 MHz (FAIL at 100.00 MHz)
Warning: Max frequency for clock         'other': 193.07 MHz (FAIL at 100.00 MHz)
";

    #[test]
    fn the_last_frequency_and_its_path_count() {
        let layout = parse(LOG).expect("a log");
        assert_eq!((layout.frequency, mhz(layout.frequency)), (9307, "93.07".to_owned()));
        let Path { names, levels, logic_ns, routing_ns } = layout.path;
        assert_eq!(names, ["in_q", "registers_q", "u_pool.order_q"]);
        assert_eq!((levels, logic_ns.as_str(), routing_ns.as_str()), (2, "2.75", "8.00"));
    }

    #[test]
    fn cells_are_counted_by_kind() {
        let cells = parse(LOG).expect("a log").cells;
        assert_eq!((cells.tables, cells.memories, cells.flip_flops), (1861, 120, 710));
        assert_eq!((cells.block_memories, cells.multipliers), (2, 0));
    }

    #[test]
    fn a_log_without_a_frequency_is_refused() {
        assert!(parse("Info: Packing constants..\n").is_err());
        assert!(parse("Info: Max frequency for clock 'c': fast MHz\n").is_err());
    }
}
