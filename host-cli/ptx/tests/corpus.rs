//! Whole files: they parse without errors, cover every opcode, and survive being printed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use strata_ptx::cuda::CudaLines;
use strata_ptx::diagnostic::{DiagnosticKind, LineIndex, render};
use strata_ptx::fuzzing::{Random, every_form};
use strata_ptx::module::{Callees, Function, LabelId, Module, Span, Symbol, VirtualRegister};
use strata_ptx::opcode::Opcode;
use strata_ptx::print::{Names, SourceNames, instruction};
use strata_ptx::{Parsed, parse};

fn corpus() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<(PathBuf, String)> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .map(|path| (path.clone(), std::fs::read_to_string(path).expect("UTF-8 text")))
        .collect();
    files.sort();
    assert!(files.len() >= 7, "{} files", files.len());
    files
}

fn parse_well(name: &str, text: &str) -> Module {
    let Parsed { module, diagnostics } = parse(text);
    let lines = LineIndex::new(text);
    let errors: Vec<String> = diagnostics
        .iter()
        .filter(|d| d.kind == DiagnosticKind::Error)
        .map(|d| render(d, name, text, &lines))
        .collect();
    assert!(errors.is_empty(), "{}", errors.concat());
    module
}

#[test]
fn real_files_parse_without_errors() {
    for (path, text) in corpus() {
        let module = parse_well(&path.to_string_lossy(), &text);
        assert_ne!(module.version, (0, 0), "{path:?}");
        assert!(module.kernels().next().is_some(), "{path:?}");
        for function in module.functions.iter().filter(|f| f.defined) {
            assert!(!function.body.is_empty(), "{path:?}: {}", function.name);
        }
    }
}

/// How many statements begin with an opcode: an independent count, by cutting at semicolons.
fn count_statements(text: &str) -> usize {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or("").trim());
    let code: Vec<&str> = lines.filter(|line| !line.starts_with(".loc")).collect();
    let begins_with_opcode = |statement: &&str| {
        let mut words = statement.split_whitespace().skip_while(|word| {
            word.ends_with(':') || word.starts_with('@') || *word == "{" || *word == "}"
        });
        let word = words.next().unwrap_or("").trim_start_matches('{');
        Opcode::from_name(word.split('.').next().unwrap_or("")).is_some()
    };
    code.join(" ").split(';').filter(begins_with_opcode).count()
}

#[test]
fn no_instruction_is_lost() {
    let mut counted = 0;
    for (path, text) in corpus() {
        // The others have several statements of module scope on one line, and comments of both
        // kinds.
        if path.ends_with("kernels.ptx") || path.ends_with("plain.ptx") || path.ends_with("old.ptx")
        {
            let module = parse_well(&path.to_string_lossy(), &text);
            let parsed: usize = module.functions.iter().map(|f| f.body.len()).sum();
            assert_eq!(parsed, count_statements(&text), "{path:?}");
            counted += 1;
        }
    }
    assert_eq!(counted, 3);
}

#[test]
fn every_opcode_occurs_in_the_corpus() {
    let mut seen = BTreeSet::new();
    for (path, text) in corpus() {
        let module = parse_well(&path.to_string_lossy(), &text);
        seen.extend(module.functions.iter().flat_map(|f| &f.body).map(|i| i.opcode.name()));
    }
    let missing: Vec<&str> = Opcode::ALL
        .iter()
        .map(|opcode| opcode.name())
        .filter(|name| !seen.contains(name))
        .collect();
    assert!(missing.is_empty(), "no file uses {missing:?}");
}

/// The names of the file; branch tables, which have none in the module, as the text has them.
struct Written<'m> {
    names: SourceNames<'m>,
    text: &'m str,
    span: Span,
}

impl Names for Written<'_> {
    fn register(&self, id: VirtualRegister) -> Cow<'_, str> {
        self.names.register(id)
    }

    fn label(&self, id: LabelId) -> Cow<'_, str> {
        self.names.label(id)
    }

    fn branch_table(&self, _: u32) -> Cow<'_, str> {
        let written = &self.text[self.span.start as usize..self.span.end as usize];
        written.rsplit(',').next().unwrap_or("").trim().into()
    }

    fn symbol(&self, symbol: Symbol) -> Cow<'_, str> {
        self.names.symbol(symbol)
    }
}

/// The text with every instruction replaced by what the printer makes of it.
fn reprint(text: &str, module: &Module) -> String {
    let mut pieces: Vec<(Span, String)> = Vec::new();
    for function in &module.functions {
        for item in &function.body {
            let names = SourceNames { module, function };
            let names = Written { names, text, span: item.span };
            pieces.push((item.span, instruction(item, &names).to_string()));
        }
    }
    pieces.sort_by_key(|(span, _)| span.start);
    // A function with an alias is there twice.
    pieces.dedup_by_key(|(span, _)| *span);
    let mut out = String::new();
    let mut at = 0;
    for (span, printed) in pieces {
        out.push_str(&text[at..span.start as usize]);
        out.push_str(&printed);
        at = span.end as usize;
    }
    out + &text[at..]
}

fn without_spans(mut module: Module) -> Module {
    let clear = |function: &mut Function| {
        function.span = Span::default();
        let rules = &mut function.launch;
        let [block, cluster] = [
            rules.block.as_mut().map(|rule| &mut rule.span),
            rules.cluster.as_mut().map(|rule| &mut rule.span),
        ];
        let others =
            [&mut rules.max_cluster, &mut rules.explicit_cluster, &mut rules.blocks_are_clusters];
        let others = others.into_iter().filter_map(Option::as_mut);
        block.into_iter().chain(cluster).chain(others).for_each(|span| *span = Span::default());
        function.variables.iter_mut().for_each(|v| v.span = Span::default());
        function.body.iter_mut().for_each(|i| i.span = Span::default());
        for (_, callees) in &mut function.call_tables {
            if let Callees::Prototype { parameters, results } = callees {
                parameters.iter_mut().chain(results).for_each(|v| v.span = Span::default());
            }
        }
    };
    module.functions.iter_mut().for_each(clear);
    module.variables.iter_mut().for_each(|v| v.span = Span::default());
    // Places too: where the lines of this text began, and from which lines of CUDA they came.
    module.line_starts.clear();
    module.cuda = CudaLines::default();
    module
}

fn assert_survives_printing(name: &str, text: &str) {
    let module = parse_well(name, text);
    let printed = reprint(text, &module);
    let again = parse_well(name, &printed);
    let (before, after) = (without_spans(module), without_spans(again));
    for (a, b) in before.functions.iter().zip(&after.functions) {
        for (index, (x, y)) in a.body.iter().zip(&b.body).enumerate() {
            assert_eq!(x, y, "{name}: {} instruction {index}", a.name);
        }
    }
    assert_eq!(before, after, "{name}");
    // And printing is a fixed point: the second text is the first one.
    assert_eq!(printed, reprint(&printed, &parse_well(name, &printed)), "{name}");
}

#[test]
fn printing_and_parsing_again_gives_the_same_module() {
    for (path, text) in corpus() {
        assert_survives_printing(&path.to_string_lossy(), &text);
    }
}

#[test]
fn canonical_text_is_printed_as_it_was_written() {
    let lines = [
        "@!%p1 add.rn.ftz.sat.f32 %f1, %f2, 0f3F800000",
        "setp.lt.and.s32 %p1|%p2, %r1, -5, !%p1",
        "ld.global.nc.v4.f32 {%f1, %f2, _, %f2}, [%rd1+-16]",
        "st.volatile.shared.u32 [tile+4], %r1",
        "mov.b64 {%r1, %r2}, %rd1",
        "mov.u32 %r1, %tid.x",
        "mov.u64 %rd1, tile+8",
        "cvt.rn.f32.s32 %f1, %r1",
        "cvta.to.global.u64 %rd1, %rd2",
        "mad.wide.s32 %rd1, %r1, 4, %rd2",
        "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1",
        "vote.sync.ballot.b32 %r1, %p1, -1",
        "bar.red.popc.u32 %r1, 0, %p1",
        "bar.warp.sync -1",
        "atom.relaxed.gpu.global.cas.b32 %r1, [%rd1], %r2, 0",
        "red.shared.add.u32 [tile], 1",
        "lop3.b32 %r1, %r2, %r1, %r2, 150",
        "min.xorsign.abs.f32 %f1, %f2, %f1",
        "prmt.b32.f4e %r1, %r2, %r1, %r2",
        "vadd.s32.u32.s32.sat %r1, %r2.b0, %r1.h1",
        "cp.async.cg.shared.global [%r1], [%rd1], 16",
        "tex.2d.v4.f32.f32 {%f1, %f2, %f1, %f2}, [image, {%f1, %f2}]",
        "fence.acq_rel.gpu",
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2}, {%r1}, {%r1, %r2}",
        "call.uni (result), callee, (argument, 7)",
        "@%p1 bra.uni here",
        "ret",
    ];
    let head = ".version 8.0\n.target sm_90\n.address_size 64\n.global .texref image;\n\
        .func (.param .b32 r) callee(.param .b32 a, .param .b32 b) { ret; }\n.entry k()\n{\n\
        .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .f32 %f<3>;\n\
        .shared .align 4 .b8 tile[64]; .param .b32 result; .param .b32 argument;\nhere:\n";
    let text = format!("{head}{};\n}}\n", lines.join(";\n"));
    let module = parse_well("canonical", &text);
    let (_, function) = module.kernels().next().expect("the kernel");
    assert_eq!(function.body.len(), lines.len());
    for (item, line) in function.body.iter().zip(lines) {
        let names = SourceNames { module: &module, function };
        assert_eq!(instruction(item, &names).to_string(), line);
    }
}

#[test]
fn every_form_of_the_tables_parses_and_survives_printing() {
    for seed in 0..4 {
        let text = every_form(&mut Random(seed), 3);
        // Some combinations of a form's words are refused by checks beyond the tables.
        let parsed = parse(&text);
        let refused: BTreeSet<&str> = parsed.diagnostics.iter().map(|d| d.code).collect();
        let beyond = BTreeSet::from(["address-size", "modifiers", "vector-length"]);
        assert!(refused.is_subset(&beyond), "seed {seed}: {:?}", parsed.diagnostics);
        let lines = LineIndex::new(&text);
        let bad: BTreeSet<u32> =
            parsed.diagnostics.iter().map(|d| lines.line(d.span.start)).collect();
        let kept: Vec<&str> = text
            .lines()
            .enumerate()
            .filter(|(index, _)| !bad.contains(&(*index as u32 + 1)))
            .map(|(_, line)| line)
            .collect();
        assert!(bad.len() * 20 < text.lines().count(), "seed {seed}: {} refused", bad.len());
        assert_survives_printing(&format!("seed {seed}"), &kept.join("\n"));
    }
}
