//! Kernels that move matrices through memory: what PTX leaves open of their registers is not seen.

use std::fmt::Write as _;

use strata_ptx::fuzzing::{Instance, InstanceKind, instances};
use strata_ptx::types::ScalarType;

use crate::cases::{Arrays, Case, Group, entry};

/// `wmma` from memory to memory, and `ldmatrix` and `stmatrix`.
pub(crate) fn matrices(arrays: &mut Arrays) -> Group {
    let mut cases = Vec::new();
    for instance in instances(|_| false) {
        let product = instance.opcode == "wmma"
            && instance.operands.iter().all(|operand| operand.kind == InstanceKind::Fragment);
        if product {
            let whole = instance.words.contains(&"s32");
            let variants: &[&str] = if whole { &["any"] } else { &["int", "real", "wild"] };
            cases.extend(variants.iter().map(|variant| wmma(&instance, variant, arrays)));
        }
    }
    for number in ["x1", "x2", "x4"] {
        for trans in ["", ".trans"] {
            cases.push(rows(number, trans, arrays));
        }
    }
    Group { opcode: "matrices", cases }
}

/// Elements that a matrix in memory has, and registers of a lane.
fn registers(rows: usize, columns: usize, element: &str, role: char) -> usize {
    let bits = match element {
        "f16" | "bf16" => 16,
        "u8" | "s8" => 8,
        "u4" | "s4" => 4,
        "b1" => 1,
        "f64" => return rows * columns / 32,
        _ => 32,
    };
    // Factors of halves have as many registers for every shape: they repeat what they hold.
    if element == "f16" && role != 'c' { 8 } else { (rows * columns * bits / (32 * 32)).max(1) }
}

fn wmma(instance: &Instance, variant: &str, arrays: &mut Arrays) -> Case {
    let words = &instance.words;
    let shape =
        words.iter().find(|word| word.starts_with('m') && word.contains('k') && word.len() > 3);
    let shape = *shape.expect("a shape");
    let sizes: Vec<usize> =
        shape.split(['m', 'n', 'k']).filter_map(|size| size.parse().ok()).collect();
    let (m, n, k) = (sizes[0], sizes[1], sizes[2]);
    let layouts: Vec<&str> =
        words.iter().filter(|word| matches!(**word, "row" | "col")).copied().collect();
    let names = ["f16", "bf16", "tf32", "f32", "f64", "s32", "u8", "s8", "u4", "s4", "b1"];
    let elements: Vec<&str> = words.iter().filter(|w| names.contains(w)).copied().collect();
    let (a, b, c, d) = match elements[..] {
        [d, c] => ("f16", "f16", c, d),
        _ => (elements[1], elements[2], elements[3], elements[0]),
    };
    let mut body = String::new();
    let mut next = 8;
    let mut names = |count: usize, element: &str| {
        let letter = if element == "f64" { 'd' } else { 'r' };
        let list: Vec<String> = (next..next + count).map(|n| format!("%{letter}{n}")).collect();
        next += count;
        format!("{{{}}}", list.join(", "))
    };
    let lists = [
        names(registers(m, k, a, 'a'), a),
        names(registers(k, n, b, 'b'), b),
        names(registers(m, n, c, 'c'), c),
        names(registers(m, n, d, 'c'), d),
    ];
    // Each warp has matrices of its own, 32 bytes further on.
    body.push_str("shr.u32 %r1, %r0, 5;\nmad.wide.u32 %d3, %r1, 32, %d0;\n");
    let roles = [('a', a, layouts[0], m, k), ('b', b, layouts[1], k, n), ('c', c, "row", m, n)];
    for (number, (role, element, layout, lines, columns)) in roles.into_iter().enumerate() {
        let stride = if layout == "row" { columns } else { lines };
        let integers = ["s32", "u8", "s8", "u4", "s4", "b1"].contains(&element);
        let kind = match (integers, variant) {
            (true, _) => "memory.any".to_owned(),
            (false, "real") => format!("memory.{element}"),
            (false, variant) => format!("memory.{variant}.{element}"),
        };
        let place = arrays.place(&kind, number);
        let _ = writeln!(
            body,
            "wmma.load.{role}.sync.aligned.{layout}.{shape}.global.{element} {}, [%d3+{place}], {stride};",
            lists[number]
        );
    }
    let [a, b, c, result] = &lists;
    let _ = writeln!(body, "{} {result}, {a}, {b}, {c};", instance.text);
    // 32 threads have so many bytes: the matrix of a warp.
    let outputs = (m * n * if d == "f64" { 8 } else { 4 }).div_ceil(8 * 32);
    let _ = writeln!(body, "mad.wide.u32 %d3, %r1, {}, %d1;", 8 * 32 * outputs);
    let _ =
        writeln!(body, "wmma.store.d.sync.aligned.row.{shape}.global.{d} [%d3], {result}, {n};");
    let name = format!("{}#{variant}", instance.text);
    let packed =
        if d == "f16" { ScalarType::F16x2 } else { ScalarType::from_name(d).expect("a type") };
    let text = entry("", outputs, &body);
    Case { name, text, outputs: vec![packed; outputs], texture: None }
}

/// `ldmatrix` of rows that warps have stored, then `stmatrix` of what it read, transposed or not.
fn rows(number: &str, trans: &str, arrays: &mut Arrays) -> Case {
    let count: usize = number[1..].parse().expect("a number of matrices");
    let registers: Vec<String> = (8..8 + count).map(|n| format!("%r{n}")).collect();
    let list = format!("{{{}}}", registers.join(", "));
    let mut body = String::new();
    // Rows of 16 bytes, a warp's in a place of its own; lanes name them backwards.
    body.push_str("mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 31;\nxor.b32 %r4, %r1, 31;\n");
    body.push_str("mov.u32 %r3, tile;\nmad.lo.u32 %r5, %r1, 16, %r3;\n");
    body.push_str("mad.lo.u32 %r4, %r4, 16, %r3;\n");
    for part in 0..2 {
        let place = arrays.place("b64", part);
        let _ = writeln!(body, "ld.global.b64 %d8, [%d2+{place}];");
        let _ = writeln!(body, "st.shared.b64 [%r5+{}], %d8;", 8 * part);
    }
    body.push_str("bar.sync 0;\n");
    let _ = writeln!(body, "ldmatrix.sync.aligned.m8n8.{number}{trans}.shared.b16 {list}, [%r4];");
    body.push_str("bar.sync 0;\n");
    for (place, register) in registers.iter().enumerate() {
        let _ = writeln!(body, "st.global.b32 [%d3+{}], {register};", 4 * place);
    }
    let _ = writeln!(body, "stmatrix.sync.aligned.m8n8.{number}{trans}.shared.b16 [%r5], {list};");
    body.push_str("bar.sync 0;\nld.shared.v2.b64 {%d8, %d9}, [%r5];\n");
    body.push_str("st.global.b64 [%d3+16], %d8;\nst.global.b64 [%d3+24], %d9;\n");
    let variables = ".shared .align 16 .b8 tile[4096];\n";
    let name = format!("ldmatrix.sync.aligned.m8n8.{number}{trans}.b16");
    let text = entry(variables, 4, &body);
    Case { name, text, outputs: vec![ScalarType::B64; 4], texture: None }
}
