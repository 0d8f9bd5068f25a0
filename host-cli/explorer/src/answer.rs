//! Answer: an input counted under a choice.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;
use core::fmt::Write as _;

use strata_core::count::count_path;
use strata_core::energy::{EnergyBreakdown, EnergyTable};
use strata_core::event::Counters;
use strata_core::image::{CheckedImage, KernelImage};
use strata_core::organisation::Organisation;
use strata_core::units::LaneMask;

use crate::{Catalogue, Counted, Input, Kernel, Problem, Setting};

/// What a design makes of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What was counted.
    pub counters: Counters,
    /// What it costs, or why that is not known.
    pub energy: Result<EnergyBreakdown, String>,
    /// What the flat main register file would cost, where that is known. Unit: femtojoules.
    pub flat_fj: Option<u64>,
}

impl Kernel {
    fn image(&self) -> Result<CheckedImage<'_>, Problem> {
        let Self { instructions, slots, registers, .. } = self;
        Ok(CheckedImage::new(KernelImage { instructions, slots, registers: *registers })?)
    }

    /// The counts of all warps; `fit` is what it is fitted to.
    fn count(&self, organisation: &Organisation, fit: Option<u16>) -> Result<Counters, Problem> {
        let mut image = self.image()?;
        if let Some(fit) = fit {
            let fitted = self.fits.get(usize::from(fit));
            let placements = fitted.and_then(|&place| self.placements.get(usize::from(place)));
            image = image.with_placements(placements.ok_or(Problem::Missing("placement"))?)?;
        }
        let mut pending = vec![LaneMask::EMPTY; usize::from(self.registers)];
        self.paths.iter().try_fold(Counters::default(), |total, path| {
            let steps = path.steps.iter().copied();
            let counters = count_path(organisation, image, &mut pending, steps)?;
            Ok(total.checked_add(&counters.checked_mul(path.warps)?)?)
        })
    }
}

impl Input {
    fn count(&self, organisation: &Organisation, fit: Option<u16>) -> Result<Counters, Problem> {
        self.kernels.iter().try_fold(Counters::default(), |total, kernel| {
            Ok(total.checked_add(&kernel.count(organisation, fit)?)?)
        })
    }
}

/// An input counted under a design of a catalogue.
///
/// # Errors
/// Bytes that do not fit each other, or that the core refuses.
pub fn answer(catalogue: &Catalogue, input: &Input, counted: Counted) -> Result<Answer, Problem> {
    let organisation = catalogue.organisations.get(usize::from(counted.organisation));
    let organisation = organisation.ok_or(Problem::Missing("organisation"))?;
    let table = |place: u16| {
        let table = catalogue.energies.get(usize::from(place));
        table.ok_or(Problem::Missing("energy table"))
    };
    let price = |table: &EnergyTable, counters: &Counters| table.energy(counters);
    let counters = input.count(organisation, counted.fit)?;
    let energy = match table(counted.energy)? {
        Ok(table) => Ok(price(table, &counters)?),
        Err(reason) => Err(reason.clone()),
    };
    let flat_fj = match table(counted.flat)? {
        Ok(table) => Some(price(table, &input.count(&Organisation::FLAT, None)?)?.total().0),
        Err(_) => None,
    };
    Ok(Answer { counters, energy, flat_fj })
}

/// Counts the input of some bytes under a choice in a catalogue of some bytes, and answers in
/// lines, whose fields are separated by tabs: `design`, `command`; then `refused` and perhaps
/// `hint`, or `digest`, `flat` (the energy of the flat main register file), `relative` (percent of
/// that), `unavailable`, and the names and numbers of `counter`s and of parts of `energy`. Energies
/// are femtojoules. What is not known has no line.
///
/// # Errors
/// Bytes that no host wrote, that do not fit each other, or that the core refuses.
pub fn explore(catalogue: &[u8], input: &[u8], choice: &[u8]) -> Result<String, Problem> {
    let (catalogue, input) = (Catalogue::decode(catalogue)?, Input::decode(input)?);
    let place = catalogue.place(choice)?;
    let design = catalogue.design(choice)?;
    let quote = if design.contains(',') { "'" } else { "" };
    let mut text = format!(
        "design\t{design}\ncommand\tstrata run {} --design {quote}{design}{quote} --scale {}\n",
        input.workload, input.scale
    );
    match catalogue.settings[place] {
        Setting::Refused(reason) => {
            let reason = catalogue.refused.get(usize::from(reason));
            let reason = reason.ok_or(Problem::Missing("reason"))?;
            line(&mut text, &["refused", &reason.message.replace("{}", &design)]);
            if !reason.hint.is_empty() {
                line(&mut text, &["hint", &reason.hint.replace("{}", &design)]);
            }
        }
        Setting::Counted(counted) => tell(&mut text, &answer(&catalogue, &input, counted)?),
    }
    Ok(text)
}

fn tell(text: &mut String, answer: &Answer) {
    line(text, &["digest", &answer.counters.digest().to_string()]);
    if let Some(flat) = answer.flat_fj {
        line(text, &["flat", &flat.to_string()]);
    }
    match &answer.energy {
        Err(reason) => line(text, &["unavailable", reason]),
        Ok(energy) => {
            if let Some(percent) = answer.flat_fj.and_then(|flat| percent(energy.total().0, flat)) {
                line(text, &["relative", &percent]);
            }
            for (part, energy) in energy.parts() {
                line(text, &["energy", &part.to_string(), &energy.0.to_string()]);
            }
            line(text, &["energy", "total", &energy.total().0.to_string()]);
        }
    }
    for (name, count) in answer.counters.iter() {
        line(text, &["counter", name, &count.to_string()]);
    }
}

fn line(text: &mut String, fields: &[&str]) {
    for (place, field) in fields.iter().enumerate() {
        if place != 0 {
            text.push('\t');
        }
        let plain = field.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
        text.extend(plain);
    }
    text.push('\n');
}

/// `part` in percent of `whole` with six decimals, rounded to nearest; none of nothing.
fn percent(part: u64, whole: u64) -> Option<String> {
    let (part, whole) = (u128::from(part) * 100_000_000, u128::from(whole));
    let millionths = (2 * part + whole).checked_div(2 * whole)?;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(text, "{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_have_six_decimals() {
        assert_eq!(percent(2, 3).as_deref(), Some("66.666667"));
        assert_eq!(percent(1, 3).as_deref(), Some("33.333333"));
        assert_eq!(percent(u64::MAX, 1).as_deref(), Some("1844674407370955161500.000000"));
        assert_eq!(percent(0, 7).as_deref(), Some("0.000000"));
        assert_eq!(percent(1, 0), None);
    }

    #[test]
    fn what_a_field_holds_never_ends_its_line() {
        let mut text = String::new();
        line(&mut text, &["a", "b\nc\td"]);
        assert_eq!(text, "a\tb c d\n");
    }
}
