//! Kernel names: as a compiler of C++ mangles them, and as their source has them.

use std::collections::BTreeSet;
use std::fmt;

use cpp_demangle::{BorrowedSymbol, DemangleOptions, DemangleWrite};

/// Longest name that is demangled, mangled and not. Unit: bytes.
const LONGEST: usize = 4096;

/// A name of C++ source, `scale<float>(float*, int)`, for a mangled one of the Itanium ABI.
pub fn demangled(name: &str) -> Option<String> {
    written(name, DemangleOptions::new().no_return_type())
}

/// The name in C++ source without its parameters: `scale<float>`.
fn without_parameters(name: &str) -> Option<String> {
    written(name, DemangleOptions::new().no_return_type().no_params())
}

fn written(name: &str, options: DemangleOptions) -> Option<String> {
    if name.len() > LONGEST || !name.starts_with("_Z") {
        return None;
    }
    let (symbol, rest) = BorrowedSymbol::with_tail(name.as_bytes()).ok()?;
    let mut text = Bounded(String::new());
    symbol.structured_demangle(&mut text, &options).ok()?;
    rest.is_empty().then_some(text.0)
}

/// A text that does not grow beyond [`LONGEST`]: references back make short names long.
struct Bounded(String);

impl DemangleWrite for Bounded {
    fn write_string(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

/// Which of some kernels is meant: the one of that name, or else the only one whose name in C++ is
/// that, with parameters, without them, or without template arguments; or else without namespaces,
/// too. Blanks do not count, nor does the type of the result.
///
/// # Errors
///
/// The names of all that may be meant, of none or several.
pub fn find<'n>(names: impl Iterator<Item = &'n str>, asked: &str) -> Result<&'n str, Vec<String>> {
    let names: Vec<&str> = names.collect();
    if let Some(found) = names.iter().find(|name| **name == asked) {
        return Ok(found);
    }
    let asked = tight(asked.strip_prefix("void ").unwrap_or(asked));
    let whole = |name: &str| forms(name).contains(&asked);
    let without_namespaces = |name: &str| forms(name).iter().any(|form| last_part(form) == asked);
    for is_meant in [&whole as &dyn Fn(&str) -> bool, &without_namespaces] {
        let meant: Vec<&str> = names.iter().copied().filter(|name| is_meant(name)).collect();
        match meant.as_slice() {
            [] => {}
            [only] => return Ok(only),
            several => return Err(several.iter().map(|name| both(name)).collect()),
        }
    }
    Err(Vec::new())
}

/// What a mangled name may be called in C++, without blanks.
fn forms(name: &str) -> Vec<String> {
    let short = without_parameters(name);
    let bare = short.as_deref().and_then(|short| short.split('<').next()).map(str::to_owned);
    [demangled(name), short, bare].into_iter().flatten().map(|form| tight(&form)).collect()
}

fn tight(name: &str) -> String {
    name.split_whitespace().collect()
}

/// A form without its namespaces, which stand before all brackets but those of a nameless one.
fn last_part(form: &str) -> String {
    let form = form.replace("(anonymousnamespace)::", "");
    let head = form.find(['<', '(']).map_or(form.as_str(), |end| &form[..end]);
    let start = head.rfind("::").map_or(0, |at| at + 2);
    form[start..].to_owned()
}

/// Names with what they are in C++, each once, in their order; `none` of none.
pub fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let (mut names, mut seen): (Vec<&str>, _) = (names.collect(), BTreeSet::new());
    names.retain(|name| seen.insert(*name));
    // Parameters have commas between them.
    let between = if names.iter().any(|name| demangled(name).is_some()) { "; " } else { ", " };
    let names: Vec<String> = names.into_iter().map(both).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(between) }
}

/// A name with what it is in C++, if it is mangled.
pub fn both(name: &str) -> String {
    demangled(name).map_or_else(|| name.to_owned(), |source| format!("{name} = {source}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_the_names_of_the_source() {
        assert_eq!(list(["b", "a", "b"].into_iter()), "b, a");
        assert_eq!(list(std::iter::empty()), "none");
        let named = list(["plain", "_Z5scaleIfEvPT_i"].into_iter());
        assert_eq!(named, "plain; _Z5scaleIfEvPT_i = scale<float>(float*, int)");
    }

    #[test]
    fn mangled_names_are_those_of_the_source() {
        for (name, source) in [
            ("_Z5saxpyifPKfPf", Some("saxpy(int, float, float const*, float*)")),
            ("_Z5scaleIfEvPT_i", Some("scale<float>(float*, int)")),
            ("_ZN2ns4dumpIiLi3EEEvPKT_PS1_", Some("ns::dump<int, 3>(int const*, int*)")),
            ("_Z5saxpyifPKfPf$", None),
            ("_Z", None),
            ("saxpy", None),
        ] {
            assert_eq!(demangled(name).as_deref(), source, "{name}");
        }
    }

    #[test]
    fn names_do_not_grow_without_bound() {
        // Each parameter is a pair of the one before, twice.
        let mut name = String::from("_Z1k4pairIffE");
        for digit in "0123456789ABCDEFGHIJ".chars() {
            name.extend(["S_IS", &digit.to_string(), "_S", &digit.to_string(), "_E"]);
        }
        assert_eq!(demangled(&name), None);
        assert_eq!(demangled(&format!("_Z{LONGEST}{}v", "k".repeat(LONGEST))), None);
    }

    #[test]
    fn kernels_are_found_by_their_names_in_source() {
        let names = [
            "_Z5scaleIfEvPT_i",
            "_Z5scaleIdEvPT_i",
            "_ZN2ns4dumpIiLi3EEEvPKT_PS1_",
            "_ZN12_GLOBAL__N_16hiddenEPf",
            "_ZN1a4fillEPf",
            "_Z4fillPf",
            "add",
            "_Z3addv",
        ];
        let found = |asked| find(names.into_iter(), asked);
        for (asked, name) in [
            ("add", "add"),
            ("_Z3addv", "_Z3addv"),
            ("add()", "_Z3addv"),
            ("dump", "_ZN2ns4dumpIiLi3EEEvPKT_PS1_"),
            ("ns::dump", "_ZN2ns4dumpIiLi3EEEvPKT_PS1_"),
            ("ns::dump<int, 3>", "_ZN2ns4dumpIiLi3EEEvPKT_PS1_"),
            ("void ns::dump<int,3>(int const*, int*)", "_ZN2ns4dumpIiLi3EEEvPKT_PS1_"),
            ("dump<int, 3>", "_ZN2ns4dumpIiLi3EEEvPKT_PS1_"),
            ("dump<int, 3>(int const*, int*)", "_ZN2ns4dumpIiLi3EEEvPKT_PS1_"),
            ("hidden", "_ZN12_GLOBAL__N_16hiddenEPf"),
            // What stands in no namespace goes before what does.
            ("fill", "_Z4fillPf"),
            ("a::fill", "_ZN1a4fillEPf"),
            ("scale<double>", "_Z5scaleIdEvPT_i"),
            ("scale<float>(float*, int)", "_Z5scaleIfEvPT_i"),
        ] {
            assert_eq!(found(asked), Ok(name), "{asked}");
        }
        let both = found("scale").unwrap_err();
        assert_eq!(both[0], "_Z5scaleIfEvPT_i = scale<float>(float*, int)");
        assert_eq!(both.len(), 2);
        assert_eq!(found("dum"), Err(vec![]));
    }
}
