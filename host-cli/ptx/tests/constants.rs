//! Constants, compared with what the real assembler stores: expressions wherever they may stand, and
//! the initial contents of variables.

use strata_ptx::module::{AddressInitializer, AddressMode, Module, Operand, SamplerInitializer};
use strata_ptx::{Parsed, parse};

const HEAD: &str = ".version 8.8\n.target sm_90\n.address_size 64\n";

fn accepted(text: &str) -> Module {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics.first());
    parsed.module
}

/// Expressions and their values, `tests/constants.txt`.
fn table() -> Vec<(u64, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/constants.txt");
    let list = std::fs::read_to_string(path).expect("the list is there");
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| {
        let (value, expression) = line.split_once(' ').expect("a value and an expression");
        let value = u64::from_str_radix(&value[2..], 16).expect("64 bits");
        (value, expression.to_owned())
    };
    lines.map(row).collect()
}

/// Those of `found` that are not what the table says.
fn wrong(table: &[(u64, String)], found: &[u64]) -> Vec<String> {
    assert_eq!(table.len(), found.len());
    let pairs = table.iter().zip(found).filter(|((value, _), found)| value != *found);
    pairs.map(|((value, text), found)| format!("{text}: {found:#x}, not {value:#x}")).collect()
}

#[test]
fn expressions_as_initial_contents() {
    let table = table();
    assert!(table.len() > 600);
    let values: Vec<&str> = table.iter().map(|(_, text)| text.as_str()).collect();
    for space in ["global", "const"] {
        let text = format!("{HEAD}.{space} .u64 x[] = {{{}}};\n", values.join(",\n"));
        let initial = accepted(&text).variables.remove(0).initial.expect("contents");
        let found: Vec<u64> =
            initial.bytes.chunks(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(wrong(&table, &found), [""; 0]);
    }
}

#[test]
fn expressions_as_immediates_and_offsets() {
    let table = table();
    for (shape, source) in [
        ("mov.u64 %d, ?;", 0),
        ("ld.global.u64 %d, [%d + ?];", 0),
        ("ld.global.u64 %d, [x + ?];", 0),
        ("st.global.u64 [%d], ?;", 1),
        ("mov.u64 %d, x + ?;", 0),
        ("add.u64 %d, %d, ?;", 1),
    ] {
        let body: String = table.iter().map(|(_, text)| shape.replace('?', text) + "\n").collect();
        let module =
            accepted(&format!("{HEAD}.global .u64 x;\n.entry k() {{ .reg .u64 %d;\n{body}ret; }}"));
        let body = &module.functions[0].body;
        let found: Vec<u64> = body[..table.len()]
            .iter()
            .map(|instruction| match &instruction.sources[source] {
                Operand::Integer(bits) => *bits,
                Operand::Address { offset, .. } | Operand::Symbol { offset, .. } => *offset as u64,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(wrong(&table, &found), [""; 0], "{shape}");
    }
}

/// The bytes of a variable that is declared so, up to its last given value.
fn bytes(declaration: &str) -> Vec<u8> {
    let module = accepted(&format!("{HEAD}.global {declaration};\n"));
    module.variables[0].initial.clone().expect("contents").bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// What ptxas 13.5 stores.
#[test]
fn contents_of_every_type() {
    for (declaration, expected) in [
        // Integers are cut.
        (".u8 x = 300", "2c"),
        (".s8 x = -300", "d4"),
        (".b8 x = 0x123456789", "89"),
        (".u16 x = 65537", "0100"),
        (".s16 x = -5", "fbff"),
        (".b32 x = 0x123456789", "89674523"),
        (".s32 x = -2147483649", "ffffff7f"),
        (".u32 x = 4294967296", "00000000"),
        (".b64 x = ~0 >> 1", "ffffffffffffff7f"),
        // Floating-point numbers in decimal, by their bits and as expressions.
        (".f32 x = 1.0+2.0", "00004040"),
        (".f64 x = 1.0/3.0", "555555555555d53f"),
        (".f64 x = (1.0 + 2.0) * 3.0 - .5", "0000000000002140"),
        (".f64 x = -(1.0+2.0)", "00000000000008c0"),
        (".f64 x = 0d3ff8000000000000+1.0", "0000000000000440"),
        (".f32 x = 0.1+0.2", "9a99993e"),
        (".f32 x = .5", "0000003f"),
        (".f32 x = 1.", "0000803f"),
        (".f64 x = 1.e3", "0000000000408f40"),
        (".f64 x = .5e1", "0000000000001440"),
        (".f64 x = 1e308*10.0", "000000000000f07f"),
        (".f32 x = 1e39", "0000807f"),
        (".f32 x = 1e-46", "00000000"),
        (".f32 x = 3.4028236e38", "0000807f"),
        (".f32 x = -0.0", "00000080"),
        (".f32 x = 0d3ff8000000000000", "0000c03f"),
        (".f32 x = 0d7ff0000020000001", "0100c07f"),
        (".f32 x = 0dfff4000000000000", "0000e0ff"),
        (".f32 x = 0f7f800001", "0100807f"),
        (".f64 x = 0f3fc00000", "0000c03f00000000"),
        (".f64 x = (0f7f800001)", "0100807f00000000"),
        // Untyped elements take the bits that fit: of 32, those of a single.
        (".b32 x = 1.5", "0000c03f"),
        (".b32 x = 0d3ff8000000000000", "0000c03f"),
        (".b32 x = 0f3fc00000", "0000c03f"),
        (".b64 x = 1.5", "000000000000f83f"),
        (".b64 x = 0f3fc00000", "0000c03f00000000"),
        (".b64 x = 1.0 < 2.0", "0100000000000000"),
        (".b16 x = 1.5", "0000"),
        (".b8 x = 0d3ff8000000000012", "12"),
        // A byte of an integer.
        (".u8 x = 0xFF00(0x1234)", "12"),
        (".u8 x = 0xFF00000000000000(-1)", "ff"),
        (".u32 x = 0xFF00(0x12345678)", "56000000"),
        (".u16 x = 0xFF(4 + 4)", "0800"),
        // Arrays.
        (".u32 x[4] = {1, 2}", "0100000002000000"),
        (".u32 x[2][2] = {{1, 2}, {3}}", "010000000200000003000000"),
        (".f32 x[] = {1.5, 0f3fc00000, 1.0 + .5}", "0000c03f0000c03f0000c03f"),
        (".v2 .u32 x[2] = {{1, 2}, {3, 4}}", "01000000020000000300000004000000"),
    ] {
        assert_eq!(hex(&bytes(declaration)), expected, "{declaration}");
    }
}

/// ptxas refuses all of these, but the rows, whose values it moves (DEV-173), and what is negative in
/// 128 bits, whose upper half it does not define.
#[test]
fn contents_that_are_refused() {
    for (declaration, code) in [
        (".f32 x = 5", "value-type"),
        (".f64 x = WARP_SZ", "value-type"),
        (".f32 x = 1.0 < 2.0", "value-type"),
        (".u32 x = 1.5", "value-type"),
        (".s8 x = 0f3fc00000", "value-type"),
        (".f16 x = 1.5", "bad-initializer"),
        (".f16 x = 0x3e00", "bad-initializer"),
        (".f16x2 x = 0", "bad-initializer"),
        (".f64 x = 1.5 * 2", "mixed-constants"),
        (".f64 x = 1 ? 2.0 : 3", "not-integer"),
        (".f64 x = 1 ? 2.0 : 3.0", "not-integer"),
        (".f64 x = 1.0 == 1.0 ? 2.0 : 3.0", "not-integer"),
        (".u64 x = 1 && 1.0", "mixed-constants"),
        (".u64 x = 1.0 && 1.0", "not-integer"),
        (".u64 x = !1.5", "not-integer"),
        (".u64 x = ~1.5", "not-integer"),
        (".u64 x = 1.0 & 1.0", "not-integer"),
        (".u64 x = 1.0 ? 2 : 3", "not-integer"),
        (".u64 x = (.u64)1.5", "not-integer"),
        (".f64 x = 1.0 / 0.0", "division-by-zero"),
        (".u64 x = 0 ? 1 / 0 : 3", "division-by-zero"),
        (".f32 x = -0f3fc00000", "single-constant"),
        (".f32 x = 0f3fc00000 + 1.0", "single-constant"),
        (".f64 x = 1e400", "bad-number"),
        (".f64 x = 1.0e-400", "bad-number"),
        (".f64 x = 5e-324", "bad-number"),
        (".f64 x = -2.2250738585072009e-308", "bad-number"),
        (".f32 x = 1.5f", "expected-semicolon"),
        (".f32 x = 1..2", "expected-semicolon"),
        (".b64 x = 0x1.8p1", "expected-semicolon"),
        (".u64 x = 18446744073709551616", "bad-number"),
        (".u64 x = (.u32)5", "syntax"),
        (".b128 x = -5", "value-range"),
        (".u32 x[2][2] = {{1}, {3}}", "short-row"),
        (".u32 x[2][2] = {{}, {3}}", "short-row"),
        (".u32 x[2][2][2] = {{{1, 2}}, {{5}}}", "short-row"),
        (".v2 .u32 x[2] = {{1}, {3}}", "short-row"),
        (".u64 x = 0x7F(4)", "bad-initializer"),
    ] {
        let Parsed { diagnostics, .. } = parse(&format!("{HEAD}.global {declaration};\n"));
        let codes: Vec<_> = diagnostics.iter().map(|problem| problem.code).collect();
        assert_eq!(codes, [code], "{declaration}");
    }
}

#[test]
fn addresses_with_offsets_and_masks() {
    let head = format!("{HEAD}.global .u64 g;\n.const .u64 c[2];\n");
    let address = |declaration: &str| -> AddressInitializer {
        let module = accepted(&format!("{head}.global {declaration};\n"));
        let initial = module.variables[2].initial.clone().expect("contents");
        assert!(initial.bytes.iter().all(|&byte| byte == 0));
        assert_eq!(initial.bytes.len() as u64, module.variables[2].size, "{declaration}");
        initial.addresses[0].clone()
    };
    for (declaration, size, shift, addend, generic) in [
        (".u64 x = g + 4", 8, 0, 4, false),
        (".u64 x = g + 4 - 8", 8, 0, -4, false),
        (".u64 x = g + 1 << 2", 8, 0, 4, false),
        (".u64 x = g + 4 | 1", 8, 0, 5, false),
        (".u64 x = g + -7 % 3", 8, 0, 0, false),
        (".u64 x = g + (~0)", 8, 0, -1, false),
        (".u64 x = g + 1 ? 4 : 8", 8, 0, 4, false),
        (".u64 x = generic(g) + 4", 8, 0, 4, true),
        (".u64 x = generic(c) + 4 * 2", 8, 0, 8, true),
        (".u8 x = 0xFF(g + 4)", 1, 0, 4, false),
        (".u8 x = 0xFF00(g + 4 + 4)", 1, 8, 8, false),
        (".u8 x = 0xFF0000(generic(c) + 8)", 1, 16, 8, true),
        (".u8 x = 0xFF00000000000000(generic(g))", 1, 56, 0, true),
        (".u8 x = 0377(g + (1 << 2))", 1, 0, 4, false),
        (".u32 x = 0xFF00(g + 4)", 1, 8, 4, false),
        (".u64 x = 0xFF(generic(g) + 4)", 1, 0, 4, true),
    ] {
        let found = address(declaration);
        let found = (found.size, found.shift, found.addend, found.generic);
        assert_eq!(found, (size, shift, addend, generic), "{declaration}");
    }
    for declaration in [
        ".u64 x = generic(g + 4)",
        ".u64 x = g + 1.0",
        ".u64 x = g * 2",
        ".u64 x = 4 + g",
        ".u8 x = 0xFF(g) + 4",
        ".u8 x = 0xFF(g + g)",
        ".u8 x = 0xFF(1.5)",
        ".u16 x = 0xFF(g)",
        ".f64 x = g",
        ".f64 x = 0xFF(g)",
        ".u8 x = g",
    ] {
        let parsed = parse(&format!("{head}.global {declaration};\n"));
        assert_eq!(parsed.diagnostics.len(), 1, "{declaration}: {:?}", parsed.diagnostics);
    }
}

#[test]
fn samplers_keep_what_they_are_initialised_with() {
    let samplers = |declaration: &str| {
        let module = accepted(&format!("{HEAD}.global .samplerref {declaration};\n"));
        module.variables[0].initial.clone().expect("contents").samplers
    };
    let found = samplers(
        "s = { addr_mode_0 = clamp_to_border, addr_mode_2 = 2, filter_mode = linear,
         force_unnormalized_coords = 1 }",
    );
    let address_modes = [Some(AddressMode::ClampToBorder), None, Some(AddressMode::Mirror)];
    let expected = SamplerInitializer { address_modes, linear: Some(true), unnormalized: true };
    assert_eq!(found, [expected]);
    assert_eq!(samplers("s = {}"), [SamplerInitializer::default()]);
    let found = samplers("s[2] = { {filter_mode = 1}, {addr_mode_1 = 0} }");
    let nearest = SamplerInitializer { linear: Some(false), ..SamplerInitializer::default() };
    assert_eq!(found, [nearest, SamplerInitializer::default()]);
    for (declaration, message) in [
        (".samplerref s = { width = 4 }", "`width` is not a property of a sampler"),
        (".samplerref s = { addr_mode_3 = wrap }", "`addr_mode_3` is not a property of a sampler"),
        (".texref s = { force_unnormalized_coords = 1 }", "`force_unnormalized_coords` is not a"),
        (".surfref s = { filter_mode = linear }", "`filter_mode` is not a property of a surface"),
        (".samplerref s = { addr_mode_0 = clamp }", "`clamp` is not a value of this property"),
        (".samplerref s = { addr_mode_0 = 6 }", "`6` is not a value of this property"),
        (".samplerref s = { filter_mode = wrap }", "`wrap` is not a value of this property"),
        (".samplerref s = { filter_mode = 1, filter_mode = 2 }", "`filter_mode` is given twice"),
        (".samplerref s = { addr_mode_0 = clamp_ogl, filter_mode = linear }", "`clamp_ogl` with"),
        (".samplerref s[1] = { {}, {} }", "more initial values than the variable has elements"),
    ] {
        let found = parse(&format!("{HEAD}.global {declaration};\n")).diagnostics;
        assert_eq!(found.len(), 1, "{declaration}: {found:?}");
        assert!(found[0].message.starts_with(message), "{}", found[0].message);
    }
}
