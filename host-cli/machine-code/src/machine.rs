//! The machines whose code is known.

/// A machine whose code `nvdisasm` 13.5 reads, in order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Machine {
    /// Turing.
    Sm75,
    /// Ampere, A100.
    Sm80,
    /// Ampere, GeForce RTX 30.
    Sm86,
    /// Ada.
    Sm89,
    /// Hopper.
    Sm90,
    /// Blackwell, B200.
    Sm100,
    /// Blackwell, B300.
    Sm103,
    /// Blackwell, Thor.
    Sm110,
    /// Blackwell, GeForce RTX 50.
    Sm120,
    /// Blackwell, GB10.
    Sm121,
}

impl Machine {
    /// Every machine, in order.
    pub const ALL: [Self; 10] = [
        Self::Sm75,
        Self::Sm80,
        Self::Sm86,
        Self::Sm89,
        Self::Sm90,
        Self::Sm100,
        Self::Sm103,
        Self::Sm110,
        Self::Sm120,
        Self::Sm121,
    ];

    /// Ten times the compute capability.
    pub const fn number(self) -> u32 {
        match self {
            Self::Sm75 => 75,
            Self::Sm80 => 80,
            Self::Sm86 => 86,
            Self::Sm89 => 89,
            Self::Sm90 => 90,
            Self::Sm100 => 100,
            Self::Sm103 => 103,
            Self::Sm110 => 110,
            Self::Sm120 => 120,
            Self::Sm121 => 121,
        }
    }

    /// The machine of a number, if it is one of the ten.
    pub fn of(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|machine| machine.number() == number)
    }

    /// The machine whose code is nearest to that of a number: itself, or the last one before it, or
    /// the first.
    pub fn nearest(number: u32) -> Self {
        let before = Self::ALL.into_iter().rev().find(|machine| machine.number() <= number);
        before.unwrap_or(Self::Sm75)
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "sm_{}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_its_machine_or_the_one_before() {
        for machine in Machine::ALL {
            assert_eq!(Machine::of(machine.number()), Some(machine));
            assert_eq!(Machine::nearest(machine.number()), machine);
        }
        assert!(Machine::ALL.is_sorted());
        for (number, nearest) in [
            (10, Machine::Sm75),
            (70, Machine::Sm75),
            (87, Machine::Sm86),
            (101, Machine::Sm100),
            (999, Machine::Sm121),
        ] {
            assert_eq!((Machine::of(number), Machine::nearest(number)), (None, nearest));
        }
    }
}
