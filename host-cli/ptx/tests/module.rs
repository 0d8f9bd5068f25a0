//! The modules of small files.

use strata_ptx::diagnostic::DiagnosticKind;
use strata_ptx::module::{
    AddressBase, Axis, Function, FunctionId, Linkage, Module, Operand, SpecialRegister, StateSpace,
    Symbol, VariableId, VirtualRegister,
};
use strata_ptx::opcode::{
    AtomicOp, BarrierOp, BooleanOp, Comparison, Half, MemoryOrder, Opcode, Rounding, Scope,
    ShuffleMode, VoteMode,
};
use strata_ptx::parse;
use strata_ptx::types::ScalarType;

fn well(text: &str) -> Module {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
    parsed.module
}

fn module(text: &str) -> Module {
    well(&format!(".version 8.0\n.target sm_90\n.address_size 64\n{text}"))
}

/// The kernel with this body and some registers.
fn kernel(body: &str) -> Function {
    let text = format!(
        ".global .align 4 .b8 array[64]; .shared .align 4 .b8 tile[64];\n\
         .func (.param .b32 r) callee(.param .b32 a) {{ ret; }}\n\
         .entry k(.param .u64 p)\n{{\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>;\n\
         .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;\n{body}\n}}\n"
    );
    module(&text).functions.pop().expect("the kernel")
}

fn register(function: &Function, operand: &Operand) -> String {
    match operand {
        Operand::Register(id) => function.registers[id.index()].name.clone(),
        other => panic!("{other:?} is no register"),
    }
}

#[test]
fn header_is_read() {
    let module = module("");
    assert_eq!(module.version, (8, 0));
    assert_eq!(module.target, "sm_90");
    assert_eq!(module.address_bits, 64);
    assert_eq!(well(".version 1.4\n.target sm_13").address_bits, 64);
}

#[test]
fn variables_have_size_alignment_and_contents() {
    let module = module(
        ".visible .global .align 16 .u32 table[2][3] = {{1, 2, 0}, {-3}};
         .const .f32 f = 1.5; .global .v2 .u16 v[2] = {{1, 2}, {3, 4}};
         .extern .shared .align 8 .b8 open[]; .global .u8 counted[] = {1, 2, 3};
         .global .f64 d = 0d4000000000000000; .global .b32 bits = 0f3F800000;
         .global .u64 flat[3] = {7}; .weak .global .s8 last = -1;",
    );
    let find = |name: &str| module.variables.iter().find(|v| v.name == name).expect("declared");
    let bytes = |name: &str| find(name).initial.clone().expect("initialized").bytes;
    let table = find("table");
    assert_eq!((table.size, table.align, table.linkage), (24, 16, Linkage::Visible));
    assert_eq!(table.dimensions, [2, 3]);
    let words: Vec<i32> = bytes("table")
        .chunks(4)
        .map(|b| i32::from_le_bytes(b.try_into().expect("four bytes")))
        .collect();
    assert_eq!(words, [1, 2, 0, -3], "rows begin at their own place; the rest is zero");
    assert_eq!(bytes("f"), 1.5_f32.to_le_bytes());
    assert_eq!(find("f").space, StateSpace::Const);
    assert_eq!(bytes("v"), [1, 0, 2, 0, 3, 0, 4, 0]);
    assert_eq!((find("v").size, find("v").align, find("v").vector), (8, 4, 2));
    let open = find("open");
    assert_eq!((open.size, open.linkage, open.space), (0, Linkage::Extern, StateSpace::Shared));
    assert_eq!(open.dimensions, [0]);
    assert_eq!((find("counted").size, &*find("counted").dimensions), (3, &[3][..]));
    assert_eq!(bytes("d"), 2.0_f64.to_le_bytes());
    assert_eq!(bytes("bits"), 1.0_f32.to_le_bytes());
    assert_eq!((bytes("flat").len(), find("flat").size), (8, 24));
    assert_eq!(bytes("last"), [0xFF]);
}

#[test]
fn addresses_in_contents_are_kept_apart() {
    let module = module(
        ".global .u32 target[4]; .func f() { ret; }
         .global .u64 pointers[4] = {0, target, generic(target)+8, f};",
    );
    let initial = module.variables[1].initial.as_ref().expect("initialized");
    assert_eq!(initial.bytes, [0; 32]);
    let found: Vec<_> = initial
        .addresses
        .iter()
        .map(|a| (a.offset, a.size, a.symbol, a.addend, a.generic))
        .collect();
    let target = Symbol::Module(VariableId(0));
    let function = Symbol::Function(FunctionId(0));
    assert_eq!(
        found,
        [(8, 8, target, 0, false), (16, 8, target, 8, true), (24, 8, function, 0, false)]
    );
}

#[test]
fn functions_keep_their_number_and_their_definition() {
    let module = module(
        ".func (.param .b32 r) f(.param .b32 a, .param .b64 b);
         .entry k() { ret; }
         .func (.param .b32 r) f(.param .b32 a, .param .b64 b) { trap; }
         .func (.param .b32 r) f(.param .b32 a, .param .b64 b);
         .extern .func (.param .b32 r) vprintf(.param .b64 x, .param .b64 y);
         .entry bounded() .maxntid 16, 8 .minnctapersm 2 { ret; }
         .func stop() .noreturn { trap; }",
    );
    let names: Vec<&str> = module.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["f", "k", "vprintf", "bounded", "stop"]);
    let f = &module.functions[0];
    assert!(f.defined && !f.kernel && f.body[0].opcode == Opcode::Trap);
    assert_eq!((f.parameters, f.results), (2, 1));
    let variables: Vec<&str> = f.variables.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(variables, ["a", "b", "r"], "parameters first, then results");
    assert!(!module.functions[2].defined);
    let kernels: Vec<_> = module.kernels().map(|(id, f)| (id.index(), f.name.as_str())).collect();
    assert_eq!(kernels, [(1, "k"), (3, "bounded")]);
    assert_eq!(module.kernel("bounded").map(FunctionId::index), Some(3));
    assert_eq!(module.kernel("stop"), None, "no kernel");
    assert_eq!(module.functions[3].launch.block_sides(), Some([16, 8, 1]));
    assert!(module.functions[4].noreturn && !f.noreturn);
}

#[test]
fn register_parameters_are_registers() {
    let module = module(
        ".func (.reg .f32 out) f(.reg .f32 a) { add.f32 out, a, a; ret; }
         .entry k() { .reg .f32 %f<3>; call (%f1), f, (%f2); ret; }",
    );
    let f = &module.functions[0];
    assert_eq!(f.variables[0].register, Some(VirtualRegister(0)));
    assert_eq!(f.variables[1].register, Some(VirtualRegister(1)));
    assert_eq!(f.body[0].destinations, [Operand::Register(VirtualRegister(1))]);
    assert_eq!(f.body[0].sources, vec![Operand::Register(VirtualRegister(0)); 2]);
}

#[test]
fn ranges_of_registers_are_cut_where_they_were_declared() {
    let module = module(
        ".entry k() { .reg .b32 %r<20>, %q1<3>; .reg .b64 %r30, x<2>; .reg .f32 %q<5>;
         add.s32 %r19, %r0, %q12; mov.b64 %r30, x1; add.f32 %q4, %q1, %q1; }",
    );
    let names: Vec<_> =
        module.functions[0].registers.iter().map(|r| (r.name.as_str(), r.ty)).collect();
    let expected = [
        ("%r19", ScalarType::B32),
        ("%r0", ScalarType::B32),
        ("%q12", ScalarType::B32),
        ("%r30", ScalarType::B64),
        ("x1", ScalarType::B64),
        ("%q4", ScalarType::F32),
        ("%q1", ScalarType::F32),
    ];
    assert_eq!(names, expected);
    for name in ["%r20", "%r019", "%r", "%r-1", "%q3x"] {
        let text = format!(".version 8.0\n.entry k() {{ .reg .b32 %r<20>; mov.b32 %r1, {name}; }}");
        assert!(parse(&text).has_errors(), "{name}");
    }
}

#[test]
fn names_in_blocks_shadow_those_outside() {
    let function = kernel(
        "mov.b32 %r1, 1;
         { .reg .b32 %r1; .param .b32 q; mov.b32 %r1, 2; { .reg .f32 %r1; add.f32 %r1, %r1, %r1; }
           st.param.b32 [q], %r1; }
         { .param .b32 q; st.param.b32 [q], %r1; }",
    );
    let types: Vec<_> = function.registers.iter().map(|r| (r.name.as_str(), r.ty)).collect();
    let (b32, f32) = (ScalarType::B32, ScalarType::F32);
    assert_eq!(types, [("%r1", b32), ("%r1", b32), ("%r1", f32)]);
    let stored: Vec<_> = function.body[3..].iter().map(|i| i.sources.clone()).collect();
    let address = |id| Operand::Address {
        base: AddressBase::Symbol(Symbol::Local(VariableId(id))),
        offset: 0,
    };
    assert_eq!(stored[0], [address(1), Operand::Register(VirtualRegister(1))]);
    assert_eq!(stored[1], [address(2), Operand::Register(VirtualRegister(0))]);
}

#[test]
fn labels_belong_to_their_block() {
    let function = kernel(
        "again: bra inner_or_outer;
         { inner_or_outer: bra inner_or_outer; bra again; }
         inner_or_outer: bra end;
         table: .branchtargets again, inner_or_outer, end; brx.idx %r1, table;
         end:",
    );
    let target = |index: usize| match function.body[index].sources.as_slice() {
        [Operand::Label(id)] => function.labels[id.index()].target,
        other => panic!("{other:?}"),
    };
    assert_eq!((0..4).map(target).collect::<Vec<_>>(), [3, 1, 0, 5]);
    let brx = &function.body[4];
    assert_eq!(brx.sources[1], Operand::BranchTable(0));
    let table: Vec<u32> =
        function.branch_tables[0].iter().map(|id| function.labels[id.index()].target).collect();
    assert_eq!(table, [0, 3, 5], "a label at the end stands after the last instruction");
}

#[test]
fn operands_are_sorted_into_results_and_sources() {
    let function = kernel(
        "setp.lt.and.s32 %p1|%p2, %r1, -5, !%p3;
         ld.global.nc.v2.f32 {%f1, _}, [array+8];
         st.shared.u32 [tile], 7;
         atom.global.add.u32 %r2, [%rd1+-4], %r3;
         mov.b64 {%r4, %r5}, %rd2;
         mov.u32 %r1, %ctaid.y;
         mov.u64 %rd1, array+12;
         @!%p1 fma.rn.f32 %f1, 0f40000000, 1.5, %f2;
         shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;",
    );
    let body = &function.body;
    assert_eq!(body[0].destinations.len(), 2);
    assert_eq!(register(&function, &body[0].destinations[1]), "%p2");
    assert_eq!(body[0].sources[1], Operand::Integer(-5_i64 as u64));
    assert!(matches!(body[0].sources[2], Operand::NotRegister(_)));
    let Operand::Vector(elements) = &body[1].destinations[0] else { panic!("a vector") };
    assert_eq!(elements[1], Operand::Sink);
    let array = Symbol::Module(VariableId(0));
    let base = AddressBase::Symbol(array);
    assert_eq!(body[1].sources, [Operand::Address { base, offset: 8 }]);
    assert!(body[2].destinations.is_empty());
    assert_eq!(body[2].sources[1], Operand::Integer(7));
    assert_eq!(body[3].sources.len(), 2);
    assert!(matches!(body[3].sources[0], Operand::Address { offset: -4, .. }));
    assert!(matches!(&body[4].destinations[..], [Operand::Vector(v)] if v.len() == 2));
    assert_eq!(body[5].sources, [Operand::Special(SpecialRegister::Ctaid(Axis::Y))]);
    assert_eq!(body[6].sources, [Operand::Symbol { symbol: array, offset: 12 }]);
    assert!(body[7].guard.is_some_and(|guard| guard.negated));
    assert_eq!(body[7].sources[0], Operand::Float32(2.0_f32.to_bits()));
    assert_eq!(body[7].sources[1], Operand::Float64(1.5_f64.to_bits()));
    assert_eq!((body[8].destinations.len(), body[8].sources.len()), (2, 4));
}

#[test]
fn calls_name_the_function_then_the_arguments() {
    let function = kernel(
        "{ .param .b32 a; .param .b32 r; call.uni (r), callee, (a); call (r), callee, (a);
           p: .callprototype (.param .b32 _) _ (.param .b32 _);
           call (r), %rd1, (a), p; }",
    );
    let local = |id| Operand::Symbol { symbol: Symbol::Local(VariableId(id)), offset: 0 };
    let callee = Symbol::Function(FunctionId(0));
    let direct = &function.body[0];
    assert!(direct.modifiers.uniform && !function.body[1].modifiers.uniform);
    assert_eq!(direct.destinations, [local(2)]);
    assert_eq!(direct.sources, [Operand::Symbol { symbol: callee, offset: 0 }, local(1)]);
    let indirect = &function.body[2];
    assert!(matches!(indirect.sources[0], Operand::Register(_)));
    assert!(matches!(indirect.sources[2], Operand::Label(_)));
}

#[test]
fn modifiers_are_told_apart_by_opcode() {
    let function = kernel(
        "mul.hi.u32 %r1, %r2, %r3; setp.hi.u32 %p1, %r1, %r2; setp.lt.or.f32 %p1, %f1, %f2, %p2;
         atom.relaxed.gpu.global.or.b32 %r1, [%rd1], %r2; bar.red.or.pred %p1, 0, %p2;
         vote.sync.any.pred %p1, %p2, -1; shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;
         cvt.rzi.ftz.sat.u8.f32 %r1, %f1; ld.volatile.global.u32 %r1, [%rd1];
         bar.warp.sync -1; bar.sync 0; fma.rp.f64 %fd1, %fd2, %fd1, %fd2;
         ld.shared::cta.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1]; cvta.to.shared.u64 %rd1, %rd2;",
    );
    let m = |index: usize| &function.body[index].modifiers;
    assert_eq!((m(0).half, m(0).comparison), (Some(Half::High), None));
    assert_eq!((m(1).half, m(1).comparison), (None, Some(Comparison::Hi)));
    assert_eq!(m(2).boolean, Some(BooleanOp::Or));
    assert_eq!((m(3).atomic, m(3).boolean), (Some(AtomicOp::Or), None));
    assert_eq!((m(3).order, m(3).scope), (Some(MemoryOrder::Relaxed), Some(Scope::Gpu)));
    assert_eq!((m(4).barrier, m(4).atomic), (Some(BarrierOp::RedOr), None));
    assert_eq!((m(5).vote, m(5).sync), (Some(VoteMode::Any), true));
    assert_eq!(m(6).shuffle, Some(ShuffleMode::Idx));
    assert_eq!((m(7).rounding, m(7).ftz, m(7).sat), (Some(Rounding::IntegerZero), true, true));
    assert_eq!(function.body[7].types, [ScalarType::U8, ScalarType::F32]);
    assert_eq!((m(8).order, m(8).space), (Some(MemoryOrder::Volatile), Some(StateSpace::Global)));
    assert_eq!((m(9).warp, m(9).sync, m(9).barrier), (true, true, None));
    assert_eq!((m(10).warp, m(10).sync, m(10).barrier), (false, false, Some(BarrierOp::Sync)));
    assert_eq!(m(11).rounding, Some(Rounding::Up));
    assert_eq!((m(12).vector, m(12).subspace.as_deref()), (4, Some("cta")));
    assert_eq!((m(13).to, m(13).space), (true, Some(StateSpace::Shared)));
    assert!((0..14).all(|index| m(index).other.is_empty()));
}

#[test]
fn modifiers_may_come_in_any_order() {
    let one =
        kernel("add.rn.ftz.sat.f32 %f1, %f2, %f3; ld.volatile.global.v2.u32 {%r1,%r2}, [%rd1];");
    let other =
        kernel("add.sat.rn.f32.ftz %f1, %f2, %f3; ld.v2.global.u32.volatile {%r1,%r2}, [%rd1];");
    for (a, b) in one.body.iter().zip(&other.body) {
        assert_eq!((&a.modifiers, &a.types), (&b.modifiers, &b.types));
    }
}

#[test]
fn vector_registers_are_four_registers() {
    let function = kernel(
        ".reg .v4 .f32 v; ld.global.v4.f32 v, [%rd1]; add.f32 %f1, v.x, v.w;
         { add.f32 %f2, v.x, v.b; }",
    );
    let Operand::Vector(elements) = &function.body[0].destinations[0] else { panic!("a vector") };
    assert_eq!(elements.len(), 4);
    assert_eq!(function.body[1].sources, [elements[0].clone(), elements[3].clone()]);
    assert_eq!(function.body[2].sources, [elements[0].clone(), elements[2].clone()]);
}

#[test]
fn what_cannot_run_yet_is_not_an_error() {
    let text = ".version 9.0\n.target sm_90\n.address_size 64\n\
        .entry good() { ret; }\n\
        .entry bad() { .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p<2>; multimem.red.add.u32 [%rd1], %r1;\n\
        mov.pred %p1, %is_explicit_cluster; add.rn.f32x4 %r1, %r1, %r2; ret; }\n";
    let parsed = parse(text);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    assert_eq!(parsed.diagnostics.len(), 3);
    for diagnostic in &parsed.diagnostics {
        assert_eq!(diagnostic.kind, DiagnosticKind::Unsupported);
        assert_eq!(diagnostic.kernel.as_deref(), Some("bad"));
    }
    assert_eq!(parsed.module.functions.len(), 2);
}
