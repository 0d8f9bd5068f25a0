//! The limits as tables to read, and as columns.

use std::fmt::Write as _;

use super::{
    Assumed, FEWER_WARPS_PRINTED, IDEALISATIONS, Idealisation, ONLY_ENTRIES, ONLY_PRINTED,
    PAST_BRANCHES_PRINTED, Row, Shared, VARIABLE_PRINTED,
};
use strata_report::columns::Columns;
use strata_report::table::mean;
use strata_report::text_table::TextTable;

/// One number of every workload.
struct Column {
    header: String,
    /// What the workloads' cells show. Unit: percent.
    cell: fn(&Row, usize) -> Option<f64>,
    /// What the mean change is taken of. Unit: percent.
    change: fn(&Row, usize) -> Option<f64>,
    /// What the cell is of: the place of a limit or of a number of warps.
    index: usize,
    /// What `[DISS]` prints.
    printed: Option<i32>,
}

fn percent(part: u64, of: u64) -> Option<f64> {
    (of != 0).then(|| part as f64 / of as f64 * 100.0)
}

impl Row {
    /// What a number of warps attains, and its bound.
    fn shared_of(&self, index: usize) -> u64 {
        let Shared { attained, bound, .. } = self.assumed[0].shared[index / 2];
        if index.is_multiple_of(2) { attained } else { bound }
    }
}

fn limit_columns() -> Vec<Column> {
    let column = |(index, limit): (usize, &Idealisation)| Column {
        header: limit.label().replacen(' ', "\n", 1),
        cell: |row, limit| percent(row.energies[limit], row.flat),
        change: |row, limit| percent(row.energies[limit], row.energies[0]),
        index,
        printed: limit.printed(),
    };
    IDEALISATIONS.iter().enumerate().map(column).collect()
}

fn shared_columns(warps: [u8; 2]) -> Vec<Column> {
    let printed = [VARIABLE_PRINTED, VARIABLE_PRINTED + FEWER_WARPS_PRINTED];
    let energy = |index: usize| Column {
        header: format!(
            "oracle, {} warps\n{}",
            warps[index / 2],
            if index.is_multiple_of(2) { "attained" } else { "no less than" }
        ),
        cell: |row, index| percent(row.shared_of(index), row.flat),
        change: |row, index| percent(row.shared_of(index), row.energies[0]),
        index,
        printed: index.is_multiple_of(2).then(|| printed[index / 2]),
    };
    let throughput = |row: &Row, _: usize| {
        percent(row.assumed[0].shared[0].cycles, row.assumed[0].shared[1].cycles)
    };
    let mut columns: Vec<_> = (0..4).map(energy).collect();
    columns.push(Column {
        header: format!("IPC of {} warps\nof that of {}", warps[1], warps[0]),
        cell: throughput,
        change: throughput,
        index: 0,
        printed: None,
    });
    let kept = |row: &Row, _: usize| {
        row.hardware.as_ref().and_then(|hardware| percent(hardware.kept, hardware.flushed))
    };
    columns.push(Column {
        header: "RFC past backward\nbranches, of flushed".to_owned(),
        cell: kept,
        change: kept,
        index: 0,
        printed: Some(PAST_BRANCHES_PRINTED),
    });
    let only = |row: &Row, level: usize| percent(row.only[level]?, row.flat);
    let labels = ["the LRF".to_owned(), format!("{ONLY_ENTRIES} entries")];
    for (index, label) in labels.into_iter().enumerate() {
        columns.push(Column {
            header: format!("all accesses\nto {label}"),
            cell: only,
            change: only,
            index,
            printed: Some(ONLY_PRINTED[index]),
        });
    }
    columns
}

fn table(rows: &[Row], columns: &[Column]) -> String {
    let mut table = TextTable::new();
    let mut header = vec!["workload".to_owned(), String::new()];
    header.extend(columns.iter().map(|column| column.header.clone()));
    table.set_header(header);
    let text = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.1} %"));
    for row in rows {
        let mut cells = vec![row.workload.clone(), String::new()];
        cells.extend(columns.iter().map(|column| text((column.cell)(row, column.index))));
        table.add_row(cells);
    }
    let average = |column: &Column, of: fn(&Row, usize) -> Option<f64>| {
        mean(rows.iter().map(|row| of(row, column.index)))
    };
    let mut cells = vec!["mean".to_owned(), "itself".to_owned()];
    cells.extend(columns.iter().map(|column| text(average(column, column.cell))));
    table.add_row(cells);
    let change = |value: Option<f64>| {
        value.map_or_else(|| "-".to_owned(), |v| format!("{:+.1} %", v - 100.0))
    };
    let mut cells = vec![String::new(), "change".to_owned()];
    cells.extend(columns.iter().map(|column| change(average(column, column.change))));
    table.add_row(cells);
    let mut cells = vec![String::new(), "[DISS]".to_owned()];
    let printed = |column: &Column| column.printed.map_or_else(String::new, |p| format!("{p} %"));
    cells.extend(columns.iter().map(printed));
    table.add_row(cells);
    table.right_from(2);
    table.group(1);
    table.to_string()
}

/// The means under each of the oracle's assumptions.
fn assumptions(rows: &[Row], first: &Row) -> String {
    let mut table = TextTable::new();
    let warps = first.assumed[0].shared.map(|shared| shared.active_warps);
    let header = warps.iter().flat_map(|warps| {
        [format!("{warps} warps\nattained"), format!("{warps} warps\nno less than")]
    });
    table.set_header(["time", "entries held"].map(str::to_owned).into_iter().chain(header));
    for (place, Assumed { clock, hold, .. }) in first.assumed.iter().enumerate() {
        let cell = |index: usize, of: fn(&Shared) -> u64| {
            let energy = |row: &Row| of(&row.assumed[place].shared[index]);
            let mean = mean(rows.iter().map(|row| percent(energy(row), row.energies[0])));
            mean.map_or_else(|| "-".to_owned(), |mean| format!("{:+.1} %", mean - 100.0))
        };
        let cells = (0..2).flat_map(|index| {
            [cell(index, |shared| shared.attained), cell(index, |shared| shared.bound)]
        });
        let told = [clock.label(), hold.label()].map(str::to_owned);
        table.add_row(told.into_iter().chain(cells));
    }
    table.right_from(2);
    table.to_string()
}

/// The rows as tables, workload by workload; beneath, the means, their change, and what the
/// dissertation prints.
pub fn to_table(rows: &[Row], design: &str) -> String {
    let mut text = format!(
        "energy of design {design} relative to the flat register file\n{}\n",
        table(rows, &limit_columns())
    );
    let Some(first) = rows.first() else { return text };
    let warps = first.assumed[0].shared.map(|shared| shared.active_warps);
    let _ = write!(
        text,
        "\nits entries shared out to strands by an oracle, a register file cache as large, and \
         every access to one level\n{}\n",
        table(rows, &shared_columns(warps))
    );
    let _ = write!(
        text,
        "\nthe oracle's change of energy by how time goes on and how long entries are held\n{}\n",
        assumptions(rows, first)
    );
    let _ = writeln!(
        text,
        "\nchange: the mean over workloads of the energy relative to the design itself, less 100 \
         %; behind the oracle's\ncolumns, the mean of the column, less 100 %\n\
         [DISS] 6.6: on its own workloads, against 3 entries with a split last result file"
    );
    text
}

/// The rows as columns: workload, limit, energy, energy of the flat register file, and of what
/// runs in time its cycles and those that warps were in strands, summed over the warps.
pub fn to_columns(rows: &[Row]) -> Columns {
    let header = ["workload", "limit", "energy_fj", "flat_energy_fj", "cycles", "strand_cycles"];
    let mut columns = Columns::new(header);
    for row in rows {
        let mut line = |limit: &str, energy: u64, time: Option<&Shared>| {
            columns.rows.push(vec![
                Some((&row.workload).into()),
                Some(limit.into()),
                Some(energy.into()),
                Some(row.flat.into()),
                time.map(|time| time.cycles.into()),
                time.map(|time| time.strand_cycles.into()),
            ]);
        };
        for (limit, &energy) in IDEALISATIONS.iter().zip(&row.energies) {
            let time = (*limit == Idealisation::Design).then_some(&row.assumed[0].shared[0]);
            line(&limit.label(), energy, time);
        }
        for (place, Assumed { clock, hold, shared }) in row.assumed.iter().enumerate() {
            // The design's own clock and whole strands go without saying.
            let told = match place {
                0 => String::new(),
                _ => format!("; {}; {}", clock.label(), hold.label()).replace(',', ";"),
            };
            for shared in shared {
                let what = format!("entries shared by {} warps{told}", shared.active_warps);
                line(&format!("{what} (attained)"), shared.attained, Some(shared));
                line(&format!("{what} (no less than)"), shared.bound, Some(shared));
            }
        }
        if let Some(hardware) = row.hardware {
            line("register file cache flushed at backward branches", hardware.flushed, None);
            line("register file cache", hardware.kept, None);
        }
        let levels = ["the last result file".to_owned(), format!("{ONLY_ENTRIES} entries")];
        for (level, energy) in levels.iter().zip(row.only) {
            if let Some(energy) = energy {
                line(&format!("all accesses to {level}"), energy, None);
            }
        }
    }
    columns
}
