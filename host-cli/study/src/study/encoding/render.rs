//! The study as tables and as columns.

use std::fmt::Write as _;

use super::{Encoding, Scheme, Study};
use strata_report::columns::{Cell, Columns};
use strata_report::text_table::TextTable;

/// The names of each specifier, then what each restriction saves and costs, then the kernels.
/// `remarks` follow.
pub fn to_table(study: &Study, remarks: &[String]) -> String {
    let Study { design, orf_entries, lrf, specifier_bits, registers, .. } = study;
    let entries = if *orf_entries == 1 { "entry" } else { "entries" };
    let mut text = format!(
        "{design}: ORF of {orf_entries} {entries}, LRF: {lrf}; specifiers of {specifier_bits} \
         bits, which name {registers} registers\n\nNames of a specifier\n{}\n\n",
        names_table(study)
    );
    let most = study.kernels.iter().map(|kernel| kernel.registers).max().unwrap_or(0);
    let _ = write!(
        text,
        "Restrictions, by what can be written in pairs; specifiers as they are, for the kernels' \
         {most} registers, for all {registers}\n{}\n\n",
        schemes_table(study)
    );
    let sum = |of: fn(&super::Kernel) -> u32| study.kernels.iter().map(of).sum::<u32>();
    let (wide, apart) =
        (sum(|kernel| kernel.wide_operands), sum(|kernel| kernel.wide_operands_apart));
    let _ = writeln!(
        text,
        "kernels: {}, of up to {most} registers; {apart} of {wide} wide operands lie apart, which \
         no single name can say",
        study.kernels.len()
    );
    text.push_str(
        "energy: bank and wires relative to the flat register file; rise: against pairs of any \
         with first\nreads; saved, cost, net: of the chip's dynamic power, with three source \
         operands; means over inputs;\nno net where kernels would have to spill\n",
    );
    for assumed in &study.assumed {
        let _ = writeln!(text, "assumed: {assumed}");
    }
    for remark in remarks {
        let _ = writeln!(text, "{remark}");
    }
    text
}

fn names_table(study: &Study) -> TextTable {
    let mut table = TextTable::new();
    let left = format!("registers\nin {} bits", study.specifier_bits);
    table.set_header([
        "operand",
        "in pairs",
        "none",
        "MRF",
        "ORF",
        "LRF",
        "ORF\nand MRF",
        "LRF\nand MRF",
        "names",
        "bits",
        &left,
    ]);
    for row in &study.specifiers {
        let names = &row.names;
        let counts = [
            names.none,
            names.mrf,
            names.orf,
            names.lrf,
            names.orf_and_mrf,
            names.lrf_and_mrf,
            row.total,
            row.bits,
            row.registers_left,
        ];
        let mut cells = vec![row.operand.clone(), row.pairs.clone()];
        cells.extend(counts.map(|count| count.to_string()));
        table.add_row(cells);
    }
    table.right_from(2);
    table
}

fn schemes_table(study: &Study) -> TextTable {
    let mut table = TextTable::new();
    let mut header = vec![
        "results\nin pairs".to_owned(),
        "first\nreads".to_owned(),
        "energy".to_owned(),
        "rise".to_owned(),
        "saved".to_owned(),
        "as they are:\nregisters".to_owned(),
        "kernels\nspill".to_owned(),
        "cost".to_owned(),
        "net".to_owned(),
    ];
    for of in ["for kernels:", "for all:"] {
        header.extend([format!("{of}\nbits"), "cost".to_owned(), "net".to_owned()]);
    }
    table.set_header(header);
    for scheme in &study.schemes {
        table.add_row(scheme_row(scheme, study.kernels.len()));
    }
    table.right_from(2);
    // Yes and no.
    table.left(1);
    table
}

fn scheme_row(scheme: &Scheme, kernels: usize) -> Vec<String> {
    let unchanged = &scheme.unchanged;
    let own = if scheme.own { " *" } else { "" };
    let mut cells = vec![
        format!("{}{own}", scheme.dual_writes),
        if scheme.read_operands { "yes" } else { "no" }.to_owned(),
        percent(scheme.energy_relative_percent, 1),
        scheme.energy_rise_percent.map_or_else(|| "-".to_owned(), |rise| format!("{rise:+.1} %")),
        percent(scheme.chip_saved_percent, 2),
        unchanged.registers.to_string(),
        format!("{} of {kernels}", unchanged.spilling.len()),
        percent(unchanged.cost_percent, 1),
        percent(unchanged.net_percent, 2),
    ];
    for encoding in [&scheme.for_kernels, &scheme.for_all] {
        cells.extend([
            told(encoding),
            percent(encoding.cost_percent, 1),
            percent(encoding.net_percent, 2),
        ]);
    }
    cells
}

/// Bits of an instruction: source operands, result, end of a strand.
fn told(encoding: &Encoding) -> String {
    let extra = &encoding.extra;
    format!(
        "3x{}+{}+{} = {}",
        extra.source, extra.destination, extra.strand_end, encoding.extra_bits
    )
}

fn percent(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$} %"))
}

/// The columns without rows.
pub fn no_columns() -> Columns {
    Columns::new([
        "design",
        "pairs",
        "read_operands",
        "input",
        "energy_fj",
        "flat_energy_fj",
        "unchanged_registers",
        "unchanged_bits",
        "for_kernels_bits",
        "for_all_bits",
    ])
}

/// One row for each restriction and input.
pub fn to_columns(study: &Study) -> Columns {
    let mut columns = no_columns();
    for scheme in &study.schemes {
        for input in &scheme.inputs {
            let row: [Cell; 10] = [
                (&study.design).into(),
                (&scheme.dual_writes).into(),
                scheme.read_operands.into(),
                (&input.input).into(),
                input.energy_fj.into(),
                input.flat_energy_fj.into(),
                scheme.unchanged.registers.into(),
                scheme.unchanged.extra_bits.into(),
                scheme.for_kernels.extra_bits.into(),
                scheme.for_all.extra_bits.into(),
            ];
            columns.rows.push(row.map(Some).to_vec());
        }
    }
    columns
}
