"""Kernels over NumPy arrays: results in place, counts of the command line, clear errors."""

import array
import logging

import numpy
import pytest
from conftest import Program, assert_same

import strata

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"


def entry(parameters: str, body: str, name: str = "k") -> str:
    return f"{HEAD}.visible .entry {name}({parameters})\n{{\n{body}\n}}\n"


SAXPY = entry(
    ".param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n",
    """
    .reg .pred %p;
    .reg .b32 %i, %limit, %block, %size;
    .reg .f32 %a, %u, %v;
    .reg .b64 %x, %y;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    ld.param.f32 %a, [a];
    ld.param.u32 %limit, [n];
    mov.u32 %i, %tid.x;
    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mad.lo.u32 %i, %block, %size, %i;
    setp.ge.u32 %p, %i, %limit;
    @%p bra done;
    mad.wide.u32 %x, %i, 4, %x;
    mad.wide.u32 %y, %i, 4, %y;
    ld.global.f32 %u, [%x];
    ld.global.f32 %v, [%y];
    fma.rn.f32 %v, %a, %u, %v;
    st.global.f32 [%y], %v;
done:
    ret;
    """,
)


def copies(kind: str, *, register: str = ".b32") -> str:
    """A kernel that writes one parameter to where the other points."""
    return entry(
        f".param .u64 to, .param {kind} value",
        f"""
        .reg .b64 %to;
        .reg {register} %value;
        ld.param.u64 %to, [to];
        ld.param{kind} %value, [value];
        st.global{kind} [%to], %value;
        ret;
        """,
    )


def moved(kind: str, value: object, dtype: str, *, register: str = ".b32") -> object:
    """What becomes of a scalar on its way through a parameter."""
    to = numpy.zeros(1, dtype)
    strata.kernel(copies(kind, register=register)).launch(1, 1, [to, value])
    return to[0]


def test_results_and_counts_are_those_of_the_program(program: Program) -> None:
    x = numpy.arange(1000, dtype=numpy.float32)
    y = numpy.linspace(-1, 1, 1000, dtype=numpy.float32)
    (program.folder / "saxpy.ptx").write_text(SAXPY)
    numpy.save(program.folder / "x.npy", x)
    numpy.save(program.folder / "y.npy", y)
    (program.folder / "saxpy.toml").write_text(
        """
description = "saxpy"
[size]
default = {}
[[buffer]]
name = "x"
type = "f32"
generator = { file = "x.npy" }
[[buffer]]
name = "y"
type = "f32"
generator = { file = "y.npy" }
[[launch]]
kernel = "k"
grid = [4]
block = [256]
arguments = ["x", "y", { f32 = 2.5 }, { u32 = 1000 }]
"""
    )
    designs = ["isca11", "isca11-rfc6", "isca11-rfc3-lru"]
    kernel = strata.kernel(SAXPY)
    assert (kernel.name, len(kernel.parameters)) == ("k", 4)
    assert kernel.parameters[2] == ("a", ".f32")
    expected = numpy.float32(2.5) * x + y
    for mode in ["count", "cycle"]:
        ours = y.copy()
        table = kernel.launch(4, 256, [x, ours, 2.5, 1000], designs=designs, mode=mode)
        numpy.testing.assert_allclose(ours, expected, rtol=1e-6)
        options = [word for name in designs for word in ("--design", name)]
        rows = program.rows(
            *["run", "saxpy.ptx", "--launch", "saxpy.toml", *options, "--mode", mode],
            *["--dump", "y=out.npy", "--force", "--format", "csv"],
        )
        assert numpy.array_equal(ours, numpy.load(program.folder / "out.npy"))
        assert_same(table, [{**row, "workload": "k"} for row in rows])
        assert (x == numpy.arange(1000)).all()
    keys = {key for key in table["key"]}
    assert len(keys) == 3
    other = kernel.launch(4, 256, [x, y + 1, 2.5, 1000], designs=designs, mode=mode)
    assert keys.isdisjoint(other["key"]), "other contents are another point"


@pytest.mark.parametrize(
    ("kind", "value", "dtype", "register", "expected"),
    [
        (".u8", 255, "uint8", ".b16", 255),
        (".s8", -128, "int8", ".b16", -128),
        (".u16", 65535, "uint16", ".b16", 65535),
        (".s16", -2, "int16", ".b16", -2),
        (".u32", 2**32 - 1, "uint32", ".b32", 2**32 - 1),
        (".s32", -(2**31), "int32", ".b32", -(2**31)),
        (".b32", 1.5, "float32", ".b32", 1.5),
        (".b32", -1, "int32", ".b32", -1),
        (".u64", 2**64 - 1, "uint64", ".b64", 2**64 - 1),
        (".s64", -(2**63), "int64", ".b64", -(2**63)),
        (".f32", 0.1, "float32", ".f32", numpy.float32(0.1)),
        (".f32", 3, "float32", ".f32", 3.0),
        (".f32", numpy.float32(0.1), "float32", ".f32", numpy.float32(0.1)),
        (".f32", numpy.float16(0.5), "float32", ".f32", 0.5),
        (".f32", float("inf"), "float32", ".f32", numpy.inf),
        (".f64", 0.1, "float64", ".f64", 0.1),
        (".f64", 2**53, "float64", ".f64", 2.0**53),
        (".u32", numpy.uint8(7), "uint32", ".b32", 7),
        (".u32", True, "uint32", ".b32", 1),
    ],
)
def test_scalars_arrive(kind: str, value: object, dtype: str, register: str, expected: object) -> None:
    assert moved(kind, value, dtype, register=register) == expected


def test_no_number_arrives_as_another() -> None:
    assert numpy.isnan(moved(".f32", float("nan"), "float32", register=".f32"))


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (".u32", -1, "-1 does not fit .u32: 0 to 4294967295 do"),
        (".u32", 2**32, "4294967296 does not fit .u32"),
        (".s32", 2**31, "2147483648 does not fit .s32"),
        (".u32", 1.5, "the kernel takes .u32, and a number with decimals is given"),
        (".f32", 2**24 + 1, "16777217 is no number of .f32"),
        (".f32", 1e39, "does not fit f32"),
        (".f32", 1e-60, "does not fit f32"),
        (".u32", 2**200, "no parameter is that large"),
        (".u32", b"1234", "the kernel takes .u32, and 4 bytes is given"),
        (".u32", numpy.zeros(3, "float32"), "the kernel takes .u32, and an array of f32 is given"),
    ],
)
def test_scalars_that_do_not_suit_are_refused(kind: str, value: object, expected: str) -> None:
    is_float = kind == ".f32"
    kernel = strata.kernel(copies(kind, register=kind if is_float else ".b32"))
    to = numpy.zeros(1, "float32" if is_float else "uint32")
    with pytest.raises(strata.StrataError) as raised:
        kernel.launch(1, 1, [to, value])
    assert expected in str(raised.value)
    assert "hint: " in str(raised.value)


def test_arguments_are_counted_and_have_types() -> None:
    kernel = strata.kernel(SAXPY)
    with pytest.raises(strata.StrataError, match="has 4 parameters, and 1 argument is given"):
        kernel.launch(1, 32, [3])
    x = numpy.zeros(4, numpy.float32)
    with pytest.raises(TypeError, match=r"`args\[2\]`: expected .* got `str`"):
        kernel.launch(1, 32, [x, x, "2.0", 4])
    with pytest.raises(TypeError, match=r"got `ndarray`"):
        kernel.launch(1, 32, [x, numpy.array(1.0), 2.0, 4])
    with pytest.raises(strata.StrataError, match="argument 1 .* is an array without elements"):
        kernel.launch(1, 32, [x, numpy.zeros(0, "float32"), 2.0, 4])


@pytest.mark.parametrize("dtype", ["float64", "int32", "float16", "int64"])
def test_elements_of_another_type_are_refused(dtype: str) -> None:
    y = numpy.zeros(4, numpy.float32)
    with pytest.raises(strata.StrataError) as raised:
        strata.kernel(SAXPY).launch(1, 4, [numpy.ones(4, dtype), y, 2.0, 4])
    assert "the kernel accesses .f32 there, and an array of " in str(raised.value)
    bits = numpy.ones(4, numpy.float32).view(numpy.uint32).view(numpy.float32)
    strata.kernel(SAXPY).launch(1, 4, [bits, y, 2.0, 4])
    assert (y == 2).all()


def test_elements_larger_than_integers_that_are_accessed_are_refused() -> None:
    kernel = strata.kernel(copies(".u32"))
    kernel.launch(1, 1, [numpy.zeros(1, "float32"), 1])
    kernel.launch(1, 1, [numpy.zeros(4, "uint8"), 1])
    with pytest.raises(strata.StrataError, match=r"accesses \.u32 there, and an array of s64"):
        kernel.launch(1, 1, [numpy.zeros(1, "int64"), 1])


def test_arrays_of_all_shapes_and_owners() -> None:
    x = numpy.ones((4, 8), numpy.float32)
    y = numpy.zeros((2, 2, 8), numpy.float32)
    kernel = strata.kernel(SAXPY)
    kernel.launch(grid=(1, 1, 1), block=(32, 1), args=(x, y, 3.0, 32))
    assert (y == 3).all()
    plain = array.array("f", [1.0] * 32)
    kernel.launch(1, 32, [x, plain, 3, 32])
    assert plain.tolist() == [4.0] * 32
    with pytest.raises(strata.StrataError, match=r"`args\[1\]` is not contiguous"):
        kernel.launch(1, 32, [x, numpy.zeros((32, 2), "float32")[:, 0], 3.0, 32])
    with pytest.raises(strata.StrataError, match="`args\\[0\\]` has elements of the format `>f`"):
        kernel.launch(1, 32, [x.astype(">f4"), y, 3.0, 32])
    with pytest.raises(strata.StrataError, match="has elements of the format `Zf`"):
        kernel.launch(1, 32, [x.astype("complex64"), y, 3.0, 32])


def test_halves_are_written_back() -> None:
    to = numpy.zeros(2, numpy.float16)
    text = copies(".b16", register=".b16")
    strata.kernel(text).launch(1, 1, [to, int(numpy.float16(1.5).view("uint16"))])
    assert to.tolist() == [1.5, 0.0]


def test_the_same_array_twice_is_one_buffer() -> None:
    x = numpy.ones(32, numpy.float32)
    kernel = strata.kernel(SAXPY)
    kernel.launch(1, 32, [x, x, 2.0, 32])
    assert (x == 3).all()
    with pytest.raises(strata.StrataError, match=r"`args\[1\]` is partly the memory of `args\[0\]`"):
        kernel.launch(1, 16, [x, x[16:], 2.0, 16])


def test_read_only_arrays_are_inputs() -> None:
    x = numpy.ones(32, numpy.float32)
    x.flags.writeable = False
    y = numpy.zeros(32, numpy.float32)
    kernel = strata.kernel(SAXPY)
    kernel.launch(1, 32, [x, y, 2.0, 32])
    assert (y == 2).all()
    with pytest.raises(strata.StrataError, match=r"the kernel wrote to `args\[1\]`, which is read"):
        kernel.launch(1, 32, [y, x, 2.0, 32])
    assert (x == 1).all() and (y == 2).all()


def test_structures_are_bytes() -> None:
    text = entry(
        ".param .u64 to, .param .align 8 .b8 pair[16]",
        """
        .reg .b64 %to, %a, %b;
        ld.param.u64 %to, [to];
        ld.param.u64 %a, [pair];
        ld.param.u64 %b, [pair+8];
        add.u64 %a, %a, %b;
        st.global.u64 [%to], %a;
        ret;
        """,
    )
    kernel = strata.kernel(text)
    to = numpy.zeros(1, numpy.uint64)
    pair = numpy.array([40, 2], numpy.uint64)
    kernel.launch(1, 1, [to, pair])
    kernel.launch(1, 1, [to, pair.tobytes()])
    assert to.tolist() == [42]
    with pytest.raises(strata.StrataError, match="an aggregate of 16 bytes, and 8 bytes are given"):
        kernel.launch(1, 1, [to, pair[:1]])
    with pytest.raises(strata.StrataError, match="an aggregate of 16 bytes, and a number is given"):
        kernel.launch(1, 1, [to, 3])


def test_errors_of_ptx_have_places(program: Program) -> None:
    wrong = SAXPY.replace("fma.rn.f32 %v, %a, %u, %v;", "fma.rn.f32 %v, %a, %nowhere, %v;")
    (program.folder / "kernel.ptx").write_text(wrong)
    with pytest.raises(strata.StrataError) as raised:
        strata.kernel(wrong)
    assert str(raised.value) == program.error("inspect", "kernel.ptx")
    line = wrong.split("%nowhere")[0].count("\n") + 1
    assert f"kernel.ptx:{line}:24" in str(raised.value)
    with pytest.raises(strata.StrataError, match="mine.ptx:"):
        strata.kernel(wrong, file="mine.ptx")


def test_a_kernel_is_chosen_by_its_name() -> None:
    two = entry("", "ret;", "one") + entry("", "ret;", "two").removeprefix(HEAD)
    assert strata.kernel(two, "two").name == "two"
    with pytest.raises(strata.StrataError, match="several kernels: one, two"):
        strata.kernel(two)
    with pytest.raises(strata.StrataError, match="no kernel `three`"):
        strata.kernel(two, "three")
    with pytest.raises(strata.StrataError, match="has no kernel"):
        strata.kernel(HEAD)


def test_faults_name_kernel_line_and_array() -> None:
    x = numpy.zeros(8, numpy.float32)
    with pytest.raises(strata.StrataError) as raised:
        strata.kernel(SAXPY).launch(1, 32, [x, numpy.zeros(32, "float32"), 2.0, 32])
    line = SAXPY.split("ld.global.f32 %u")[0].count("\n") + 1
    assert f"line {line}" in str(raised.value)
    assert "array0" in str(raised.value)


def test_an_endless_loop_meets_its_budget() -> None:
    kernel = strata.kernel(entry("", "again:\nbra again;"))
    with pytest.raises(strata.StrataError, match="10000"):
        kernel.launch(1, 32, [], max_instructions=10000)


@pytest.mark.parametrize("given", [{"grid": 0}, {"grid": (1, 1, 1, 1)}, {"block": -1}, {"block": ()}])
def test_sides_are_checked(given: dict) -> None:
    kernel = strata.kernel(entry("", "ret;"))
    with pytest.raises(strata.StrataError, match="`(grid|block)` has"):
        kernel.launch(**{"grid": 1, "block": 32, "args": [], **given})
    with pytest.raises(strata.StrataError, match="1025|1024"):
        kernel.launch(1, 1025, [])
    with pytest.raises(TypeError, match="`grid`: expected one to three whole numbers"):
        kernel.launch("1", 32, [])


def test_what_is_not_known_goes_to_the_logger(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="strata"):
        strata.kernel(entry("", "ret;").replace(".version 8.0", ".version 99.0"))
    assert "99.0" in caplog.text
