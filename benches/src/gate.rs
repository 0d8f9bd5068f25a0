//! Gates: how many host instructions a simulated warp instruction may cost.
//!
//! An instruction count, unlike a time, is the same on a loaded machine. It still depends on the
//! compiler, so a budget has a tolerance to both sides: above it the gate fails, below it the
//! budget is due to be tightened.

use std::collections::BTreeMap;

/// Budgets of all gates.
#[derive(Clone, Debug, PartialEq)]
pub struct Budgets {
    /// How far a measurement may lie from its budget. Unit: percent.
    pub tolerance_percent: f64,
    /// By the name of the work. Unit: host instructions for each warp instruction.
    pub instructions: BTreeMap<String, f64>,
}

/// A budget file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetError(pub String);

impl std::fmt::Display for BudgetError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "gates.toml: {}", self.0)
    }
}

impl std::error::Error for BudgetError {}

impl Budgets {
    /// Reads the text of `gates.toml`.
    pub fn parse(text: &str) -> Result<Self, BudgetError> {
        let table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| BudgetError(error.to_string()))?;
        let tolerance_percent = table
            .get("tolerance_percent")
            .and_then(positive)
            .ok_or_else(|| BudgetError("`tolerance_percent` is no positive number".into()))?;
        let gates = table
            .get("instructions_per_warp_instruction")
            .and_then(toml::Value::as_table)
            .ok_or_else(|| {
                BudgetError("no table `instructions_per_warp_instruction`".to_owned())
            })?;
        let mut instructions = BTreeMap::new();
        for (name, value) in gates {
            let budget = positive(value)
                .ok_or_else(|| BudgetError(format!("`{name}` is no positive number")))?;
            instructions.insert(name.clone(), budget);
        }
        Ok(Self { tolerance_percent, instructions })
    }
}

fn positive(value: &toml::Value) -> Option<f64> {
    let number = match value {
        toml::Value::Integer(number) => *number as f64,
        toml::Value::Float(number) => *number,
        _ => return None,
    };
    (number > 0.0 && number.is_finite()).then_some(number)
}

/// How a measurement compares with its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the tolerance.
    Held,
    /// More than the budget allows.
    Exceeded,
    /// So much less that the budget no longer guards anything.
    TightenBudget,
}

/// Compares.
pub fn judge(measured: f64, budget: f64, tolerance_percent: f64) -> Verdict {
    let tolerance = budget * tolerance_percent / 100.0;
    if measured > budget + tolerance {
        Verdict::Exceeded
    } else if measured < budget - tolerance {
        Verdict::TightenBudget
    } else {
        Verdict::Held
    }
}

/// The instruction count in what valgrind's tool cachegrind prints: `==12== I   refs:  1,234`.
pub fn instructions_of_report(report: &str) -> Option<u64> {
    report.lines().find_map(|line| {
        let (label, number) = line.split_once("refs:")?;
        if !label.trim_end().ends_with('I') {
            return None;
        }
        number.trim().replace(',', "").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read() {
        let text = "tolerance_percent = 10\n[instructions_per_warp_instruction]\na = 12\nb = 1.5\n";
        let budgets = Budgets::parse(text).expect("a good file");
        assert!((budgets.tolerance_percent - 10.0).abs() < 1e-9);
        assert_eq!(budgets.instructions.keys().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn bad_budgets_are_refused_by_name() {
        for (text, part) in [
            ("", "tolerance_percent"),
            ("tolerance_percent = 0", "tolerance_percent"),
            ("tolerance_percent = 1", "no table"),
            ("tolerance_percent = 1\n[instructions_per_warp_instruction]\na = \"x\"", "`a`"),
            ("tolerance_percent = 1\n[instructions_per_warp_instruction]\na = -1", "`a`"),
            ("tolerance_percent = 1\n[instructions_per_warp_instruction]\na = nan", "`a`"),
        ] {
            let BudgetError(message) = Budgets::parse(text).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn a_gate_fails_above_its_tolerance_only() {
        assert_eq!(judge(110.0, 100.0, 10.0), Verdict::Held);
        assert_eq!(judge(110.1, 100.0, 10.0), Verdict::Exceeded);
        assert_eq!(judge(90.0, 100.0, 10.0), Verdict::Held);
        assert_eq!(judge(89.9, 100.0, 10.0), Verdict::TightenBudget);
    }

    #[test]
    fn the_tool_s_report_is_read() {
        let report = "==7== Cachegrind\n==7== \n==7== I   refs:      12,345,678\n";
        assert_eq!(instructions_of_report(report), Some(12_345_678));
        assert_eq!(instructions_of_report("==7== D   refs:      1\n"), None);
        assert_eq!(instructions_of_report(""), None);
    }

    #[test]
    fn every_piece_of_work_has_a_budget_and_the_other_way_round() {
        let budgets = Budgets::parse(include_str!("../gates.toml")).expect("the committed budgets");
        let budgets: Vec<&str> = budgets.instructions.keys().map(String::as_str).collect();
        let mut work: Vec<&str> =
            crate::WORK.iter().copied().flatten().map(|work| work.name).collect();
        work.sort_unstable();
        assert_eq!(work, budgets);
    }
}
