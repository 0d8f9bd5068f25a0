//! Mutants: small mistakes in the hardware that its properties have to notice.

use toml::{Table, Value};

use super::{folder, read as read_file};
use crate::process::Failure;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    /// What it is called.
    pub(crate) name: String,
    /// What is wrong with it, in words.
    pub(crate) breaks: String,
    /// The file that it changes, in the folder of the modules.
    pub(crate) file: String,
    /// A text that occurs once in that file.
    pub(crate) find: String,
    /// What stands there instead.
    pub(crate) replace: String,
    /// The property that has to fail, such as `A7`.
    pub(crate) killed_by: String,
}

impl Mutant {
    /// The module's text with the mistake in it.
    pub(crate) fn apply(&self, text: &str) -> Result<String, String> {
        match text.matches(&self.find).count() {
            1 => Ok(text.replacen(&self.find, &self.replace, 1)),
            count => Err(format!("{}: its text occurs {count} times, not once", self.name)),
        }
    }
}

/// The mutants of a block.
pub(crate) fn read(block: &str) -> Result<Vec<Mutant>, Failure> {
    let path = folder().join("mutants").join(format!("{block}.toml"));
    parse(block, &read_file(&path)?).map_err(|why| Failure(format!("{}: {why}", path.display())))
}

fn parse(block: &str, text: &str) -> Result<Vec<Mutant>, String> {
    let table: Table = text.parse().map_err(|error| format!("{error}"))?;
    let Some(Value::Array(mutants)) = table.get("mutant") else {
        return Err("there is no list `[[mutant]]`".to_owned());
    };
    let of = |value: &Value| {
        let table = value.as_table().ok_or("a mutant is no table")?;
        let string = |key: &str| {
            let value = table.get(key).and_then(Value::as_str);
            value.map(str::to_owned).ok_or_else(|| format!("a mutant lacks the text `{key}`"))
        };
        Ok(Mutant {
            name: string("name")?,
            breaks: string("breaks")?,
            // Where a block is proved with those below it, one of theirs.
            file: string("file").unwrap_or_else(|_| format!("{block}.sv")),
            find: string("find")?,
            replace: string("replace")?,
            killed_by: string("killed_by")?,
        })
    };
    mutants.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "[[mutant]]\nname = 'n'\nbreaks = 'b'\nfind = 'x + 1'\nreplace = 'x'\n\
                       killed_by = 'A1'\n";

    #[test]
    fn a_mutant_is_read_and_applied_to_one_place() {
        let mutants = parse("b", ONE).expect("it is right");
        assert_eq!(mutants.len(), 1);
        assert_eq!(mutants[0].file, "b.sv");
        let other = parse("b", &format!("{ONE}file = 'c.sv'\n")).expect("it is right, too");
        assert_eq!(other[0].file, "c.sv");
        assert_eq!(mutants[0].apply("y = x + 1;").as_deref(), Ok("y = x;"));
        assert!(mutants[0].apply("y = x;").is_err());
        assert!(mutants[0].apply("y = x + 1; z = x + 1;").is_err());
    }

    #[test]
    fn what_a_mutant_lacks_is_named() {
        let error = parse("b", &ONE.replace("breaks", "brakes")).expect_err("breaks is missing");
        assert!(error.contains("`breaks`"), "{error}");
        assert!(parse("b", "").is_err());
    }
}
