//! Parameters: keys of a design file behind the name of a design, as a command line has them:
//! `isca11-rfc6,cache.entries=4,active_warps=6`.

use std::fmt::Write as _;

use toml::{Table, Value};

use super::argument::{is_toml, pieces, split};
use super::design::Design;
use super::file::{self, Origin};
use super::name;
use strata_config::{ConfigError, Mistake};

/// One of them, as it is typed.
struct Parameter<'a> {
    text: &'a str,
    key: &'a str,
    value: &'a str,
}

/// The design of a base with parameters, as a file with these keys would have it.
pub(super) fn resolve(argument: &str) -> Result<Design, ConfigError> {
    let Some((base, rest)) = split(argument) else { return name::resolve(argument) };
    let parameters = parameters(argument, rest)?;
    // What is wrong with the base alone is said as ever.
    let own = if is_toml(base) { file::load(base)? } else { name::resolve(base)? };
    let called = parameters.iter().all(|parameter| parameter.key != "name");
    let called = called.then(|| {
        let given = parameters.iter().map(|parameter| parameter.text);
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        let given: Vec<_> = given.map(plain).collect();
        format!("{},{}", own.name, given.join(","))
    });
    let table = keys(base, &parameters)?;
    let origin = Origin { file: argument, called: called.as_deref() };
    let wrong = |lines: &[String], mistake| malformed(argument, &parameters, lines, mistake);
    let read = design(&origin, &table, wrong);
    read.map_err(|error| placed(error, argument, base, &parameters))
}

impl Design {
    /// This design with other values of some keys of design files, or without these keys. The name
    /// stays; what the argument names is read again.
    ///
    /// # Errors
    /// An argument that does not name the design, and what a file with these keys would be refused
    /// for.
    pub fn with_keys(&self, changes: &[(&str, Option<Value>)]) -> Result<Self, ConfigError> {
        let argument = self.argument.as_str();
        let (base, rest) =
            split(argument).map_or((argument, None), |(base, rest)| (base, Some(rest)));
        let parameters = rest.map_or(Ok(Vec::new()), |rest| parameters(argument, rest))?;
        let mut table = keys(base, &parameters)?;
        for (key, value) in changes {
            put(&mut table, key, value.clone());
        }
        let origin = Origin { file: argument, called: Some(&self.name) };
        design(&origin, &table, |_, mistake| file::unread(argument, mistake))
    }
}

/// The keys of a base, and of what is typed behind it.
fn keys(base: &str, parameters: &[Parameter<'_>]) -> Result<Table, ConfigError> {
    let named = || Table::from_iter([("base".to_owned(), Value::String(base.to_owned()))]);
    let mut table = if is_toml(base) { file::table(base)? } else { named() };
    for Parameter { key, value: text, .. } in parameters {
        put(&mut table, key, Some(value(text)));
    }
    Ok(table)
}

/// The design that has these keys; `wrong` says what is wrong with one, given that of each line.
fn design(
    origin: &Origin<'_>,
    table: &Table,
    wrong: impl FnOnce(&[String], Mistake) -> ConfigError,
) -> Result<Design, ConfigError> {
    let mut text = String::new();
    let mut lines = Vec::new();
    flatten(table, "", &mut |key, value| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{key} = {value}");
        lines.push(key.to_owned());
    });
    let document = file::document(&text).map_err(|mistake| wrong(&lines, mistake))?;
    file::build(origin, document)
}

/// What is typed behind the base.
fn parameters<'a>(argument: &str, rest: &'a str) -> Result<Vec<Parameter<'a>>, ConfigError> {
    let wrong = |text: &str, why: &str| ConfigError::Malformed {
        file: argument.to_owned(),
        mistake: Mistake::typed(format!("`{text}` {why}")).into(),
        hint: "write `KEY=VALUE` with a key that `strata designs --help` lists, such as \
               `cache.entries=4`"
            .to_owned(),
    };
    let mut all: Vec<Parameter<'a>> = Vec::new();
    for text in pieces(rest) {
        let Some((key, value)) = text.split_once('=') else {
            return Err(wrong(text, "is no parameter"));
        };
        let parameter = Parameter { text, key: key.trim(), value: value.trim() };
        let bare = |part: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            !part.is_empty() && part.bytes().all(plain)
        };
        if !parameter.key.split('.').all(bare) {
            return Err(wrong(text, "has no key before its `=`"));
        }
        if parameter.value.is_empty() {
            return Err(wrong(text, "has no value"));
        }
        if parameter.key == "base" {
            return Err(wrong(text, "gives a second base, beside the one before the first comma"));
        }
        if all.iter().any(|other| other.key == parameter.key) {
            return Err(wrong(text, "is given a second time"));
        }
        all.push(parameter);
    }
    Ok(all)
}

/// A value as a file has it: a number, `true` or `false`, a list in brackets, or else a text, with
/// or without quotes.
fn value(text: &str) -> Value {
    let inside = |open, close| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(list) = inside('[', ']') {
        let some = !list.trim().is_empty();
        return Value::Array(pieces(list).filter(|_| some).map(value).collect());
    }
    if let Some(quoted) = inside('"', '"') {
        return Value::String(quoted.to_owned());
    }
    match (text, text.parse()) {
        ("true", _) => Value::Boolean(true),
        ("false", _) => Value::Boolean(false),
        (_, Ok(number)) => Value::Integer(number),
        (text, _) => Value::String(text.to_owned()),
    }
}

/// Puts a value into a document, instead of what is there; none leaves the key out.
fn put(document: &mut Table, mut key: &str, value: Option<Value>) {
    let mut table = document;
    while let Some((first, rest)) = key.split_once('.') {
        let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
        if !inner.is_table() {
            *inner = Value::Table(Table::new());
        }
        let Value::Table(inner) = inner else { return };
        (table, key) = (inner, rest);
    }
    match value {
        Some(value) => drop(table.insert(key.to_owned(), value)),
        None => drop(table.remove(key)),
    }
}

impl Parameter<'_> {
    /// How a message calls it.
    fn place(&self, base: &str) -> String {
        format!("parameter `{}` of `{base}`", self.text)
    }
}

/// Every value of a document by its whole key.
fn flatten(table: &Table, above: &str, line: &mut impl FnMut(&str, &Value)) {
    for (key, value) in table {
        let key = format!("{above}{key}");
        match value {
            Value::Table(inner) if !inner.is_empty() => flatten(inner, &format!("{key}."), line),
            _ => line(&key, value),
        }
    }
}

/// An unknown key or a value of the wrong kind: of which parameter.
fn malformed(
    argument: &str,
    parameters: &[Parameter<'_>],
    lines: &[String],
    mut mistake: Mistake,
) -> ConfigError {
    let line = mistake.position.and_then(|position| lines.get(position.line - 1));
    let parameter = line.and_then(|key| parameters.iter().find(|of| of.key == key));
    let base = split(argument).map_or(argument, |(base, _)| base);
    let place = parameter.map_or_else(|| argument.to_owned(), |of| of.place(base));
    // What was typed has no lines, and its key is in the place.
    (mistake.position, mistake.key) = (None, String::new());
    file::unread(&place, mistake)
}

/// The error with the parameter as its place, where it speaks of one.
fn placed(
    mut error: ConfigError,
    argument: &str,
    base: &str,
    parameters: &[Parameter<'_>],
) -> ConfigError {
    let named = |key: &str| {
        let key = key.split_once(" = ").map_or(key, |(key, _)| key).trim_matches(['[', ']']);
        let of_table = |of: &&Parameter<'_>| of.key.starts_with(&format!("{key}."));
        let same = parameters.iter().find(|parameter| parameter.key == key);
        same.or_else(|| parameters.iter().find(of_table))
    };
    let (file, found) = match &mut error {
        ConfigError::Range { file, key, .. } => (file, named(key)),
        ConfigError::Combination { file, problem, .. } => {
            let mut quoted = problem.split('`').skip(1).step_by(2);
            (file, quoted.find_map(named))
        }
        ConfigError::Unreadable { .. }
        | ConfigError::Malformed { .. }
        | ConfigError::UnknownName { .. } => return error,
    };
    if let Some(parameter) = found.filter(|_| file == argument) {
        *file = parameter.place(base);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;

    fn error(text: &str) -> String {
        let error = resolve(text).unwrap_err();
        let hint = error.hint().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        format!("{error}{hint}")
    }

    #[test]
    fn parameters_make_the_design_that_a_file_makes() {
        let typed = "isca11-rfc6,cache.entries=4,active_warps=6,also_leaves_for=[sfu,double],\
                     latency_cycles.alu=4,energy.source=a b,energy.mrf_read=7 pJ,\
                     cache.replacement=lru,cache.liveness=false";
        let text = "base = \"isca11-rfc6\"\nactive_warps = 6\n\
                    also_leaves_for = [\"sfu\", \"double\"]\n\
                    [cache]\nentries = 4\nreplacement = \"lru\"\nliveness = false\n\
                    [latency_cycles]\nalu = 4\n[energy]\nsource = \"a b\"\nmrf_read = \"7 pJ\"\n";
        let typed = resolve(typed).unwrap();
        let written = file::parse("d.toml", text).unwrap();
        assert_eq!(
            typed.name,
            "isca11-rfc6,cache.entries=4,active_warps=6,also_leaves_for=[sfu,double],\
             latency_cycles.alu=4,energy.source=ab,energy.mrf_read=7pJ,cache.replacement=lru,\
             cache.liveness=false"
        );
        assert_eq!((typed.sm, &typed.energy), (written.sm, &written.energy));
        assert_eq!(typed.parameters(), written.parameters());
        assert_ne!(typed.parameters(), resolve("isca11-rfc6").unwrap().parameters());
        let told: Vec<_> = (written.changed.iter())
            .map(|told| told.replacen("d:", &format!("{}:", typed.name), 1))
            .collect();
        assert_eq!(typed.changed, told);
        assert!(typed.files().is_empty());
    }

    #[test]
    fn a_file_takes_parameters_and_keeps_what_it_is_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let path = path.to_str().unwrap();
        std::fs::write(path, "base = \"isca11-rfc6\"\n[cache]\nentries = 4\nliveness = false\n")
            .unwrap();
        let design = resolve(&format!("{path},cache.entries=3")).unwrap();
        assert_eq!(design.name, "mine,cache.entries=3");
        let cache = design.cache().unwrap();
        assert_eq!((cache.entries, cache.liveness), (3, false));
        assert_eq!(design.files(), [std::path::PathBuf::from(path)]);
        let renamed = resolve(&format!("{path},name=other,cache.entries=3")).unwrap();
        assert_eq!(renamed.name, "other");
        let message = error(&format!("{path},cache.entries=14"));
        let place = format!("parameter `cache.entries=14` of `{path}`: `cache.entries = 14` is");
        assert!(message.starts_with(&place), "{message}");
        std::fs::write(path, "base = \"isca11-rfc6\"\nenties = 3\n").unwrap();
        let message = error(&format!("{path},cache.entries=3"));
        assert!(message.starts_with(&format!("{path}:2:1: there is no key `enties`")), "{message}");
    }

    #[test]
    fn errors_are_those_of_a_file_and_name_the_parameter() {
        for (text, expected) in [
            (
                "isca11-rfc6,cache.entries=14",
                "parameter `cache.entries=14` of `isca11-rfc6`: `cache.entries = 14` is \
                 impossible: allowed is 1 to 13",
            ),
            (
                "isca11-rfc6,active_warps=4,cache.entires=4",
                "parameter `cache.entires=4` of `isca11-rfc6`: there is no key `entires` here",
            ),
            ("isca11-rfc6,cache.entires=4", "did you mean `entries`?"),
            ("isca11-rfc6,entries=4", "did you mean `entries` in `[cache]`?"),
            (
                "isca11-rfc6,cache.entries=six",
                "parameter `cache.entries=six` of `isca11-rfc6`: expected a whole number, found \
                 the text \"six\"",
            ),
            (
                "isca11-rfc6,cache.entries.x=1",
                "parameter `cache.entries.x=1` of `isca11-rfc6`: expected a whole number, found a \
                 table",
            ),
            (
                "isca11-rfc6,cache=1",
                "parameter `cache=1` of `isca11-rfc6`: expected a table, found 1",
            ),
            (
                "isca11-rfc6,replacement=reactive",
                "parameter `replacement=reactive` of `isca11-rfc6`: `replacement = \"reactive\"` \
                 does not say how long a warp waits\nhint: add for example",
            ),
            (
                "isca11,cache.liveness=true",
                "parameter `cache.liveness=true` of `isca11`: `[cache]` has no `entries`",
            ),
            (
                "isca11-rfc6,energy.mrf_read=8",
                "parameter `energy.mrf_read=8` of `isca11-rfc6`: `8` has no unit: write `8 pJ`",
            ),
            ("isca11-rfc6,technology=warf", "there is no technology called `warf`"),
            ("isca11-rfc7x,active_warps=4", "there is no design called `isca11-rfc7x`"),
            (
                "isca11-rfc6,cache,active_warps=4",
                "`cache` is no parameter\nhint: write `KEY=VALUE`",
            ),
            ("isca11-rfc6,=4", "`=4` has no key before its `=`"),
            ("isca11-rfc6,active_warps=", "`active_warps=` has no value"),
            ("isca11-rfc6,base=isca11", "gives a second base"),
            ("isca11-rfc6,active_warps=4,active_warps=5", "is given a second time"),
            ("isca11-rfc6,name=a/b", "`name = \"a/b\"`"),
        ] {
            let message = error(text);
            assert!(message.contains(expected), "{text}\n{message}");
        }
    }

    #[test]
    fn lists_are_cut_outside_brackets_and_quotes() {
        let cut = |text| pieces(text).collect::<Vec<_>>();
        assert_eq!(
            cut("a=[1,2],b=\"x,y\", c=[[1,2],[3]]"),
            ["a=[1,2]", "b=\"x,y\"", "c=[[1,2],[3]]"]
        );
        assert_eq!(cut(""), [""]);
        assert_eq!(value("[]"), Value::Array(Vec::new()));
        assert_eq!(value("[1,x]"), Value::Array(vec![Value::Integer(1), "x".into()]));
        assert_eq!(value("1rw"), Value::String("1rw".to_owned()));
    }
}
