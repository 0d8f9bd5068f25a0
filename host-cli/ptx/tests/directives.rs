//! Directives are read to the end of their own grammar, and what they do not know is refused.

use strata_ptx::parse;

/// A kernel of one line, whose body ends with `ret`.
fn kernel(body: &str) -> String {
    format!("{HEAD}.entry k() {{ .reg .b64 %rd<4>; .reg .b32 %r<4>;\n{body}\nret; }}\n")
}

const HEAD: &str = ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n";

#[test]
fn a_line_of_the_source_ends_before_the_next_instruction() {
    let lines = [
        ".loc 1 2 3",
        ".loc 1 2 3, function_name $L__info_string0, inlined_at 1 20 7",
        ".loc\t1 2 3, function_name $L__info_string0+12, inlined_at 1 20 7",
        ".loc 1 2 3, function_name .debug_str+16, inlined_at 1 20 7",
        ".loc 1 2 3, function_name info_string,\n inlined_at 1 20 7",
    ];
    for line in lines {
        for following in [
            "bar.sync 0;",
            "@%p1 exit;",
            "label: trap;",
            "{ trap; }",
            ".pragma \"nounroll\"; trap;",
        ] {
            let text = kernel(&format!(".reg .pred %p1;\n{line}\n{following}\n{line}"));
            let parsed = parse(&text);
            assert!(parsed.diagnostics.is_empty(), "{line} {following}: {:?}", parsed.diagnostics);
            let instructions = parsed.module.functions[0].body.len();
            assert_eq!(instructions, 2, "{line} {following}");
        }
    }
}

/// Bodies, and whether they are taken, by the grammar of the PTX ISA.
const BODIES: &[(bool, &str)] = &[
    (true, ".pragma \"nounroll\";"),
    (false, ".pragma \"nounroll\""),
    (false, ".pragma nounroll;"),
    (false, ".loc 1 2"),
    (false, ".loc 1 2 3 4"),
    (false, ".loc 1 2 3,"),
    (false, ".loc 1 2 3, inlined_at 1 2 3"),
    (false, ".loc 1 2 3, function_name a"),
    (false, ".loc 1 2 3, function_name a, inlined_at 1 2"),
    (false, ".loc 1 2 3, function_name a+, inlined_at 1 2 3"),
    (false, ".loc 1 2 3, function_name a b, inlined_at 1 2 3"),
    (false, ".loc 1 2 3, function_name a, inlined_at 1 2 3, inlined_at 1 2 3"),
    (false, ".loc 1 2 3, name a, inlined_at 1 2 3"),
    (false, ".reg .align 4 .b32 %x;"),
    (false, ".reg .ptr .b64 %x;"),
    (false, ".reg .b32 .attribute(.managed) %x;"),
    (false, ".reg .v2 .v2 .b32 x;"),
    (true, ".reg .v2 .b32 x; mov.b32 x.y, 1;"),
    (false, ".reg .v2 .b32 x; mov.b32 x.xy, 1;"),
    (true, "p: .callprototype _ (.param .b32 _) .noreturn; mov.b64 %rd1, 8; call %rd1, (1), p;"),
    (true, "p: .callprototype _ () .abi_preserve 4; call %rd1, p;"),
    (false, "p: .callprototype _ () .abi_preserve; call %rd1, p;"),
    (false, "p: .callprototype _ () .unknown; call %rd1, p;"),
    (false, "p: .callprototype _ () .unknown 3; call %rd1, p;"),
    (false, "p: .callprototype _ () .noreturn .noreturn; call %rd1, p;"),
    (false, "p: .calltargets nowhere; call %rd1, p;"),
    (false, "p: .callprototype _ (); bra p;"),
    (false, "p: call %rd1, p;"),
    (false, "p: .branchtargets q; q: call %rd1, p;"),
    (false, "add.s32 %r0, %r1.b0, 3;"),
    (false, "add.s32 %r0.h1, %r1, 3;"),
    (true, "vset.s32.s32.lt %r0.b0, %r1.b0, %r2, %r3;"),
    (true, "vadd.s32.s32.s32.add %r0, %r1.b0, %r2.h1, %r3;"),
    (false, "vadd.s32.s32.s32.add %r0, %r1.b0, %r2.h1, %r3.h0;"),
    (false, "vadd.s32.s32.s32.add %r0.b1, %r1.b0, %r2.h1, %r3;"),
    (false, "vadd.s32.s32.s32 %r0.h0, %r1, %r2;"),
    (false, "vmad.s32.s32.s32 %r0, %r1.b0, %r2.h1, %r3.b1;"),
    (false, "vmad.s32.s32.s32 %r0.b0, %r1.b0, %r2.h1, %r3;"),
    (true, "vadd4.s32.s32.s32 %r0.b0, %r1, %r2, %r3;"),
    (false, "vadd4.s32.s32.s32 %r0.b02, %r1, %r2, %r3;"),
    (false, "vadd4.s32.s32.s32 %r0, %r1.b3, %r2, %r3;"),
    (false, "vadd2.s32.s32.s32 %r0, %r1.h40, %r2, %r3;"),
];

/// Statements of module scope in the same way.
const MODULES: &[(bool, &str)] = &[
    (true, ".file 2 \"b.cu\""),
    (true, ".file 2 \"b.cu\", 1339013327, 64118"),
    (false, ".file 2 \"b.cu\", 1339013327, 64118, 3"),
    (false, ".file 2 \"b.cu\", -1"),
    (false, ".file \"b.cu\""),
    (true, ".section .debug_str { x: .b8 1,2\n.b8 -3 .b32 x+3\n.b64 x - y\n y: }"),
    (true, ".section .debug_str { .b32 .debug_loc+0x4 .b64 .debug_info }"),
    (false, ".section .debug_str { .b8 1 2 }"),
    (false, ".section .debug_str { .b24 1 }"),
    (false, ".section .debug_str { .b32 x, y }"),
    (false, ".section .debug_str { .b32 1+2, 5 }"),
    (false, ".section .debug_str { ret; }"),
    (false, ".section .debug_str, \"\", @progbits { .b8 1 }"),
    (false, ".section .debug_str { .b8 1"),
    (true, "@@DWARF .section .debug_info, \"\", @progbits\n@@DWARF .byte 0x12, 0x34"),
    (true, "@@DWARF .4byte .debug_info\n@@DWARF .quad label"),
    (false, "@@DWARF .byte 0x12 .entry"),
    (false, "@@DWARF unknown"),
    (false, "@@OTHER .byte 1"),
    (false, "@DWARF .byte 1"),
    (false, ".version 9.0"),
    (false, ".address_size 64"),
    (false, ".target"),
    (false, ".target machine"),
    (false, ".target sm_90, unknown"),
    (true, ".target sm_90, map_f64_to_f32"),
    (false, ".target sm_90, map_f64_to_f32\n.entry d() { .reg .f64 %d; add.f64 %d, %d, %d; }"),
    (false, ".visible .visible .global .b32 x;"),
    (false, ".visible .weak .global .b32 x;"),
    (true, ".global .attribute(.managed) .b32 x;"),
    (false, ".global .attribute(.unknown) .b32 x;"),
    (false, ".global .attribute(managed) .b32 x;"),
    (false, ".global .attribute(.managed .managed) .b32 x;"),
    (false, ".global .align 4 .align 8 .b32 x;"),
    (false, ".global .v2 .v4 .b32 x;"),
    (true, ".entry a(.param .u64 .ptr .global .align 8 x) { ret; }"),
    (false, ".entry a(.param .u64 .ptr .global .shared x) { ret; }"),
    (false, ".entry a(.param .u64 .ptr .ptr x) { ret; }"),
    (true, ".entry a() .maxntid 32, 2 .minnctapersm 2 .maxnreg 64 { ret; }"),
    (false, ".entry a() .maxntid 32 .reqntid 32 { ret; }"),
    (false, ".entry a() .maxntid 32, 2, 1, 1 { ret; }"),
    (false, ".entry a() .minnctapersm { ret; }"),
    (false, ".entry a() .unknown 2 { ret; }"),
    (false, ".entry a() .attribute(.unknown) { ret; }"),
    (true, ".global .samplerref s[2] = { {filter_mode=linear}, {filter_mode=nearest} };"),
    (true, ".global .texref t = { width = 3, height = 2, normalized_coords = 0 };"),
    (false, ".global .texref t = { width 3 };"),
    (false, ".global .texref t = { unknown = 3 };"),
    (false, ".global .texref t = { width = 3 height = 2 };"),
];

#[test]
fn directives_are_taken_and_refused_by_their_grammar() {
    let bodies = BODIES.iter().map(|(taken, body)| (taken, kernel(body)));
    let modules = MODULES
        .iter()
        .map(|(taken, text)| (taken, format!("{HEAD}{text}\n.entry k() {{ ret; }}\n")));
    let mut wrong = Vec::new();
    for (taken, text) in bodies.chain(modules) {
        let diagnostics = parse(&text).diagnostics;
        if *taken != diagnostics.is_empty() {
            wrong.push((text, diagnostics));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_unknown_is_named_with_its_place() {
    let text = kernel(".loc 1 2 3, name a, inlined_at 1 2 3");
    let diagnostics = parse(&text).diagnostics;
    assert_eq!(diagnostics[0].message, "expected `function_name`, found `name`");
    assert_eq!(&text[diagnostics[0].span.start as usize..diagnostics[0].span.end as usize], "name");
}
