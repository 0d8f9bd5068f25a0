//! The axis of the values: round numbers that hold all that is drawn.

use crate::reproduce::figure::{Figure, Kind};

/// Steps of the grid, about.
const STEPS: f64 = 6.0;

/// Distance of numbers of a grid from which on they are written with an exponent.
const LARGE: f64 = 1e5;

/// From where to where values are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    least: f64,
    most: f64,
    step: f64,
}

impl Axis {
    /// An axis with all values of a figure; bars begin at 0.
    pub(super) fn of(figure: &Figure) -> Self {
        let mut values: Vec<f64> = match figure.kind {
            Kind::Stacked => (0..figure.ticks.len())
                .map(|at| {
                    let parts = figure.series.iter().filter_map(|one| one.values.get(at)?.as_ref());
                    parts.sum()
                })
                .collect(),
            Kind::Lines | Kind::Bars => {
                figure.series.iter().flat_map(|one| one.values.iter().flatten().copied()).collect()
            }
        };
        for series in &figure.series {
            let deviations = series.deviations.iter().flatten().flatten();
            let values_of = series.values.iter().flatten();
            for (value, deviation) in values_of.zip(deviations) {
                values.extend([value - deviation, value + deviation]);
            }
        }
        values.extend(figure.bands.iter().flat_map(|band| band.range));
        values.retain(|value| value.is_finite());
        let (least, most) = values
            .iter()
            .fold((0.0_f64, 0.0_f64), |(least, most), &value| (least.min(value), most.max(value)));
        Self::over(least, most)
    }

    fn over(least: f64, most: f64) -> Self {
        // Nothing is drawn on an axis as well.
        let most = if most > least { most } else { least + 1.0 };
        let rough = (most - least) / STEPS;
        let power = 10_f64.powf(rough.log10().floor());
        let round =
            [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|of| rough <= of * power * 1.000_001);
        let step = round.unwrap_or(10.0) * power;
        // Sums of rounded parts may be a little more than a whole.
        let noise = 1e-6;
        let [low, high] = [(least / step + noise).floor(), (most / step - noise).ceil()];
        Self { least: low * step, most: high * step, step }
    }

    /// Where bars begin.
    pub(super) fn base(&self) -> f64 {
        0.0_f64.clamp(self.least, self.most)
    }

    /// 0 at the bottom, 1 at the top.
    pub(super) fn share(&self, value: f64) -> f64 {
        (value.clamp(self.least, self.most) - self.least) / (self.most - self.least)
    }

    /// Numbers at the grid.
    pub(super) fn ticks(&self) -> impl Iterator<Item = f64> + use<> {
        let Self { least, most, step } = *self;
        let count = ((most - least) / step).round() as usize;
        (0..=count).map(move |at| least + step * at as f64)
    }

    /// A number of the grid in words.
    pub(super) fn label(&self, tick: f64) -> String {
        let decimals = (0..4).find(|&decimals| {
            let scaled = self.step * 10_f64.powi(decimals);
            (scaled - scaled.round()).abs() < 1e-6
        });
        let decimals = decimals.unwrap_or(4) as usize;
        let tick = if tick.abs() < self.step * 1e-6 { 0.0 } else { tick };
        if self.step >= LARGE && tick != 0.0 {
            return format!("{tick:.2e}");
        }
        format!("{tick:.decimals$}")
    }
}

/// A value in words: three or four digits that count.
pub(super) fn number(value: f64) -> String {
    let decimals = match value.abs() {
        large if large >= 100.0 => 1,
        large if large >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_round_and_hold_what_is_drawn() {
        for (least, most, ticks) in [
            (0.0, 100.000_001, vec!["0", "20", "40", "60", "80", "100"]),
            (0.0, 1.23, vec!["0.00", "0.25", "0.50", "0.75", "1.00", "1.25"]),
            (-7.0, 12.0, vec!["-10", "-5", "0", "5", "10", "15"]),
            (0.0, 2.4e10, vec!["0", "5.00e9", "1.00e10", "1.50e10", "2.00e10", "2.50e10"]),
            (0.0, 0.0, vec!["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ] {
            let axis = Axis::over(least, most);
            let own: Vec<String> = axis.ticks().map(|tick| axis.label(tick)).collect();
            assert_eq!(own, ticks, "{least} to {most}: {axis:?}");
            assert!(axis.least <= least + 1e-4 && axis.most >= most - 1e-4, "{axis:?}");
            assert!((axis.share(axis.least), axis.share(axis.most)) == (0.0, 1.0), "{axis:?}");
        }
    }
}
