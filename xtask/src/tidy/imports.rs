//! No module of a crate imports, directly or through other modules, one that imports it.
//!
//! A path in code is an import, in a macro's tokens too, but not in tests. Calls of methods are not
//! seen: which module defines one is known to the compiler only.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::repository::{File, Repository, Violation};

/// The sources of crates.
const CRATES: &[&str] = &[
    "benches/src/",
    "core/src/",
    "fpga-softcore/firmware/src/",
    "fpga-softcore/link/src/",
    "fpga-softcore/lockstep/src/",
    "host-cli/board/src/",
    "host-cli/compiler/src/",
    "host-cli/config/src/",
    "host-cli/design/src/",
    "host-cli/explorer/src/",
    "host-cli/figures/src/",
    "host-cli/files/src/",
    "host-cli/fuzzing/src/",
    "host-cli/machine-code/src/",
    "host-cli/measure/src/",
    "host-cli/ptx/src/",
    "host-cli/python/src/",
    "host-cli/simt/src/",
    "host-cli/report/src/",
    "host-cli/strata/src/",
    "host-cli/study/src/",
    "host-cli/src/",
    "host-cli/trace/src/",
    "host-cli/workload/src/",
    "xtask/src/",
];

/// A module by the names that lead to it from the crate's root; the root is empty.
type Module = Vec<String>;
/// A file's path, and a line of it.
type Site = (String, usize);
/// The modules that each module imports, with the first import.
type Imports = BTreeMap<Module, BTreeMap<Module, Site>>;

/// Modules that import each other.
pub(crate) fn import_cycles(repository: &Repository) -> Vec<Violation> {
    CRATES.iter().flat_map(|sources| cycles_in(repository, sources)).collect()
}

/// Modules of a crate that import each other.
fn cycles_in(repository: &Repository, sources: &str) -> Vec<Violation> {
    let files: BTreeMap<Module, &File> = repository
        .files
        .iter()
        .filter_map(|file| Some((module_of(file.path.strip_prefix(sources)?)?, file)))
        .filter(|(module, _)| !module.iter().any(|name| name == "tests"))
        .collect();
    let mut found = Vec::new();
    let mut paths = Paths { files: &files, place: Module::new(), parts: [].into(), named: vec![] };
    for (module, file) in &files {
        match syn::parse_file(&file.text) {
            Ok(source) => {
                paths.place.clone_from(module);
                paths.visit_file(&source);
            }
            Err(error) => {
                let line = error.span().start().line;
                found.push(Violation::at(&file.path, line, format!("no Rust: {error}")));
            }
        }
    }
    let imports = paths.imports();
    for cycle in cycles(&imports) {
        let sites: Vec<&Site> =
            cycle.iter().zip(cycle.iter().cycle().skip(1)).map(|(a, b)| &imports[a][b]).collect();
        let (first, first_line) = sites[0];
        let places = sites
            .iter()
            .fold(String::new(), |text, (path, line)| format!("{text}{path}:{line} -> "));
        let message = format!("modules import each other: {places}{first}");
        found.push(Violation::at(first, *first_line, message));
    }
    found
}

/// The module that a file is, by its path below the crate's sources.
fn module_of(path: &str) -> Option<Module> {
    let names = path.strip_suffix(".rs")?;
    Some(if names == "lib" { Module::new() } else { names.split('/').map(str::to_owned).collect() })
}

/// An item by its module and its name in there; no name stands for the module itself.
type Item = (Module, Option<String>);

/// The paths of all files that name items of the crate.
struct Paths<'a> {
    files: &'a BTreeMap<Module, &'a File>,
    /// The module that is being read: a file's, or one within a file.
    place: Module,
    /// The items that a module re-exports from its own parts, as the parts name them.
    parts: BTreeMap<Item, Item>,
    /// The module of each path, the item that it names, and its line.
    named: Vec<(Module, Item, usize)>,
}

impl Paths<'_> {
    /// The modules that each module imports. A re-exported item leads to the module that re-exports
    /// it and to the part that defines it.
    fn imports(mut self) -> Imports {
        let mut imports = Imports::new();
        while let Some((module, item, line)) = self.named.pop() {
            if let Some(origin) = self.parts.get(&item) {
                self.named.push((module.clone(), origin.clone(), line));
            }
            let to = item.0;
            if module != to {
                let site = (self.files[&module].path.clone(), line);
                let all = imports.entry(module).or_default();
                let first = all.entry(to).or_insert_with(|| site.clone());
                *first = site.min(first.clone());
            }
        }
        imports
    }

    /// Notes the item that a path names.
    fn note(&mut self, names: &[String], line: usize) {
        if let (Some((module, _)), Some(item)) = (self.item(&[]), self.item(names)) {
            self.named.push((module, item, line));
        }
    }

    /// The item that a path names, by the deepest module with a file. A name that is in scope, or
    /// another crate's, is taken for an item of the module that is being read.
    fn item(&self, names: &[String]) -> Option<Item> {
        let mut path = self.place.clone();
        for name in names {
            match name.as_str() {
                "crate" => path.clear(),
                "self" => {}
                "super" => drop(path.pop()),
                name => path.push(name.to_owned()),
            }
        }
        // A name alone is in scope, even where a module is called the same.
        let mut name = match names {
            [name] if !["crate", "self", "super"].contains(&name.as_str()) => path.pop(),
            _ => None,
        };
        while !self.files.contains_key(&path) {
            name = Some(path.pop()?);
        }
        Some((path, name))
    }

    /// Notes every path of a `use` tree.
    fn note_tree(&mut self, tree: &syn::UseTree, before: &mut Module, is_public: bool) {
        let (name, alias) = match tree {
            syn::UseTree::Path(path) => (&path.ident, None),
            syn::UseTree::Name(name) => (&name.ident, Some(&name.ident)),
            syn::UseTree::Rename(rename) => (&rename.ident, Some(&rename.rename)),
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.note_tree(tree, before, is_public));
            }
            syn::UseTree::Glob(glob) => {
                let line = glob.star_token.span.start().line;
                return self.note_use(before, None, line, is_public);
            }
        };
        before.push(name.to_string());
        if let syn::UseTree::Path(path) = tree {
            self.note_tree(&path.tree, before, is_public);
        } else {
            let alias = alias.map(ToString::to_string);
            self.note_use(before, alias, name.span().start().line, is_public);
        }
        before.pop();
    }

    /// Notes a path of a `use`. A module that re-exports its own parts does not import them.
    fn note_use(&mut self, names: &[String], alias: Option<String>, line: usize, is_public: bool) {
        let is_part = |(module, _): &Item| *module != self.place && module.starts_with(&self.place);
        match self.item(names).filter(is_part) {
            Some(item) if is_public => {
                // A glob re-exports no item by name.
                if alias.is_some() {
                    self.parts.insert((self.place.clone(), alias), item);
                }
            }
            _ => self.note(names, line),
        }
    }

    /// Notes the paths among the tokens of a macro, which are not parsed.
    fn note_tokens(&mut self, tokens: TokenStream) {
        let mut path = Module::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                // Behind a separator without a path before it stands a part of `<T>::NAME`.
                TokenTree::Ident(name) if colons == 2 && path.is_empty() => drop(name),
                TokenTree::Ident(name) if colons == 2 => path.push(name.to_string()),
                TokenTree::Ident(name) => {
                    self.note(&path, line);
                    path = vec![name.to_string()];
                    line = name.span().start().line;
                }
                // `pub(in path)` is no import.
                TokenTree::Group(group)
                    if path == ["pub"] && group.delimiter() == Delimiter::Parenthesis =>
                {
                    path.clear();
                }
                other => {
                    self.note(&path, line);
                    path.clear();
                    if let TokenTree::Group(group) = other {
                        self.note_tokens(group.stream());
                    }
                }
            }
            colons = 0;
        }
        self.note(&path, line);
    }
}

/// True for `#[cfg(test)]` among attributes.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.path().is_ident("cfg").then(|| attribute.parse_args());
        condition.is_some_and(|found| found.is_ok_and(|name: syn::Ident| name == "test"))
    })
}

/// Visits of items that pass over those for tests.
macro_rules! without_tests {
    ($($visit:ident: $node:ident),+ $(,)?) => {$(
        fn $visit(&mut self, node: &'ast syn::$node) {
            if !is_test(&node.attrs) {
                visit::$visit(self, node);
            }
        }
    )+};
}

impl<'ast> Visit<'ast> for Paths<'_> {
    without_tests! {
        visit_item_const: ItemConst,
        visit_item_enum: ItemEnum,
        visit_item_fn: ItemFn,
        visit_item_impl: ItemImpl,
        visit_item_macro: ItemMacro,
        visit_item_static: ItemStatic,
        visit_item_struct: ItemStruct,
        visit_item_trait: ItemTrait,
        visit_item_type: ItemType,
        visit_impl_item_fn: ImplItemFn,
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            self.place.push(module.ident.to_string());
            visit::visit_item_mod(self, module);
            self.place.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) && item.leading_colon.is_none() {
            let is_public = !matches!(item.vis, syn::Visibility::Inherited);
            self.note_tree(&item.tree, &mut Module::new(), is_public);
        }
    }

    /// `pub(in path)` is no import.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names: Module = path.segments.iter().map(|part| part.ident.to_string()).collect();
            self.note(&names, path.segments[0].ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.note_tokens(call.tokens.clone());
    }
}

/// A shortest cycle through each module that lies on one, without repetitions.
fn cycles(imports: &Imports) -> Vec<Vec<Module>> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for start in imports.keys() {
        let Some(cycle) = cycle_through(imports, start) else { continue };
        let members: BTreeSet<Module> = cycle.iter().cloned().collect();
        if seen.insert(members) {
            found.push(cycle);
        }
    }
    found
}

/// A shortest way from a module back to it.
fn cycle_through(imports: &Imports, start: &Module) -> Option<Vec<Module>> {
    let mut reached: BTreeMap<&Module, &Module> = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(module) = next.pop_front() {
        for import in imports.get(module).into_iter().flat_map(BTreeMap::keys) {
            if import == start {
                let mut cycle = vec![module];
                while *cycle[cycle.len() - 1] != *start {
                    cycle.push(reached[cycle[cycle.len() - 1]]);
                }
                return Some(cycle.into_iter().rev().cloned().collect());
            }
            reached.entry(import).or_insert_with(|| {
                next.push_back(import);
                module
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found among modules of the core, each with its source.
    fn found(modules: &[(&str, &str)]) -> Vec<String> {
        let paths: Vec<String> =
            modules.iter().map(|(name, _)| format!("core/src/{name}.rs")).collect();
        let files: Vec<(&str, &str)> =
            paths.iter().zip(modules).map(|(path, (_, text))| (path.as_str(), *text)).collect();
        import_cycles(&Repository::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn two_modules_that_import_each_other_are_found() {
        let a = ("a", "//! A.\nuse crate::b::B;\npub struct A(B);\n");
        assert_eq!(
            found(&[a, ("b", "use core::mem;\n\nuse crate::{units::X, a::{self as other, A}};\n")]),
            ["core/src/a.rs:2: modules import each other: \
              core/src/a.rs:2 -> core/src/b.rs:3 -> core/src/a.rs"]
        );
        assert!(
            found(&[a, ("b", "use other::a::A;\nuse ::a::A;\nuse crate::units;\n")]).is_empty()
        );
    }

    #[test]
    fn parts_of_several_modules_that_import_each_other_are_found() {
        let modules = [
            ("a", ""),
            ("a/x", ""),
            ("a/y", "use super::x;\n\nuse crate::b::z;\n"),
            ("a/tests", "use crate::c;\n"),
            ("b", ""),
            ("b/z", "use crate::c;\n"),
            ("c", "use crate::a::y;\n"),
        ];
        assert_eq!(
            found(&modules),
            ["core/src/a/y.rs:3: modules import each other: \
              core/src/a/y.rs:3 -> core/src/b/z.rs:1 -> core/src/c.rs:1 -> core/src/a/y.rs"]
        );
        assert!(found(&modules[..6]).is_empty());
    }

    #[test]
    fn a_cycle_of_three_modules_is_found_once() {
        let modules = [
            ("a", "use crate::b::*;\n"),
            ("b", "use crate::c;\n"),
            ("c", "use crate::d;\n\nuse crate::a::A as B;\n"),
            ("d", "use crate::e;\n"),
            ("e", ""),
        ];
        let [message] = &found(&modules)[..] else { panic!("{:?}", found(&modules)) };
        assert!(
            message.ends_with(
                "core/src/a.rs:1 -> core/src/b.rs:1 -> core/src/c.rs:3 -> core/src/a.rs"
            )
        );
        assert!(found(&modules[1..]).is_empty());
    }

    #[test]
    fn every_kind_of_path_is_an_import() {
        for path in [
            "use super::b::B;",
            "use super::{b::B};",
            "pub use super::b::B;",
            "fn f() { let x: u8 = super::b::VALUE + 1; }",
            "fn f(x: Option<crate::f::b::B>) {}",
            "impl crate::f::b::B for u8 {}",
            "fn f() { assert!(crate::f::b::VALUE > 1); }",
            "fn f() { vec![(1, [super::b::VALUE])]; }",
            "mod inner { use super::super::b::B; }",
            "macro_rules! m { () => { $crate::f::b::B } }",
            "crate::f::b::m!();",
        ] {
            let modules = [("f/a", path), ("f/b", "use crate::f::a;"), ("f", "")];
            assert_eq!(found(&modules).len(), 1, "{path}");
        }
        for path in [
            "pub(in super::b) fn f() {}",
            "macro_rules! m { () => { pub(in super::b) fn f() {} } }",
            "/// [`super::b::B`]\nfn f() {}",
            "fn b() { b }",
        ] {
            let modules = [("f/a", path), ("f/b", "use crate::f::a;"), ("f", "")];
            assert!(found(&modules).is_empty(), "{path}");
        }
    }

    #[test]
    fn imports_of_tests_do_not_count() {
        for item in [
            "mod tests { use crate::b::B; }",
            "use crate::b::B;",
            "fn f() { crate::b::g() }",
            "impl A { fn f() { crate::b::g() } }",
        ] {
            let [item, test] = [item.to_owned(), format!("#[cfg(test)]\n{item}\n")];
            let with = |text: &str| found(&[("a", text), ("b", "use crate::a::A;")]).len();
            assert_eq!((with(&item), with(&test)), (1, 0), "{item}");
        }
    }

    #[test]
    fn a_module_may_re_export_its_parts_unless_it_needs_them() {
        let with = |front, part| found(&[("f", front), ("f/a", part), ("f/b", ""), ("c", "")]);
        let needs = "use super::F;\n";
        for front in ["mod a;\npub use a::A;", "pub(crate) use self::a::{A, B};", "pub use a::*;"] {
            assert!(with(front, needs).is_empty(), "{front}");
        }
        for front in [
            "use a::A;",
            "fn f() { a::g() }",
            "fn f() { assert!(a::g()) }",
            "pub use a::A;\npub struct F(A);",
            "pub use a::A as B;\npub struct F(B);",
        ] {
            assert_eq!(with(front, needs).len(), 1, "{front}");
            assert!(with(front, "use super::b::B;\n").is_empty(), "{front}");
        }
    }

    #[test]
    fn a_re_exported_item_leads_to_the_part_that_defines_it() {
        let front = ("f", "pub use a::A;\npub use b::B as C;\n");
        let (a, b) = (("f/a", "use super::C;\n"), ("f/b", "use crate::f::A;\n"));
        assert_eq!(
            found(&[front, a, b]),
            ["core/src/f/a.rs:1: modules import each other: \
              core/src/f/a.rs:1 -> core/src/f/b.rs:1 -> core/src/f/a.rs"]
        );
        assert!(found(&[front, a, ("f/b", "")]).is_empty());
        assert!(found(&[("f", ""), a, b]).is_empty());
    }

    #[test]
    fn a_file_that_is_no_rust_is_found() {
        assert_eq!(found(&[("a", "fn f() {}\nfn {}\n")]).len(), 1);
    }
}
