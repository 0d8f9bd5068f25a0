//! Input: what kind an input is by what was typed, and the kinds that a command refuses.

use std::path::Path;

use strata_config::name;
use strata_files::failure::Failure;
use strata_trace::{self as trace, store};
use strata_workload::{self as workload, STANDARD_INPUT, Toolchain};

/// Whether an input names a trace or a recording.
pub fn is_recorded(input: &str) -> bool {
    trace::is_trace(input) || store::is_recording(input)
}

/// Whether an input names a PTX file rather than a built-in workload.
pub fn is_file(input: &str) -> bool {
    let path = Path::new(input);
    let known = |ending: &str| {
        let endings = ["ptx", "cu", "cuh", "cl", "cubin", "fatbin"];
        endings.iter().any(|known| ending.eq_ignore_ascii_case(known))
    };
    input == STANDARD_INPUT
        || path.extension().and_then(|ending| ending.to_str()).is_some_and(known)
        || input.contains(std::path::MAIN_SEPARATOR)
}

/// Whether it names a PTX file among all kinds of inputs.
pub(super) fn is_ptx(input: &str) -> bool {
    is_file(input) && !is_recorded(input)
}

/// Whether it names a built-in workload among all kinds of inputs.
pub(super) fn is_built_in(input: &str) -> bool {
    !is_file(input) && !is_recorded(input)
}

/// The ending of a file's name, in lower case; empty if it has none.
pub(super) fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// Whether an input can be named in messages and tables.
pub(super) fn check_name(input: &str) -> Result<(), Failure> {
    name::line(input).map_err(|why| {
        Failure::input(format!("{input:?} cannot be the name of an input: {why}"))
            .hint("rename it; a name is printed as it is, on one line")
    })
}

/// Refuses an input that is no workload and no PTX: a folder, or a file that goes elsewhere.
pub(super) fn other_file(input: &str) -> Result<(), Failure> {
    let path = Path::new(input);
    if ending(path) == "toml" {
        return Err(Failure::input(format!("`{input}` is a TOML file, no workload and no PTX"))
            .hint(format!(
                "a launch file goes with its PTX: `FILE.ptx --launch {input}`; a design file \
                 with `--design {input}`"
            )));
    }
    if path.is_dir() && !workload::all_names().any(|name| name == input) {
        return Err(Failure::input(format!("`{input}` is a folder"))
            .hint("name a file in it: PTX, a trace's `kernelslist.g`, or a recording"));
    }
    Ok(())
}

/// Refuses an input of which a command cannot show the PTX, which is what it is about; `instead`
/// are the commands for traces.
pub fn with_ptx(input: &str, instead: &str) -> Result<(), Failure> {
    check_name(input)?;
    if is_recorded(input) {
        return Err(Failure::input(format!("`{input}` is a trace, which has no PTX")).hint(instead));
    }
    other_file(input)
}

/// Refuses a file that holds a kernel in another form, with how to make PTX of it.
pub fn ptx_file(input: &str) -> Result<(), Failure> {
    let path = Path::new(input);
    let ending = ending(path);
    let quoted = |path: &Path| {
        let text = path.display().to_string();
        shlex::try_quote(&text).map_or(text.clone(), std::borrow::Cow::into_owned)
    };
    let (file, ptx) = (quoted(path), quoted(&path.with_extension("ptx")));
    match ending.as_str() {
        "cu" | "cuh" | "cl" | "cpp" | "cc" => {
            Err(Failure::input(format!("`{input}` is source code, not PTX")).hint(format!(
                "compile it: `nvcc -ptx -arch=compute_75 {file} -o {ptx}`, or `clang -x cuda \
                 --cuda-device-only --cuda-gpu-arch=sm_75 -O2 -S {file} -o {ptx}`"
            )))
        }
        "cubin" | "fatbin" | "o" | "obj" | "so" | "exe" => {
            Err(Failure::input(format!("`{input}` is machine code, not PTX"))
                .hint(format!("if PTX is in it, `cuobjdump -ptx {file}` prints it")))
        }
        _ => Ok(()),
    }
}

/// Refuses a choice of PTX where the input is a file.
pub fn without_ptx(input: &str, ptx: Option<Toolchain>) -> Result<(), Failure> {
    if ptx.is_none() {
        return Ok(());
    }
    Err(Failure::input(format!("`{input}` is no built-in workload"))
        .hint("`--ptx` chooses among what several compilers made of a built-in workload"))
}
