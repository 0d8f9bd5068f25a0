//! What a table has to keep: names are there once and known, nothing overlaps, and codes fit.

use super::map::{Codes, DESIGNS, Field, Map, Register, SOURCE, Sum};

impl Map {
    /// Says what is wrong with the table.
    pub(super) fn check(&self) -> Result<(), String> {
        once("counters", self.counters.iter().map(|counter| counter.name.as_str()))?;
        once("lists of codes", self.codes.iter().map(|codes| codes.name.as_str()))?;
        self.codes.iter().try_for_each(check_codes)?;
        self.sums.iter().try_for_each(|sum| self.check_sum(sum))?;
        let mut free = 0;
        for register in &self.registers {
            let Register { name, address, words, access, .. } = register;
            if !["read", "write", "read, write"].contains(&access.as_str()) {
                return Err(format!(
                    "{SOURCE}: {name}: `access` is read, write, or both with a comma, not \
                     `{access}`"
                ));
            }
            if address % 4 != 0 || *address < free {
                return Err(format!(
                    "{SOURCE}: {name} is at {address:#05x}: addresses are multiples of 4 and go \
                     up; the first that is free is {free:#05x}"
                ));
            }
            free = address + 4 * words;
            self.check_fields(register)?;
        }
        Ok(())
    }

    fn check_fields(&self, Register { name, fields, .. }: &Register) -> Result<(), String> {
        let mut first_free = 0;
        for Field { name: field, bit, width, codes, .. } in fields {
            if *bit < first_free || *width == 0 || bit + width > 32 {
                return Err(format!(
                    "{SOURCE}: {name}.{field} does not fit: bit {bit}, width {width}, free from \
                     bit {first_free} on"
                ));
            }
            first_free = bit + width;
            if let Some(codes) = codes
                && !self.codes.iter().any(|other| (&other.name, other.width) == (codes, *width))
            {
                return Err(format!(
                    "{SOURCE}: {name}.{field}: there are no codes `{codes}` of {width} bits"
                ));
            }
        }
        Ok(())
    }

    fn check_sum(&self, Sum { of, counters, .. }: &Sum) -> Result<(), String> {
        if !DESIGNS.iter().any(|(design, _)| design == of) {
            return Err(format!("{SOURCE}: a sum is `of` designs that are not known: `{of}`"));
        }
        match counters.iter().find(|name| !self.counters.iter().any(|other| other.name == **name)) {
            Some(name) => Err(format!("{SOURCE}: a sum has `{name}`, which is no counter")),
            None => Ok(()),
        }
    }
}

fn check_codes(Codes { name, width, values, .. }: &Codes) -> Result<(), String> {
    once(&format!("codes of {name}"), values.iter().map(|value| value.name.as_str()))?;
    if *width == 0 || *width > 8 || values.len() > 1 << width {
        return Err(format!(
            "{SOURCE}: {name}: {} codes do not fit {width} bits of 8 at most",
            values.len()
        ));
    }
    Ok(())
}

/// No two of these have one name.
fn once<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen = Vec::new();
    for name in names {
        if seen.contains(&name) {
            return Err(format!("{SOURCE}: two {what} are called `{name}`"));
        }
        seen.push(name);
    }
    Ok(())
}
