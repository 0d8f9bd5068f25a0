//! Catalogue: the designs that a page offers, each as the host has resolved it.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use strata_core::energy::EnergyTable;
use strata_core::organisation::Organisation;

use crate::Problem;
use crate::encoded::{Organised, Table, from_bytes, to_bytes};

/// One control of the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// What each choice adds to the text that names a design.
    pub texts: Vec<String>,
    /// Bit `n`: it matters with choice `n` of the axis of levels.
    pub applies: u32,
}

/// What a choice on all axes comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Setting {
    /// The command line refuses the design: a place in [`Catalogue::refused`].
    Refused(u16),
    /// It is counted.
    Counted(Counted),
}

/// A design to count: places in the catalogue's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// In [`Catalogue::organisations`].
    pub organisation: u16,
    /// What kernels are fitted to, if the compiler manages its levels: a place in
    /// [`crate::Kernel::fits`].
    pub fit: Option<u16>,
    /// In [`Catalogue::energies`].
    pub energy: u16,
    /// In [`Catalogue::energies`]: that of the flat main register file it is compared with.
    pub flat: u16,
}

/// Why the command line refuses a design, as it says so. `{}` stands for the design.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The message.
    pub message: String,
    /// The hint; empty where there is none.
    pub hint: String,
}

/// All designs that are offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// The controls, in the order in which their texts follow each other.
    pub axes: Vec<Axis>,
    /// The one among them that chooses the levels.
    pub levels: u8,
    /// Every choice, in the order of [`Self::choice`].
    pub settings: Vec<Setting>,
    /// Why some are refused.
    pub refused: Vec<Refused>,
    /// Distinct organisations.
    pub organisations: Vec<Organisation>,
    /// Distinct energy tables, or why the energy is not known.
    pub energies: Vec<Result<EnergyTable, String>>,
}

#[derive(Serialize, Deserialize)]
struct Encoded {
    axes: Vec<Axis>,
    levels: u8,
    settings: Vec<Setting>,
    refused: Vec<Refused>,
    organisations: Vec<Organised>,
    energies: Vec<Result<Table, String>>,
}

impl Catalogue {
    /// How many choices there are with each choice of the levels, one after the other; nothing of
    /// an axis without choices, or of too many.
    fn sizes(&self) -> impl Iterator<Item = Option<usize>> {
        let levels = self.axes.get(usize::from(self.levels)).map_or(0, |axis| axis.texts.len());
        (0..levels).map(|level| {
            self.inner(level).try_fold(1_usize, |size, (_, axis)| {
                size.checked_mul(axis.texts.len()).filter(|&size| size != 0)
            })
        })
    }

    /// The axes that matter with a choice of the levels, apart from that of the levels itself.
    fn inner(&self, level: usize) -> impl Iterator<Item = (usize, &Axis)> {
        let all = self.axes.iter().enumerate();
        all.filter(move |&(place, axis)| {
            place != usize::from(self.levels)
                && u32::checked_shr(axis.applies, level as u32).is_some_and(|bits| bits & 1 == 1)
        })
    }

    /// How many choices there are.
    pub fn len(&self) -> Option<usize> {
        self.sizes().try_fold(0_usize, |sum, size| sum.checked_add(size?))
    }

    /// Whether nothing can be chosen.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// A choice on each axis by its place among all; 0 on axes that do not matter. None for a place
    /// out of range.
    pub fn choice(&self, mut place: usize) -> Option<Vec<u8>> {
        for (level, size) in self.sizes().enumerate() {
            let size = size?;
            if place < size {
                let mut choice = alloc::vec![0; self.axes.len()];
                *choice.get_mut(usize::from(self.levels))? = u8::try_from(level).ok()?;
                let inner: Vec<_> = self.inner(level).collect();
                for (at, axis) in inner.into_iter().rev() {
                    choice[at] = u8::try_from(place % axis.texts.len()).ok()?;
                    place /= axis.texts.len();
                }
                return Some(choice);
            }
            place -= size;
        }
        None
    }

    /// The place of a choice: [`Self::choice`]'s, whatever is chosen on axes that do not matter.
    ///
    /// # Errors
    /// [`Problem::Choice`] if there is no such choice.
    pub fn place(&self, choice: &[u8]) -> Result<usize, Problem> {
        let given = self.axes.iter().zip(choice);
        let fits = given.fold(self.axes.len() == choice.len(), |fits, (axis, &chosen)| {
            fits && usize::from(chosen) < axis.texts.len()
        });
        let level = choice.get(usize::from(self.levels)).copied().filter(|_| fits);
        let level = usize::from(level.ok_or(Problem::Choice)?);
        let before = self.sizes().take(level).try_fold(0_usize, |sum, size| sum.checked_add(size?));
        let within = self.inner(level).try_fold(0_usize, |place, (at, axis)| {
            place.checked_mul(axis.texts.len())?.checked_add(usize::from(choice[at]))
        });
        before.zip(within).and_then(|(a, b)| a.checked_add(b)).ok_or(Problem::Choice)
    }

    /// The text that names the design of a choice on a command line.
    ///
    /// # Errors
    /// [`Problem::Choice`] if there is no such choice.
    pub fn design(&self, choice: &[u8]) -> Result<String, Problem> {
        self.place(choice)?;
        let level = usize::from(choice[usize::from(self.levels)]);
        let mut text = String::new();
        for (place, (axis, &chosen)) in self.axes.iter().zip(choice).enumerate() {
            let matters = self.inner(level).any(|(at, _)| at == place);
            if matters || place == usize::from(self.levels) {
                text.push_str(&axis.texts[usize::from(chosen)]);
            }
        }
        Ok(text)
    }

    /// Its bytes.
    ///
    /// # Errors
    /// None that a value has: postcard takes every one.
    pub fn encode(&self) -> Result<Vec<u8>, Problem> {
        let Self { axes, levels, settings, refused, organisations, energies } = self;
        let energy = |energy: &Result<EnergyTable, String>| match energy {
            Ok(table) => Ok(Table::from(table)),
            Err(reason) => Err(reason.clone()),
        };
        let encoded = Encoded {
            axes: axes.clone(),
            levels: *levels,
            settings: settings.clone(),
            refused: refused.clone(),
            organisations: organisations.iter().map(Organised::from).collect(),
            energies: energies.iter().map(energy).collect(),
        };
        to_bytes(&encoded, "catalogue")
    }

    /// What bytes say.
    ///
    /// # Errors
    /// Bytes that [`Self::encode`] does not write; settings for other choices than the axes have.
    pub fn decode(bytes: &[u8]) -> Result<Self, Problem> {
        let encoded: Encoded = from_bytes(bytes, "catalogue")?;
        let energy = |energy: Result<Table, String>| match energy {
            Ok(table) => table.decoded().map(Ok),
            Err(reason) => Ok(Err(reason)),
        };
        let organisations = encoded.organisations.iter().map(Organised::decoded);
        let energies = encoded.energies.into_iter().map(energy);
        let catalogue = Self {
            axes: encoded.axes,
            levels: encoded.levels,
            settings: encoded.settings,
            refused: encoded.refused,
            organisations: organisations.collect::<Result<_, _>>()?,
            energies: energies.collect::<Result<_, _>>()?,
        };
        if catalogue.len() != Some(catalogue.settings.len()) {
            return Err(Problem::Malformed("catalogue"));
        }
        Ok(catalogue)
    }
}
