//! Launches that a kernel's directives decide about, and cooperative ones, from launch files.

use super::*;
use crate::simulate::{Options, Prepared, RunError};

/// Counts its threads.
fn counting(directives: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 o)\n\
         {directives}\n{{ .reg .u64 %o; .reg .u32 %r; ld.param.u64 %o, [o];\n\
         atom.global.add.u32 %r, [%o], 1; ret; }}\n"
    )
}

/// What the kernel left in its buffer.
fn run(ptx: String, launch: &str) -> Result<u32, RunError> {
    run_kernel(ptx, "k", launch)
}

/// What the kernel called `kernel` left in its buffer.
fn run_kernel(ptx: String, kernel: &str, launch: &str) -> Result<u32, RunError> {
    let file = format!(
        "description = \"test\"\n[size.small]\nn = 3\n[[buffer]]\nname = \"o\"\ntype = \"u32\"\n\
         count = 1\ngenerator = \"zero\"\n[[launch]]\nkernel = \"{kernel}\"\narguments = [\"o\"]\n{launch}\n"
    );
    let texts = (("k.ptx".to_owned(), Cow::Owned(ptx)), ("l.toml".to_owned(), Cow::Owned(file)));
    let workload = Workload::from_texts("test".to_owned(), texts.0, texts.1)?;
    let prepared = Prepared::new(&workload, "small", &Overrides::new())?;
    let finals = prepared.execute(&Options::default(), |_| ())?;
    Ok(u32::from_le_bytes(finals[0][..4].try_into().expect("a word")))
}

#[test]
fn what_a_directive_forbids_is_refused_at_its_line_before_anything_runs() {
    for (directives, launch, message) in [
        (".reqntid 32", "grid = [1]\nblock = [64]", "`.reqntid 32, 1, 1` allows"),
        // Of several launches the first that is forbidden.
        (".maxntid 48", "grid = [1]\nblock = [\"32 + i\"]\nrepeat = 40", "has 49 x 1 x 1 = 49"),
        (".reqnctapercluster 2", "grid = [3]\nblock = [1]", "whole clusters only"),
        (".explicitcluster", "grid = [1]\nblock = [1]", "needs a launch that gives"),
    ] {
        let ptx = counting(directives);
        let Err(RunError::Ptx { diagnostics, .. }) = run(ptx.clone(), launch) else {
            panic!("{directives} allows {launch}");
        };
        let [refused] = &diagnostics[..] else { panic!("{diagnostics:?}") };
        assert!(refused.message.contains(message), "{}", refused.message);
        let line = strata_ptx::diagnostic::LineIndex::new(&ptx).line(refused.span.start);
        assert_eq!((line, refused.hint.is_some()), (5, true));
    }
    // Where the sides depend on results, the launch itself is refused.
    let until = "grid = [1]\nblock = [\"1 + i\"]\nuntil_zero = \"o\"\nat_most = 9";
    let refused = run(counting(".maxntid 2"), until).unwrap_err();
    assert!(refused.to_string().contains("`.maxntid 2, 1, 1` allows"), "{refused}");
    assert!(!refused.help().is_empty());
}

#[test]
fn a_grid_may_count_clusters() {
    let directives = ".reqntid 32 .reqnctapercluster 2, 3 .blocksareclusters";
    let found = run(counting(directives), "grid = [2, 2]\nblock = [32]");
    assert_eq!(found.expect("2 x 2 clusters"), 2 * 2 * 6 * 32);
    let wide = run(counting(directives), "grid = [1, 30000]\nblock = [32]").unwrap_err();
    assert!(wide.to_string().contains("a grid dimension in CTAs"), "{wide}");
}

#[test]
fn a_launch_says_that_it_is_cooperative() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 o)\n\
        { .reg .u64 %o; .reg .u32 %r<4>; .reg .pred %p; ld.param.u64 %o, [o];\n\
        mov.u32 %r1, %envreg1; setp.ne.u32 %p, %r1, 0; @%p bra GO; trap;\n\
        GO: st.global.u32 [%o], 5; ret; }\n";
    let launch = |key| run(ptx.to_owned(), &format!("grid = [2]\nblock = [32]\n{key}"));
    assert_eq!(launch("cooperative = true").expect("runs"), 5);
    for key in ["", "cooperative = false"] {
        let refused = launch(key).unwrap_err();
        assert!(refused.to_string().contains("the launch is not cooperative"), "{refused}");
        assert!(refused.help().contains("`cooperative = true`"), "{}", refused.help());
    }
}

/// Kernels have the names of their C++ source, too.
#[test]
fn kernels_are_found_by_names_of_cpp() {
    let kernel = |name: &str, value: &str| {
        format!(
            ".visible .entry {name}(.param .u64 o)\n{{ .reg .u64 %o; ld.param.u64 %o, [o];\n\
             st.global.u32 [%o], {value}; ret; }}\n"
        )
    };
    let ptx = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{}{}",
        kernel("_Z4fillIfEvPT_", "7"),
        kernel("_Z4fillIjEvPT_", "9")
    );
    let launch = |name: &str| run_kernel(ptx.clone(), name, "grid = [1]\nblock = [32]");
    assert_eq!(launch("fill<unsigned int>").expect("runs"), 9);
    assert_eq!(launch("_Z4fillIfEvPT_").expect("runs"), 7);
    let told = launch("fill").unwrap_err().to_string();
    assert!(
        told.contains("several kernels are `fill`: _Z4fillIfEvPT_ = fill<float>(float*); "),
        "{told}"
    );
}
