//! Buffers of addresses, and arguments that take their types from the PTX.

use std::borrow::Cow;

use strata_ptx::parse;

use crate::simulate::{Options, Prepared, RunError};
use crate::{Overrides, Workload};

/// Stores an element of the row of number `k`, and its other arguments.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry pick(.param .u64 rows, .param .u64 out, .param .u32 k, .param .s16 s, .param .b16 h,
    .param .b16 b, .param .s8 c, .param .f32 f)
{
    .reg .b16 %h<5>; .reg .b32 %r<5>; .reg .b64 %a<9>;
    ld.param.b64 %a1, [rows];
    ld.param.b64 %a2, [out];
    ld.param.u32 %r1, [k];
    mul.wide.u32 %a3, %r1, 8;
    add.s64 %a3, %a3, %a1;
    ld.global.b64 %a4, [%a3];
    ld.global.b32 %r2, [%a4];
    st.global.b32 [%a2], %r2;
    ld.param.b16 %h1, [s];
    ld.param.b16 %h2, [h];
    ld.param.b16 %h3, [b];
    ld.param.s8 %h4, [c];
    st.global.v4.b16 [%a2+8], {%h1, %h2, %h3, %h4};
    ld.param.b32 %r3, [f];
    st.global.b32 [%a2+4], %r3;
    ret;
}
";

/// A launch without sizes, with these contents of `rows` and these arguments behind the pointers.
fn launch(generator: &str, arguments: &str) -> String {
    format!(
        "description = \"rows\"\n\
         [[buffer]]\nname = \"rows\"\ntype = \"u64\"\ngenerator = {generator}\n\
         [[buffer]]\nname = \"one\"\ntype = \"u32\"\ncount = 8\ngenerator = \"iota\"\n\
         [[buffer]]\nname = \"two\"\ntype = \"u32\"\ncount = 8\ngenerator = {{ constant = 70 }}\n\
         [[buffer]]\nname = \"out\"\ntype = \"u16\"\ncount = 8\ngenerator = \"zero\"\n\
         [[launch]]\nkernel = \"pick\"\ngrid = [1]\nblock = [1]\n\
         arguments = [\"rows\", \"out\", {arguments}]\n"
    )
}

/// The final contents of `out`.
fn run(launch: String) -> Result<Vec<u16>, RunError> {
    let ptx = ("k.ptx".to_owned(), Cow::Borrowed(PTX));
    let workload =
        Workload::from_texts("t".to_owned(), ptx, ("l.toml".to_owned(), Cow::Owned(launch)))?;
    assert!(!parse(PTX).has_errors());
    let prepared = Prepared::new(&workload, "default", &Overrides::new())?;
    let finals = prepared.execute(&Options::default().recording_nothing(), |_| ())?;
    Ok(finals[3].chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect())
}

const SCALARS: &str = "{ s16 = -2 }, { f16 = 1.5 }, { bf16 = 1.5 }, { s8 = -3 }, 2";

#[test]
fn pointers_in_a_buffer_lead_to_other_buffers() {
    let targets = "{ addresses = [\"one\", \"two\", { buffer = \"one\", offset = 5 }] }";
    for (row, expected) in [(0, 0), (1, 70), (2, 5)] {
        let out = run(launch(targets, &format!("{row}, {SCALARS}"))).unwrap();
        assert_eq!(out, [expected, 0, 0, 0x4000, 0xfffe, 0x3e00, 0x3fc0, 0xfffd], "{row}");
    }
    // By turns, where there are more elements.
    let more = launch("{ addresses = [\"one\", \"two\"] }\ncount = 6", &format!("5, {SCALARS}"));
    assert_eq!(run(more).unwrap()[0], 70);
}

#[test]
fn what_is_no_address_and_no_type_is_refused() {
    let scalars = format!("0, {SCALARS}");
    for (generator, arguments, told) in [
        (
            "{ addresses = [\"three\"] }",
            scalars.as_str(),
            "l.toml:5:28: buffer[0].generator.addresses[0]: there is no buffer `three`; there are: rows, one, two, out",
        ),
        (
            "{ addresses = [{ buffer = \"one\", offset = 9 }] }",
            &scalars,
            "`offset` is 9; expected 0 to 8",
        ),
        ("{ addresses = [] }\ncount = 1", &scalars, "the list is empty"),
        ("{ addresses = [\"one\", \"two\"] }\ncount = 1", &scalars, "there are 2 addresses"),
        (
            "{ addresses = [\"one\"] }",
            "0, 1, 2, { bf16 = 1 }, { s8 = 1 }, 2",
            "arguments[4]: a plain number has the type that the PTX says, which says none here",
        ),
        (
            "{ addresses = [\"one\"] }",
            "1.5, { s16 = 1 }, { f16 = 1 }, { bf16 = 1 }, { s8 = 1 }, 2",
            "arguments[2]: the parameter is .u32, 1.5 is not an integer",
        ),
        (
            "{ addresses = [\"one\"] }",
            "0, 40000, { f16 = 1 }, { bf16 = 1 }, { s8 = 1 }, 2",
            "the argument is 40000; expected -32768 to 32767",
        ),
        (
            "{ addresses = [\"one\"] }",
            "0, 1, { f16 = 1e9 }, { bf16 = 1 }, { s8 = 1 }, 2",
            "1e9 does not fit f16: it would become infinite",
        ),
        (
            "{ addresses = [\"one\"] }",
            "0, 1, { f16 = 1 }, { bf16 = 257 }, { s8 = 1 }, 2",
            "257 does not fit bf16: it would be rounded to another integer",
        ),
    ] {
        let error = run(launch(generator, arguments)).unwrap_err().to_string();
        assert!(error.contains(told), "{generator} {arguments}: {error}");
    }
    let wrong = launch("{ addresses = [\"one\"] }", &scalars).replacen("u64", "u32", 1);
    let error = run(wrong).unwrap_err().to_string();
    assert!(error.contains("the PTX has addresses of 64 bits: u64"), "{error}");
}
