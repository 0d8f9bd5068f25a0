//! Every form of every instruction that parses either executes or is refused by name, and none
//! panics.

use std::collections::{BTreeMap, BTreeSet};

use strata_ptx::diagnostic::DiagnosticKind;
use strata_ptx::fuzzing::{Random, every_form};
use strata_ptx::module::Module;
use strata_simt::{Device, Executable, Launch, execute, prepare};

/// Opcodes of which no form executes.
const REFUSED: [&str; 0] = [];

/// What is refused of textures and surfaces: how the messages go on.
const TEXTURES: [(&str, &[&str]); 7] = [
    (
        "tex",
        &[
            "level of detail by gradients (`.grad`)",
            "mipmaps (`.base`)",
            "cube maps",
            "multisampled textures",
            "packed results",
        ],
    ),
    ("tld4", &["cube maps"]),
    ("txq", &["the query `."]),
    ("suq", &["the query `."]),
    ("suld", &[]),
    ("sust", &["surface accesses with format conversion (`.p`)"]),
    ("sured", &["surface accesses with format conversion (`.p`)"]),
];

/// What is refused of opcodes that execute in other forms.
const PARTLY: [(&str, &str); 4] = [
    ("fma", "`fma.bf16` cannot be executed: `.oob`"),
    ("fma", "`fma.bf16x2` cannot be executed: `.oob`"),
    ("fma", "`fma.f16` cannot be executed: `.oob`"),
    ("fma", "`fma.f16x2` cannot be executed: `.oob`"),
];

/// Takes the lines out that break a rule the generator does not know.
fn well_formed(mut text: String) -> String {
    loop {
        let parsed = strata_ptx::parse(&text);
        let errors = parsed.diagnostics.iter().filter(|d| d.kind == DiagnosticKind::Error);
        let places: Vec<usize> = errors.map(|error| error.span.start as usize).collect();
        if places.is_empty() {
            return text;
        }
        let mut start = 0;
        let mut kept = String::new();
        for line in text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            if !places.iter().any(|place| range.contains(place)) {
                kept.push_str(line);
            }
        }
        assert_ne!(kept.len(), text.len(), "an error without a line");
        text = kept;
    }
}

/// A kernel with every form that does not end it or jump: what comes before the body, the body.
fn forms(seed: u64) -> (String, String) {
    let text = every_form(&mut Random(seed), 1);
    let (head, body) = text.split_at(text.rfind("{\n").expect("the generator writes a kernel"));
    let ends = ["ret;", "exit;", "trap;", "bra", "brx"];
    let stays = |line: &&str| !ends.iter().any(|word| line.trim().starts_with(word));
    let body: String = body.split_inclusive('\n').filter(stays).collect();
    let text = well_formed(format!("{head}{body}"));
    let at = text.rfind("{\n").expect("the kernel is still there");
    (text[..at].to_owned(), text[at..].to_owned())
}

fn compile(module: &Module) -> Result<Executable, Vec<(usize, usize, String)>> {
    let (kernel, _) = module.kernels().next().expect("the text has a kernel");
    let program = match strata_compiler::compile(
        module,
        kernel,
        strata_compiler::CompileOptions::default(),
    ) {
        Ok(program) => program,
        Err(problems) => panic!("{problems:#?}"),
    };
    prepare(module, &program).map_err(|problems| {
        let place = |p: &strata_ptx::module::Span| (p.start as usize, p.end as usize);
        problems.into_iter().map(|p| (place(&p.span).0, place(&p.span).1, p.message)).collect()
    })
}

#[test]
fn exactly_these_forms_are_refused() {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for seed in 1..40 {
        let (head, body) = forms(seed);
        let text = head + &body;
        for (start, end, message) in
            compile(&strata_ptx::parse(&text).module).err().unwrap_or_default()
        {
            let line = text[start..end].split_whitespace().find(|word| !word.starts_with('@'));
            let opcode = line.and_then(|line| line.split('.').next()).unwrap_or_default();
            all.entry(opcode.to_owned()).or_default().insert(message);
        }
    }
    for (opcode, known) in TEXTURES {
        let messages = all.remove(opcode).unwrap_or_default();
        let unknown = messages.iter().find(|m| !known.iter().any(|known| m.contains(known)));
        assert_eq!(unknown, None, "`{opcode}` is refused for something else");
        let gone = known.iter().find(|&&known| !messages.iter().any(|m| m.contains(known)));
        assert_eq!(gone, None, "`{opcode}`: executes now, take it off the list");
    }
    for opcode in REFUSED {
        assert!(all.remove(opcode).is_some(), "`{opcode}` executes now: take it off the list");
    }
    for (opcode, message) in PARTLY {
        let known = all.get_mut(opcode).is_some_and(|messages| messages.remove(message));
        assert!(known, "{message}: executes now, take it off the list");
    }
    // The generator writes fragments of two registers; `matrix` has the right ones.
    // It rarely writes `.satfinite` of floats.
    // It writes addresses of global memory without a state space for matrices, too.
    let expected = [
        "registers is needed here",
        "`.satfinite` of floating-point results",
        "rows outside of shared memory",
    ];
    for messages in all.values_mut() {
        messages.retain(|message| !expected.iter().any(|part| message.contains(part)));
    }
    all.retain(|_, messages| !messages.is_empty());
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn every_form_executes_or_faults_without_panicking() {
    let (mut executed, mut faulted) = (0, 0);
    for seed in 20..24 {
        let (head, body) = forms(seed);
        let lines: Vec<&str> = body.lines().collect();
        let declares = |line: &&&str| line.trim_start().starts_with(['.', '{']);
        let declarations = lines.iter().filter(declares).copied().collect::<Vec<_>>().join("\n");
        for line in lines.iter().filter(|line| !declares(line) && line.trim() != "}") {
            let text = format!("{head}{declarations}\n{line}\nret;\n}}\n");
            let parsed = strata_ptx::parse(&text);
            if parsed.has_errors() {
                // A label, or a line that needs one.
                continue;
            }
            let Ok(executable) = compile(&parsed.module) else { continue };
            let mut device = Device::with_limit(parsed.module.address_bits, 1 << 20);
            device.load_module(&parsed.module).expect("variables fit");
            let launch = Launch {
                arguments: vec![0; executable.parameter_bytes() as usize],
                max_instructions: 100,
                record_accesses: false,
                ..Launch::new([1, 1, 1], [40, 1, 1])
            };
            match execute(&mut device, &executable, &launch) {
                Ok(_) => executed += 1,
                Err(_) => faulted += 1,
            }
        }
    }
    assert!(executed > 500 && faulted > 50, "{executed} {faulted}");
}
