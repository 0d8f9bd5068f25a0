//! Designs: every choice on the controls, resolved as a command line resolves its text.

use std::collections::HashMap;
use std::hash::Hash;

use rayon::prelude::*;
use strata_compiler::hierarchy::HierarchyConfig;
use strata_core::energy::EnergyTable;
use strata_core::organisation::Organisation;
use strata_explorer::{Axis, Catalogue, Counted, Refused, Setting};

use super::controls::{CONTROLS, Control, LEVELS};
use super::encoding::defect;
use strata_config::ConfigError;
use strata_design::{self as design, Design};
use strata_files::failure::Failure;

/// What the page offers, and what kernels are fitted to for it.
pub struct Designs {
    /// For the page.
    pub catalogue: Catalogue,
    /// What [`Counted::fit`] counts.
    pub fits: Vec<HierarchyConfig>,
}

/// What a design comes to.
struct Resolved {
    organisation: Organisation,
    fit: Option<HierarchyConfig>,
    energy: Result<EnergyTable, String>,
    flat: Result<EnergyTable, String>,
}

/// Every choice on the controls.
///
/// # Errors
/// More distinct parts than a page can number, which is a defect.
pub fn resolved() -> Result<Designs, Failure> {
    let axes: Vec<Axis> = CONTROLS.iter().map(Control::axis).collect();
    let mut catalogue = Catalogue {
        axes,
        levels: LEVELS as u8,
        settings: Vec::new(),
        refused: Vec::new(),
        organisations: Vec::new(),
        energies: Vec::new(),
    };
    let one = |place| {
        let choice = catalogue.choice(place);
        let text = choice.and_then(|choice| catalogue.design(&choice).ok());
        text.map_or_else(|| Err(Failure::internal("a choice has no design")), |text| outcome(&text))
    };
    let all: Vec<_> = (0..catalogue.len().unwrap_or(0)).into_par_iter().map(one).collect();
    let (mut refused, mut fits) = (Distinct::new(), Distinct::new());
    let (mut organisations, mut energies) = (Distinct::new(), Distinct::new());
    for outcome in all {
        catalogue.settings.push(match outcome? {
            Err(reason) => Setting::Refused(refused.place(reason)?),
            Ok(Resolved { organisation, fit, energy, flat }) => Setting::Counted(Counted {
                organisation: organisations.place(organisation)?,
                fit: fit.map(|fit| fits.place(fit)).transpose()?,
                energy: energies.place(energy)?,
                flat: energies.place(flat)?,
            }),
        });
    }
    catalogue.refused = refused.all.into_iter().map(told).collect();
    (catalogue.organisations, catalogue.energies) = (organisations.all, energies.all);
    let bytes = catalogue.encode().map_err(|problem| defect(&problem))?;
    if Catalogue::decode(&bytes).as_ref() != Ok(&catalogue) {
        return Err(Failure::internal("the explorer's designs are not what was written of them"));
    }
    Ok(Designs { catalogue, fits: fits.all })
}

/// What a text comes to: a design, or a message and a hint.
fn outcome(text: &str) -> Result<Result<Resolved, [String; 2]>, Failure> {
    let refuse = |error: ConfigError| {
        let told = |message: &str| message.replace(text, "{}");
        [told(&error.to_string()), told(error.hint().unwrap_or_default())]
    };
    let design = match design::resolve(text) {
        Ok(design) => design,
        Err(error) => return Ok(Err(refuse(error))),
    };
    if let Err(error) = design.countable() {
        return Ok(Err(refuse(error)));
    }
    of(&design).map(Ok)
}

fn of(design: &Design) -> Result<Resolved, Failure> {
    if design.partial_warp_energy || design.sorted_registers {
        return Err(Failure::internal(&format!("the explorer does not count `{}`", design.name)));
    }
    let config = |managed: design::Managed| {
        let table = design.placement_energy.as_ref();
        let table = table.map_err(|reason| Failure::internal(&reason.to_string()))?;
        Ok::<_, Failure>(managed.config(table))
    };
    Ok(Resolved {
        organisation: *design.organisation(),
        fit: design.managed.map(config).transpose()?,
        energy: design.energy.clone().map_err(|reason| reason.0),
        flat: design.baseline().energy.map_err(|reason| reason.0),
    })
}

fn told([message, hint]: [String; 2]) -> Refused {
    Refused { message, hint }
}

/// Values, each once.
struct Distinct<T> {
    all: Vec<T>,
    places: HashMap<T, u16>,
}

impl<T: Clone + Eq + Hash> Distinct<T> {
    fn new() -> Self {
        Self { all: Vec::new(), places: HashMap::new() }
    }

    /// Where a value is among them.
    fn place(&mut self, value: T) -> Result<u16, Failure> {
        if let Some(place) = self.places.get(&value) {
            return Ok(*place);
        }
        let place = u16::try_from(self.all.len());
        let place = place.map_err(|_| Failure::internal("too many parts of designs to number"))?;
        self.all.push(value.clone());
        self.places.insert(value, place);
        Ok(place)
    }
}
