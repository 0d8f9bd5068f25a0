//! `regmap`: writes what is made of the prototype's register map.

use crate::machine;
use crate::regmap::{Map, SOURCE};
use crate::status::Status;

/// Runs the command.
pub(crate) fn run() -> Status {
    match write() {
        Ok(()) => Status::Done,
        Err(why) => {
            eprintln!("error: {why}");
            Status::Failed
        }
    }
}

fn write() -> Result<(), String> {
    let root = machine::root();
    let table = std::fs::read_to_string(root.join(SOURCE))
        .map_err(|error| format!("{SOURCE} cannot be read: {error}"))?;
    for (path, text) in Map::parse(&table)?.outputs() {
        let full = root.join(path);
        let stands = std::fs::read_to_string(&full).is_ok_and(|found| found == text);
        if !stands {
            std::fs::write(&full, text)
                .map_err(|error| format!("{path} cannot be written: {error}"))?;
        }
        println!("{path}: {}", if stands { "as it was" } else { "written" });
    }
    Ok(())
}
