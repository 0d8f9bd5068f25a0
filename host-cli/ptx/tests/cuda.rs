//! CUDA lines of instructions, as `.file` and `.loc` say.

use strata_ptx::module::Module;
use strata_ptx::parse;
use strata_ptx::print::{SourceNames, instruction};

const HEAD: &str = ".version 8.5\n.target sm_80\n.address_size 64\n";

fn module(text: &str) -> Module {
    let parsed = parse(&format!("{HEAD}{text}"));
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
    parsed.module
}

/// The places of all instructions, `-` for none.
fn places(module: &Module) -> Vec<String> {
    let instructions = module.functions.iter().flat_map(|function| &function.body);
    let place = |span| module.cuda.of(span).map_or("-".to_owned(), |place| place.to_string());
    instructions.map(|one| place(one.span)).collect()
}

#[test]
fn a_place_holds_up_to_the_next_one() {
    let module = module(
        ".entry k() { .reg .b32 %r<3>; mov.b32 %r0, 1;\n.loc 1 4 9\nmov.b32 %r1, 2; { L: mov.b32 \
         %r1, 3;\n.loc 2 07 1\n} mov.b32 %r2, 4; ret; }\n.file 2 \"b.cuh\"\n.file 1 \
         \"dir/a.cu\", 1339013327, 64118\n",
    );
    assert_eq!(places(&module), ["-", "dir/a.cu:4", "dir/a.cu:4", "b.cuh:7", "b.cuh:7"]);
}

#[test]
fn a_place_ends_with_its_function() {
    let module = module(
        ".file 1 \"a.cu\"\n.func f() {\n.loc 1 2 1\nret; }\n.entry k() { membar.gl;\n.loc 1 5 \
         1\nret; }\n.loc 1 9 1\n.entry l() { membar.gl;\n.loc 1 5 1\nret; }",
    );
    assert_eq!(places(&module), ["a.cu:2", "-", "a.cu:5", "-", "a.cu:5"]);
}

#[test]
fn of_inlined_code_the_innermost_place_counts() {
    let module = module(
        ".file 1 \"a.cu\"\n.file 2 \"inner.h\"\n.entry k() {\n.loc 1 3 1\nmembar.gl;\n.loc 2 30 5, \
         function_name $L__info_string0, inlined_at 1 4 7\nmembar.gl;\n.loc 1 4 \
         9\nret; }\n.section .debug_str { $L__info_string0: .b8 105,0 }",
    );
    assert_eq!(places(&module), ["a.cu:3", "inner.h:30", "a.cu:4"]);
}

#[test]
fn no_line_and_no_file_are_no_place() {
    let module = module(
        ".file 1 \"a.cu\"\n.entry k() {\n.loc 1 3 1\nmembar.gl;\n.loc 1 0 0\nmembar.gl;\n.loc 1 3 \
         1\nmembar.gl;\n.loc 7 8 1\nret; }",
    );
    assert_eq!(places(&module), ["a.cu:3", "-", "a.cu:3", "-"]);
    assert!(!module.cuda.is_empty());
}

#[test]
fn a_module_without_places_has_none() {
    for text in [
        ".file 1 \"a.cu\"\n.entry k() { ret; }",
        ".entry k() {\n.loc 1 3 1\nret; }",
        ".file 1 \"a.cu\"\n.entry k() {\n.loc 1 0 0\nret; }",
    ] {
        let module = module(text);
        assert_eq!((places(&module), module.cuda.is_empty()), (vec!["-".to_owned()], true));
    }
}

#[test]
fn files_are_called_by_their_last_name_where_that_is_one_file() {
    let module = module(
        ".file 1 \"/home/x/a.cu\"\n.file 2 \"/home/y/a.cu\"\n.file 3 \"C:\\x\\b.cu\"\n.file 4 \
         \"in/\"\n.file 5 \"\u{1b}[1m.cu\"\n.file 3 \"C:\\x\\b.cu\"\n.entry k() {\n.loc 1 1 0\n\
         membar.gl;\n.loc 2 2 0\nmembar.gl;\n.loc 3 3 0\nmembar.gl;\n.loc 4 4 0\nmembar.gl;\n.loc \
         5 5 0\nret; }",
    );
    let short = module.functions[0].body.iter().map(|one| module.cuda.of(one.span).unwrap());
    let short: Vec<String> = short.map(|place| place.short()).collect();
    let expected = ["/home/x/a.cu:1", "/home/y/a.cu:2", "b.cu:3", "in/:4", "\\u{1b}[1m.cu:5"];
    assert_eq!(short, expected);
}

#[test]
fn numbers_that_are_none_and_second_names_are_refused() {
    let kernel = |place: &str| format!("{HEAD}.file 1 \"a.cu\"\n.entry k() {{\n{place}\nret; }}");
    for (place, message, shown) in [
        (
            ".loc 1 4294967296 1",
            "`4294967296` is not the number of a line, which is a whole number below 2^32",
            "4294967296",
        ),
        (
            ".loc 0f3F800000 2 1",
            "`0f3F800000` is not the number of a file, which is a whole number below 2^32",
            "0f3F800000",
        ),
        (".file 1 \"b.cu\"", "file 1 has another name already", "1 \"b.cu\""),
    ] {
        let text = kernel(place);
        let diagnostics = parse(&text).diagnostics;
        assert_eq!(diagnostics.len(), 1, "{diagnostics:#?}");
        let span = diagnostics[0].span;
        assert_eq!(diagnostics[0].message, message);
        assert_eq!(&text[span.start as usize..span.end as usize], shown);
    }
}

/// Instructions are the same with and without places, and print the same.
#[test]
fn places_do_not_show_in_instructions() {
    let text = include_str!("corpus/debug.ptx");
    let without = text.replace(".file\t1 \"debug.cu\"", "");
    let [with, without] = [text, &without].map(|text| parse(text).module);
    assert!(!with.cuda.is_empty() && without.cuda.is_empty());
    let printed = |module: &Module| -> Vec<String> {
        let of = |function| {
            let names = SourceNames { module, function };
            function.body.iter().map(move |one| instruction(one, &names).to_string()).collect()
        };
        module.functions.iter().flat_map(|function| -> Vec<String> { of(function) }).collect()
    };
    assert_eq!(printed(&with), printed(&without));
}

/// What nvcc wrote with `-G`: the lines of `corpus/debug.cu`.
#[test]
fn a_debug_build_names_its_lines() {
    let module = parse(include_str!("corpus/debug.ptx")).module;
    let mut places = places(&module);
    places.dedup();
    let expected =
        ["debug.cu:3", "debug.cu:4", "debug.cu:5", "debug.cu:6", "debug.cu:7", "debug.cu:8"];
    assert_eq!(places, expected);
}
