//! `[EXPARS]`: Table 3's kernels through the functions of residency, and the hardware's bits.

use strata_core::chip_power::Ratio;
use strata_core::sm::expansion::equations::{Printed, corrected, printed};
use strata_core::sm::expansion::hardware::{BANKS, Hardware, LINE_BITS, SETS};
use strata_core::sm::expansion::{Capacity, CtaNeeds, Occupancy, Split};
use strata_core::units::LANES;

use super::context::Context;
use super::fixed::{fixed, scaled};
use super::numbers::{Numbers, Row};
use super::papers::later::{Maxwell, Table3Kernel};
use super::product::Expansion;

/// A kernel of Table 3.
struct Kernel<'a> {
    name: &'a str,
    needs: CtaNeeds,
    /// CTAs of an SM, as printed.
    printed_ctas: u32,
}

fn kernels(of: Context<'_>) -> Vec<Kernel<'_>> {
    let rows = of.facts.tables.expars.table3_benchmarks.rows.iter();
    rows.map(|row| Kernel { name: &row.0, needs: needs(row), printed_ctas: row.2 }).collect()
}

/// What a CTA of a row needs.
pub(super) fn needs(row: &Table3Kernel) -> CtaNeeds {
    let &(_, _, _, warps, scratchpad_bytes, registers) = row;
    CtaNeeds { threads: warps * LANES, registers, scratchpad_bytes }
}

/// A sum of ratios; `None` where it does not fit.
fn sum(ratios: impl IntoIterator<Item = Ratio>) -> Option<(u128, u128)> {
    ratios.into_iter().try_fold((0_u128, 1_u128), |(numerator, denominator), ratio| {
        let (other, by) = (u128::from(ratio.numerator), u128::from(ratio.denominator));
        let common = by.checked_div(greatest_common_divisor(denominator, by))?;
        let multiple = denominator.checked_mul(common)?;
        let own = numerator.checked_mul(common)?;
        let added = other.checked_mul(multiple.checked_div(by)?)?;
        Some((own.checked_add(added)?, multiple))
    })
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The mean of ratios in percent, to two decimals.
fn mean_percent(ratios: &[Ratio]) -> Option<String> {
    let (numerator, denominator) = sum(ratios.iter().copied())?;
    let count = u128::try_from(ratios.len()).ok().filter(|&count| count != 0)?;
    Some(fixed(100 * numerator, denominator.checked_mul(count)?, 2))
}

fn mean(numbers: impl ExactSizeIterator<Item = u32>) -> String {
    let count = numbers.len().max(1) as u128;
    fixed(numbers.map(u128::from).sum(), count, 2)
}

/// The way that a kernel's CTAs are resident.
type Way = fn(&Expansion, &CtaNeeds) -> Option<Occupancy>;

const WAYS: [(&str, Way); 3] = [
    ("baseline", |of, needs| of.fermi.baseline_occupancy(needs).ok()),
    ("Warpman", |of, needs| of.fermi.warpman(needs).ok()),
    ("EXPARS", expars),
];

fn expars(of: &Expansion, needs: &CtaNeeds) -> Option<Occupancy> {
    match of.fermi.vertical(needs, of.threshold).ok()? {
        Some(split) => Some(split.occupancy(needs)),
        None => of.fermi.baseline_occupancy(needs).ok(),
    }
}

fn occupancies(of: Context<'_>, way: Way) -> Option<Vec<Occupancy>> {
    kernels(of).iter().map(|kernel| way(&of.product.expansion, &kernel.needs)).collect()
}

/// Threads, CTAs, registers and KB of scratchpad memory of an SM, and registers of a thread.
fn machine(capacity: &Capacity) -> String {
    let ctas = capacity.limits.ctas.map_or_else(|| "no limit".to_owned(), |ctas| ctas.to_string());
    format!(
        "{} {ctas} {} {} {}",
        capacity.limits.threads,
        capacity.registers,
        fixed(capacity.scratchpad_bytes.into(), 1024, 0),
        capacity.most_registers
    )
}

/// The machines and the threshold beside Table 2.
fn machines(of: Context<'_>) -> Vec<Row> {
    let (own, facts) = (&of.product.expansion, &of.facts.tables.expars.table2_sim);
    let fermi = &facts.fermi;
    let fermi = [
        fermi.threads,
        fermi.ctas,
        fermi.registers,
        fermi.scratchpad_kb,
        fermi.max_regs_per_thread,
    ];
    let Maxwell { threads, ctas, registers, scratchpad_kb, max_regs_per_thread } = facts.maxwell;
    let maxwell = [threads, ctas, registers, scratchpad_kb, max_regs_per_thread];
    let words = |numbers: [u32; 5]| numbers.map(|number| number.to_string()).join(" ");
    let (numerator, denominator) = own.threshold.parts();
    let what = "threads, CTAs, registers, KB of scratchpad memory, registers of a thread";
    vec![
        Row::beside(format!("Fermi, {what}"), machine(&own.fermi), words(fermi)),
        Row::beside(format!("Maxwell, {what}"), machine(&own.maxwell), words(maxwell)),
        Row::beside(
            "tau",
            fixed(numerator.into(), denominator.into(), 1),
            fixed(scaled(facts.tau, 1), 10, 1),
        ),
    ]
}

/// CTAs and warps.
pub(super) fn residency(of: Context<'_>) -> Option<Vec<Row>> {
    let mut rows = machines(of);
    for Kernel { name, needs, printed_ctas } in kernels(of) {
        let ctas = of.product.expansion.fermi.baseline(&needs).ok()?.ctas;
        let label = format!("{name}, CTAs of the baseline");
        rows.push(Row::beside(label, ctas.to_string(), printed_ctas.to_string()));
    }
    let ctas = |of: &[Occupancy]| of.iter().map(|one| u128::from(one.ctas)).sum::<u128>();
    let mut most = Vec::new();
    for (name, way) in WAYS {
        most = occupancies(of, way)?;
        rows.push(Row::listed(
            format!("CTAs and warps of an SM, {name}"),
            format!(
                "{} {}",
                mean(most.iter().map(|one| one.ctas)),
                mean(most.iter().map(|one| one.warps))
            ),
        ));
    }
    let limit = of.product.expansion.fermi.limits.warps;
    let full = most.iter().filter(|one| one.warps == limit).count();
    let baseline = ctas(&occupancies(of, WAYS[0].1)?);
    rows.extend([
        Row::listed(format!("kernels with {limit} warps, EXPARS"), full.to_string()),
        Row::listed("times the baseline's CTAs, EXPARS", fixed(ctas(&most), baseline.max(1), 2)),
    ]);
    Some(rows)
}

/// Mean utilization of the register file, of scratchpad memory and of both, in percent.
fn utilizations(of: &Expansion, occupancies: &[Occupancy]) -> Option<[String; 3]> {
    let all: Vec<_> = occupancies.iter().map(|one| of.fermi.utilization(one)).collect();
    let mean = |part: fn(&_) -> Ratio| mean_percent(&all.iter().map(part).collect::<Vec<_>>());
    Some([mean(|one| one.registers)?, mean(|one| one.scratchpad)?, mean(|one| one.both)?])
}

pub(super) fn utilization(of: Context<'_>) -> Option<Vec<Row>> {
    let row = |(name, way): (&str, Way)| {
        let means = utilizations(&of.product.expansion, &occupancies(of, way)?)?;
        Some(Row::listed(format!("registers, scratchpad, both, {name}"), means.join(" ")))
    };
    WAYS.into_iter().map(row).collect()
}

/// The splits of Figure 11. Of kernels that section 4.3 names there is one whole CTA fewer than
/// in the baseline if `as_printed`.
fn shares(of: Context<'_>, kernels: &[Kernel<'_>], as_printed: bool) -> Option<Vec<Ratio>> {
    let Expansion { fermi, threshold, .. } = &of.product.expansion;
    let one_less = &of.facts.tables.expars.section4_3_one_less;
    let split = |kernel: &Kernel<'_>| -> Option<Split> {
        let split = fermi.vertical(&kernel.needs, *threshold).ok()??;
        if !as_printed || !one_less.iter().any(|name| name == kernel.name) {
            return Some(split);
        }
        let whole = fermi.baseline(&kernel.needs).ok()?.ctas.checked_sub(1)?;
        fermi.split(&kernel.needs, whole, split.ctas().checked_sub(whole)?)
    };
    let share = |kernel| Some(split(kernel)?.share_in_register_file(&kernel.needs));
    kernels.iter().map(share).collect()
}

pub(super) fn mixed_share(of: Context<'_>) -> Option<Vec<Row>> {
    let shares = shares(of, &kernels(of), true)?;
    Some(vec![Row::listed("mean share", mean_percent(&shares)?)])
}

pub(super) fn hardware(of: Context<'_>) -> Vec<Row> {
    let hardware = Hardware::of(&of.product.expansion.fermi);
    let printed = &of.facts.tables.expars.table2_sim.operand_cache;
    let bytes = |bits: u32| fixed(bits.into(), 8, 0);
    let words =
        |numbers: [u32; 4]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    vec![
        Row::beside(
            "operand cache, bytes, sets, ways, bits of a line",
            format!("{} {SETS} {BANKS} {LINE_BITS}", bytes(hardware.operand_cache_bits)),
            words([printed.bytes, printed.sets, printed.ways, printed.line_bits]),
        ),
        Row::beside(
            "bits of a tag",
            hardware.tag_bits_per_line.to_string(),
            printed.tag_bits.to_string(),
        ),
        Row::listed("bytes of tags", bytes(hardware.tag_bits())),
        Row::listed("bytes of bit vectors", bytes(hardware.bit_vector_bits)),
        Row::listed("bytes of base registers", bytes(hardware.base_register_bits)),
        Row::listed(
            "bits of Start_CTA, Start_Reg, Max_Reg, Warps_Per_CTA",
            words([
                hardware.start_cta_bits,
                hardware.register_bits,
                hardware.register_bits,
                hardware.warps_per_cta_bits,
            ]),
        ),
        Row::listed(
            "bits of the register allocation table",
            hardware.allocation_table_bits().to_string(),
        ),
        Row::listed("bytes of instruction counters", bytes(hardware.counter_bits)),
        Row::listed("bits of W_opt", hardware.limit_bits.to_string()),
    ]
}

/// Equation 9 where it is not the solution.
pub(super) fn equation_9(of: Context<'_>) -> Option<Numbers> {
    let Expansion { fermi, threshold, .. } = &of.product.expansion;
    let (mut literal, mut solved, mut totals) = (Vec::new(), Vec::new(), 0);
    for Kernel { name, needs, .. } in kernels(of) {
        let Printed { whole, mixed, denominator, .. } = printed(fermi, &needs, *threshold).ok()?;
        let (right, right_mixed) = corrected(fermi, &needs, *threshold).ok()?;
        totals += u32::from(whole + mixed * denominator != i64::from(right + right_mixed));
        if (whole, mixed) != (i64::from(right) * denominator, right_mixed.into()) {
            literal.push(format!("{name} {whole} + {mixed}"));
            solved.push(format!("{name} {right} + {right_mixed}"));
        }
    }
    Some(vec![
        ("whole and mixed CTAs by equation 9", literal.join(", ")),
        ("by equations 1, 2 and 5", solved.join(", ")),
        ("kernels of other totals", totals.to_string()),
    ])
}

/// Whole CTAs of the kernels of section 4.3 by the rule, and Figure 11's mean share with them
/// (DEV-106).
pub(super) fn hotspot_split(of: Context<'_>) -> Option<Numbers> {
    let Expansion { fermi, threshold, .. } = &of.product.expansion;
    let kernels = kernels(of);
    let one_less = &of.facts.tables.expars.section4_3_one_less;
    let (mut whole, mut baseline) = (Vec::new(), Vec::new());
    for kernel in kernels.iter().filter(|kernel| one_less.iter().any(|one| one == kernel.name)) {
        let split = fermi.vertical(&kernel.needs, *threshold).ok()??;
        whole.push(format!("{} {}", kernel.name, split.whole));
        baseline.push(fermi.baseline(&kernel.needs).ok()?.ctas.to_string());
    }
    Some(vec![
        ("whole CTAs by the rule", whole.join(", ")),
        ("CTAs of the baseline", baseline.join(", ")),
        ("mean share by the rule", mean_percent(&shares(of, &kernels, false)?)?),
        ("mean share as in the text", mean_percent(&shares(of, &kernels, true)?)?),
    ])
}

/// The oracle, and what its printed numbers need (DEV-104).
pub(super) fn oracle(of: Context<'_>) -> Option<Numbers> {
    let expansion = &of.product.expansion;
    let oracle = occupancies(of, |of, needs| of.fermi.oracle(needs).ok())?;
    let baseline = occupancies(of, WAYS[0].1)?;
    let ctas = |of: &[Occupancy]| of.iter().map(|one| u128::from(one.ctas)).sum::<u128>();
    let (own, before) = (ctas(&oracle), ctas(&baseline).max(1));
    let [_, _, both] = utilizations(expansion, &oracle)?;
    // The relation of means that are rounded to two decimals.
    let kernels = oracle.len().max(1) as u128;
    let rounded = |ctas: u128| (200 * ctas + kernels) / (2 * kernels);
    let more = fixed(rounded(own + 1), rounded(before).max(1), 4);
    let facts = &of.facts.tables.expars;
    // One CTA more of a kernel that makes the printed utilization, beyond other limits.
    let printed = fixed(scaled(facts.figure2_oracle.utilization, 2), 100, 2);
    let mut fitting = Vec::new();
    for (place, kernel) in self::kernels(of).iter().enumerate() {
        let mut with = oracle.clone();
        let one = with.get_mut(place)?;
        one.scratchpad_bytes +=
            u64::from(kernel.needs.registers) * 4 + u64::from(kernel.needs.scratchpad_bytes);
        if utilizations(expansion, &with)?[2] == printed {
            fitting.push(kernel.name);
        }
    }
    Some(vec![
        ("CTAs", own.to_string()),
        ("more than in the baseline", fixed(100 * own.saturating_sub(before), before, 2) + " %"),
        ("utilization", both + " %"),
        ("ratio of rounded means with one more CTA", more),
        ("kernels of which one more CTA makes the utilization", fitting.join(" or ")),
    ])
}

/// What a CTA's registers of ST come to, and averages with other numbers (DEV-105).
pub(super) fn st_registers(of: Context<'_>) -> Option<Numbers> {
    let expansion = &of.product.expansion;
    let place = kernels(of).iter().position(|kernel| kernel.name == "ST")?;
    let averages = |registers: Option<u32>, outside: Option<u32>| {
        let mut kernels = kernels(of);
        let needs = &mut kernels.get_mut(place)?.needs;
        needs.registers = registers.unwrap_or(needs.registers);
        let mut all = Vec::new();
        for kernel in &kernels {
            all.push(expars(expansion, &kernel.needs)?);
        }
        if let Some(outside) = outside {
            all.get_mut(place)?.scratchpad_bytes = u64::from(outside) * 4;
        }
        let share = mean_percent(&shares(of, &kernels, true)?)?;
        let [registers, scratchpad, both] = utilizations(expansion, &all)?;
        Some((registers, scratchpad, both, share))
    };
    let all = |(registers, scratchpad, both, share)| {
        format!("{registers} {scratchpad} {both} and {share}")
    };
    let needs = kernels(of).get(place)?.needs;
    let lanes = needs.warps() * LANES;
    let split = expansion.fermi.vertical(&needs, expansion.threshold).ok()??;
    let whole = needs.registers / lanes;
    let outside = (whole + 1).checked_sub(split.start_register)?;
    let (_, scratchpad, both, _) = averages(None, Some(outside * lanes * split.mixed))?;
    Some(vec![
        ("registers of a thread", fixed(needs.registers.into(), lanes.into(), 3)),
        ("averages as printed: registers, scratchpad, both, and Figure 11's share", {
            all(averages(None, None)?)
        }),
        ("with whole registers, rounded down", all(averages(Some(whole * lanes), None)?)),
        ("whole registers of a thread in scratchpad memory, rounded up", outside.to_string()),
        ("with them: scratchpad, both", format!("{scratchpad} and {both}")),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_ratios_by_hand() {
        let ratios = [Ratio::new(1, 2), Ratio::new(1, 3), Ratio::new(1, 6)];
        assert_eq!(sum(ratios), Some((6, 6)));
        assert_eq!(mean_percent(&ratios).as_deref(), Some("33.33"));
        assert_eq!(mean_percent(&[]), None);
        assert_eq!(sum([Ratio::new(1, 0)]), None);
        // Denominators without common factors whose product does not fit.
        let many = [u64::MAX, u64::MAX - 1, u64::MAX - 2].map(|large| Ratio::new(1, large));
        assert_eq!(sum(many), None);
        assert_eq!(mean([1, 2].into_iter()), "1.50");
    }
}
