//! Values by their names on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use strata_core::names::Named;

/// The parser of an option whose values are named. The long help shows what each means.
pub(crate) fn parser<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL
        .iter()
        .map(|value| PossibleValue::new(value.name()).help(value.meaning().trim_end_matches('.')));
    // The parser lets no other name through.
    PossibleValuesParser::new(values).try_map(|name| T::from_name(&name).ok_or("no such value"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_core::sm::config::Scheduler;

    #[test]
    fn an_option_takes_every_name_and_tells_all() {
        let command = clap::Command::new("x")
            .arg(clap::Arg::new("by").long("by").value_parser(parser::<Scheduler>()));
        let parse = |value: &str| command.clone().try_get_matches_from(["x", "--by", value]);
        for scheduler in Scheduler::ALL {
            let matches = parse(scheduler.name()).unwrap();
            assert_eq!(matches.get_one::<Scheduler>("by"), Some(&scheduler));
        }
        let error = parse("gredy").unwrap_err().to_string();
        assert!(error.contains("[possible values: greedy, round-robin,"), "{error}");
        assert!(error.contains("similar value exists: 'greedy'"), "{error}");
        let help = command.clone().render_long_help().to_string();
        assert!(help.contains("- greedy:") && !help.contains("index."), "{help}");
    }
}
