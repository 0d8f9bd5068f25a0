//! Textures and surfaces, against hand-computed values and a second implementation in rational
//! numbers.

use crate::common::{Arguments, Bench, config, launch};
use strata_simt::device::ModuleHandle;
use strata_simt::texture::{
    AddressMode, Dimensions, Filter, Format, Image, Object, Sampler, Texture,
};

/// A kernel of 32 threads: each has four words at `%i0` to `%i3` and stores four at `%o0` to `%o3`;
/// `%h` and `%g` are the handles.
fn kernel(declarations: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n{declarations}\n
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{{
    .reg .b32 %i<4>; .reg .b32 %o<4>; .reg .b32 %r<8>; .reg .b64 %a<8>; .reg .b64 %h; .reg .b64 %g;
    .reg .pred %p<4>;
    ld.param.u64 %h, [a];
    ld.param.u64 %g, [b];
    ld.param.u64 %a1, [c];
    ld.param.u64 %a2, [d];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a0, %r0, 16;
    add.u64 %a1, %a1, %a0;
    add.u64 %a2, %a2, %a0;
    ld.global.v4.b32 {{%i0, %i1, %i2, %i3}}, [%a1];
    mov.b32 %o0, 0; mov.b32 %o1, 0; mov.b32 %o2, 0; mov.b32 %o3, 0;
    {body}
    st.global.v4.b32 [%a2], {{%o0, %o1, %o2, %o3}};
    ret;
}}
"
    )
}

const RESULT: &str = "{%o0, %o1, %o2, %o3}";

/// Runs a kernel for some threads' words; gives what they stored.
fn run(
    bench: &mut Bench,
    handles: [u64; 2],
    inputs: &[[u32; 4]],
) -> Result<Vec<[u32; 4]>, strata_simt::Fault> {
    let from = bench.words("in", inputs.as_flattened());
    let to = bench.words("out", &vec![0; 4 * inputs.len()]);
    let arguments =
        handles.into_iter().chain([from, to]).fold(Arguments::default(), Arguments::u64);
    bench.run("k", &launch(1, inputs.len() as u32, arguments))?;
    let words = bench.read(to, 4 * inputs.len());
    Ok(words.as_chunks::<4>().0.to_vec())
}

fn format(name: &str) -> Format {
    Format::from_name(name).expect("a format")
}

fn floats(values: [f32; 4]) -> [u32; 4] {
    values.map(f32::to_bits)
}

fn texture(image: Image, sampler: Sampler) -> Object {
    Object::Texture(Texture { image, sampler })
}

/// A generator of the tests' own.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % limit
    }
}

/// The texel that position `at` of a row of `size` shows: a table of one period.
fn shown(at: i128, size: i128, mode: AddressMode) -> Option<i128> {
    let forth: Vec<i128> = (0..size).collect();
    let back: Vec<i128> = (0..size).rev().collect();
    match mode {
        AddressMode::Wrap => Some(forth[at.rem_euclid(size) as usize]),
        AddressMode::Mirror => Some([forth, back].concat()[at.rem_euclid(2 * size) as usize]),
        AddressMode::Clamp if at < 0 => Some(0),
        AddressMode::Clamp if at >= size => Some(size - 1),
        AddressMode::Border if at < 0 || at >= size => None,
        AddressMode::Clamp | AddressMode::Border => Some(at),
    }
}

/// A float as a fraction: numerator, and denominator as a power of two.
fn fraction(value: f32) -> (i128, u32) {
    let bits = value.to_bits();
    let exponent = (bits >> 23 & 0xff) as i32;
    let mantissa = i128::from(bits & 0x7f_ffff) + if exponent == 0 { 0 } else { 1 << 23 };
    let power = exponent.max(1) - 150;
    let signed = if bits >> 31 == 1 { -mantissa } else { mantissa };
    if value == 0.0 {
        return (0, 0);
    }
    if power > 0 { (signed << power, 0) } else { (signed, (-power) as u32) }
}

/// For one dimension, texels with their weights in 256ths; `None` is the border.
fn taps(place: f32, size: u32, sampler: Sampler, mode: AddressMode) -> Vec<(Option<i128>, i128)> {
    let (mut top, bits) = fraction(place);
    let size = i128::from(size);
    let mode = match mode {
        AddressMode::Wrap | AddressMode::Mirror if !sampler.normalized => AddressMode::Clamp,
        mode => mode,
    };
    if sampler.normalized {
        top *= size;
    }
    let bottom = 1_i128 << bits;
    if sampler.filter == Filter::Point {
        return vec![(shown(top.div_euclid(bottom), size, mode), 256)];
    }
    // Rounded half up to 256ths, half a texel taken away.
    let fixed = (2 * 256 * top + bottom).div_euclid(2 * bottom) - 128;
    let (at, upper) = (fixed.div_euclid(256), fixed.rem_euclid(256));
    vec![(shown(at, size, mode), 256 - upper), (shown(at + 1, size, mode), upper)]
}

/// Values are multiples of this, so that the mean is a sum of integers. Unit: 1 / 1024.
const GRAIN: f32 = 1024.0;

#[test]
fn sampling_is_that_of_rational_numbers() {
    let modes = [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border];
    let shapes = [
        (Dimensions::One, "1d", "{%i0}", [7, 1, 1]),
        (Dimensions::Two, "2d", "{%i0, %i1}", [5, 4, 1]),
        (Dimensions::Three, "3d", "{%i0, %i1, %i2, %i2}", [3, 4, 5]),
        (Dimensions::LayersOfTwo, "a2d", "{%i3, %i0, %i1, %i1}", [4, 3, 3]),
        (Dimensions::LayersOfOne, "a1d", "{%i3, %i0}", [6, 1, 4]),
    ];
    for seed in 0..120_u64 {
        let mut numbers = Numbers(seed);
        let (dimensions, name, operand, sizes) = shapes[seed as usize % shapes.len()];
        let sampler = Sampler {
            address_modes: std::array::from_fn(|_| modes[numbers.below(4) as usize]),
            filter: if numbers.below(2) == 0 { Filter::Point } else { Filter::Linear },
            normalized: numbers.below(2) == 0,
        };
        let count: u32 = sizes.iter().product();
        let texels: Vec<i128> =
            (0..count).map(|_| numbers.below(1 << 21) as i128 - (1 << 20)).collect();
        let values: Vec<f32> = texels.iter().map(|&texel| texel as f32 / GRAIN).collect();
        let body = format!("tex.{name}.v4.f32.f32 {RESULT}, [%h, {operand}];");
        let mut bench = Bench::new(&kernel("", &body));
        let address = bench.floats("texels", &values);
        let image = Image::packed(address, dimensions, sizes, format("f32"));
        let handle = bench.device.create_object("t", texture(image, sampler)).unwrap();
        let extent = if sampler.normalized { 3.0 } else { 20.0 };
        let place = |numbers: &mut Numbers| match numbers.below(8) {
            0 => numbers.below(12) as f32 * 0.5 - 2.0,
            1 => (numbers.below(12) as f32 - 6.0) * 1e9,
            // About 2^-60, of either sign.
            2 => f32::from_bits(
                (numbers.below(2) as u32) << 31 | 0x2180_0000 | numbers.below(1 << 23) as u32,
            ),
            _ => (numbers.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0) * extent,
        };
        let inputs: Vec<[f32; 4]> = (0..32)
            .map(|_| {
                let layer = f32::from_bits(numbers.below(6) as u32);
                [place(&mut numbers), place(&mut numbers), place(&mut numbers), layer]
            })
            .collect();
        let words: Vec<[u32; 4]> = inputs.iter().copied().map(floats).collect();
        let results = run(&mut bench, [handle, 0], &words).unwrap();
        for (at, result) in inputs.iter().zip(&results) {
            let layer = i128::from(at[3].to_bits().min(sizes[2] - 1));
            let along = |d: usize| taps(at[d], sizes[d], sampler, sampler.address_modes[d]);
            let none = vec![(Some(0), 256)];
            let ys = if dimensions.count() > 1 { along(1) } else { none.clone() };
            let zs = match dimensions {
                Dimensions::Three => along(2),
                _ if dimensions.layered() => vec![(Some(layer), 256)],
                _ => none,
            };
            let mut sum = 0;
            for &(z, wz) in &zs {
                for &(y, wy) in &ys {
                    for (x, wx) in along(0) {
                        if let (Some(x), Some(y), Some(z)) = (x, y, z) {
                            let (width, height) = (i128::from(sizes[0]), i128::from(sizes[1]));
                            sum += wx * wy * wz * texels[((z * height + y) * width + x) as usize];
                        }
                    }
                }
            }
            let mean = (sum as f64 / (256.0 * 256.0 * 256.0) / f64::from(GRAIN)) as f32;
            let expected = floats([mean, 0.0, 0.0, 0.0]);
            assert_eq!(*result, expected, "seed {seed}, {sampler:?}, {sizes:?}, at {at:?}");
        }
    }
}

#[test]
fn normalised_channels_are_filtered_as_floats() {
    let body = format!("tex.2d.v4.f32.f32 {RESULT}, [%h, {{%i0, %i1}}];");
    let mut bench = Bench::new(&kernel("", &body));
    // Two texels: (0, 51, 255, 102) and (255, 0, 255, 102).
    let address = bench.words("texels", &[0x66ff_3300, 0x66ff_00ff]);
    let image = Image::packed(address, Dimensions::Two, [2, 1, 1], format("unorm8x4"));
    let sampler = Sampler { filter: Filter::Linear, ..Sampler::default() };
    let handle = bench.device.create_object("t", texture(image, sampler)).unwrap();
    let results = run(&mut bench, [handle, 0], &[floats([0.75, 0.5, 0.0, 0.0])]).unwrap();
    // A quarter of the way from the first to the second.
    let mean = (f64::from(51.0_f32 / 255.0) * 0.75) as f32;
    assert_eq!(results, [floats([0.25, mean, 1.0, 102.0 / 255.0])]);
}

#[test]
fn linear_memory_is_fetched_by_index_and_zero_outside() {
    let body = format!("tex.1d.v4.s32.s32 {RESULT}, [%h, {{%i0}}];");
    let mut bench = Bench::new(&kernel("", &body));
    let address = bench.words("texels", &[0x8001_0002, 0x0003_fffc]);
    let image = Image::packed(address, Dimensions::Linear, [2, 1, 1], format("s16x2"));
    let handle = bench.device.create_object("t", texture(image, Sampler::default())).unwrap();
    let inputs = [[0; 4], [1, 0, 0, 0], [2, 0, 0, 0], [u32::MAX, 0, 0, 0]];
    let results = run(&mut bench, [handle, 0], &inputs).unwrap();
    assert_eq!(results[0], [2, 0xffff_8001, 0, 0]);
    assert_eq!(results[1], [0xffff_fffc, 3, 0, 0]);
    assert_eq!(results[2..], [[0; 4]; 2]);
}

#[test]
fn gathering_goes_round_from_the_lower_left() {
    let body = format!("tld4.r.2d.v4.f32.f32 {RESULT}, [%h, {{%i0, %i1}}];");
    let mut bench = Bench::new(&kernel("", &body));
    let address = bench.floats("texels", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let image = Image::packed(address, Dimensions::Two, [3, 2, 1], format("f32"));
    let handle = bench.device.create_object("t", texture(image, Sampler::default())).unwrap();
    let results = run(&mut bench, [handle, 0], &[floats([2.0, 1.0, 0.0, 0.0])]).unwrap();
    assert_eq!(results, [floats([5.0, 6.0, 3.0, 2.0])]);
}

#[test]
fn references_are_bound_by_name_in_both_modes() {
    let declarations = ".tex .u32 old;\n.global .texref new;\n.global .samplerref s;";
    let body = "tex.1d.v4.f32.s32 {%o0, _, _, _}, [old, {%i0, %i0, %i0, %i0}];
    tex.1d.v4.f32.f32 {%o1, _, _, _}, [new, s, {%i1}];
    mov.u64 %a3, new;
    tex.1d.v4.f32.f32 {%o2, _, _, _}, [%a3, {%i1}];
    istypep.texref %p0, %a3; istypep.samplerref %p1, %a3;
    selp.b32 %o3, 1, 0, %p0; @%p1 mov.b32 %o3, 7;";
    let mut bench = Bench::new(&kernel(declarations, body));
    let input = [[1, 1.25_f32.to_bits(), 0, 0]];
    let fault = run(&mut bench, [0, 0], &input).unwrap_err().to_string();
    assert!(fault.starts_with("the reference `old` is not bound to a texture"), "{fault}");
    assert!(fault.contains("PTX line"), "{fault}");
    let address = bench.floats("texels", &[1.0, 3.0]);
    let image = Image::packed(address, Dimensions::One, [2, 1, 1], format("f32"));
    let point = texture(image, Sampler::default());
    let linear = Sampler { filter: Filter::Linear, ..Sampler::default() };
    let module = bench.module.clone();
    let mut bind =
        |name, object| bench.device.bind_reference(ModuleHandle::default(), &module, name, object);
    bind("old", point).unwrap();
    bind("new", point).unwrap();
    bind("s", Object::Sampler(linear)).unwrap();
    assert!(bind("s", point).is_err() && bind("none", point).is_err());
    let results = run(&mut bench, [0, 0], &input).unwrap();
    assert_eq!(results, [[3.0_f32.to_bits(), 2.5_f32.to_bits(), 3.0_f32.to_bits(), 1]]);
}

/// Reads the diagonal of an image of four rows of four texels, 0 to 15.
#[test]
fn samplers_are_what_the_module_initialises_them_with() {
    let read = |sampler: &str, normalized: bool| {
        let declarations = format!(".global .texref t;\n.global .samplerref s{sampler};");
        let body = "tex.2d.v4.f32.f32 {%o0, _, _, _}, [t, s, {%i0, %i0}];";
        let mut bench = Bench::new(&kernel(&declarations, body));
        let texels: Vec<f32> = (0..16_u8).map(f32::from).collect();
        let address = bench.floats("texels", &texels);
        let image = Image::packed(address, Dimensions::Two, [4, 4, 1], format("f32"));
        let sampler = Sampler { normalized, ..Sampler::default() };
        let module = bench.module.clone();
        let object = texture(image, sampler);
        bench.device.bind_reference(ModuleHandle::default(), &module, "t", object).unwrap();
        let places = [-1.0_f32, 0.5, 1.0, 2.0, 3.5, 4.0, 5.0];
        let scale = if normalized { 0.25 } else { 1.0 };
        let inputs = places.map(|place| [(place * scale).to_bits(), 0, 0, 0]);
        let results = run(&mut bench, [0, 0], &inputs)?;
        Ok::<_, strata_simt::Fault>(
            results.iter().map(|r| f32::from_bits(r[0])).collect::<Vec<_>>(),
        )
    };
    let border = " = { addr_mode_0 = clamp_to_border, addr_mode_1 = clamp_to_border";
    let linear = format!("{border}, filter_mode = linear }}");
    assert_eq!(read(&linear, false).unwrap(), [0.0, 0.0, 2.5, 7.5, 15.0, 3.75, 0.0]);
    assert_eq!(read(&linear, true).unwrap(), [0.0, 0.0, 2.5, 7.5, 15.0, 3.75, 0.0]);
    let nearest = [0.0, 0.0, 5.0, 10.0, 15.0, 0.0, 0.0];
    assert_eq!(read(&format!("{border} }}"), false).unwrap(), nearest);
    assert_eq!(read(" = {}", false).unwrap(), [0.0, 0.0, 5.0, 10.0, 15.0, 15.0, 15.0]);
    let wrapped = " = { addr_mode_0 = wrap, addr_mode_1 = wrap }";
    assert_eq!(read(wrapped, true).unwrap(), [15.0, 0.0, 5.0, 10.0, 15.0, 0.0, 5.0]);
    // Fractions are taken for texels, whatever the texture says.
    let forced = format!("{border}, force_unnormalized_coords = 1 }}");
    assert_eq!(read(&forced, true).unwrap(), [0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 5.0]);
    assert!(read("", false).unwrap_err().to_string().contains("`s` is not bound"));
}

/// A surface of 4 by 2 words beside the texture of the same texels.
fn surface(bench: &mut Bench) -> (u64, [u64; 2]) {
    let address = bench.words("texels", &[10, 11, 12, 13, 20, 21, 22, 23]);
    let image = Image::packed(address, Dimensions::Two, [4, 2, 1], format("u32"));
    let surface = bench.device.create_object("s", Object::Surface(image)).unwrap();
    let texture = texture(image, Sampler::default());
    (address, [surface, bench.device.create_object("t", texture).unwrap()])
}

#[test]
fn surfaces_are_accessed_by_byte_and_seen_by_textures() {
    let body = "suld.b.2d.v2.b32.trap {%o0, %o1}, [%h, {%i0, %i1}];
    sust.b.2d.b32.zero [%h, {%i2, %i1}], %o1;
    sured.b.add.2d.u32.trap [%h, {%i0, %i1}], %i3;
    tex.2d.v4.u32.s32 {%o2, _, _, _}, [%g, {%i3, %i1}];
    suq.width.b32 %o3, [%h];";
    let mut bench = Bench::new(&kernel("", body));
    let (address, handles) = surface(&mut bench);
    // Reads bytes 8 to 15 of row 1, stores the second word at byte 0, adds 3 to the first.
    let results = run(&mut bench, handles, &[[8, 1, 0, 3]]).unwrap();
    assert_eq!(results, [[22, 23, 23, 4]]);
    assert_eq!(bench.read(address, 8), [10, 11, 12, 13, 23, 21, 25, 23]);
    // A store outside is dropped; a load outside stops.
    run(&mut bench, handles, &[[8, 0, 16, 1]]).unwrap();
    assert_eq!(bench.read(address, 8), [10, 11, 13, 13, 23, 21, 25, 23]);
    for bad in [[12, 0, 0, 0], [u32::MAX - 7, 0, 0, 0], [0, 2, 0, 0], [4, 0, 0, 0]] {
        let fault = run(&mut bench, handles, &[bad]).unwrap_err().to_string();
        assert!(fault.contains("surface `s`"), "{fault}");
    }
    let fault = run(&mut bench, [handles[1], 0], &[[0; 4]]).unwrap_err().to_string();
    assert!(fault.starts_with("`t` is a texture, and the instruction needs a surface"), "{fault}");
}

#[test]
fn outside_a_surface_is_clamped_or_zero() {
    let body = "suld.b.2d.b32.clamp %o0, [%h, {%i0, %i1}];
    suld.b.2d.b32.zero %o1, [%h, {%i0, %i1}];
    suld.b.2d.b8.clamp %o2, [%h, {%i2, %i1}];
    txq.height.b32 %o3, [%g];";
    let mut bench = Bench::new(&kernel("", body));
    let (_, handles) = surface(&mut bench);
    let outside = [[100, 5, 0, 0], [u32::MAX - 3, u32::MAX, 4, 0], [4, 1, 5, 0]];
    let results = run(&mut bench, handles, &outside).unwrap();
    assert_eq!(results, [[23, 0, 20, 2], [10, 0, 11, 2], [21, 21, 0, 2]]);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    for (body, word) in [
        ("tex.cube.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%h, {%i0, %i1, %i2, %i3}];", "cube maps"),
        ("tex.grad.1d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%h, {%i0}], {%i1}, {%i2};", ".grad"),
        ("sust.p.1d.b32.trap [%h, {%i0}], %o0;", "`.p`"),
        ("txq.filter_mode.b32 %o0, [%h];", "filter_mode"),
    ] {
        let bench = Bench::new(&kernel("", body));
        let problems = bench.prepare("k").unwrap_err();
        assert!(problems[0].message.contains(word), "{problems:?}");
    }
    let body = format!("tex.level.2d.v4.f32.f32 {RESULT}, [%h, {{%i0, %i1}}], %i2;");
    let mut bench = Bench::new(&kernel("", &body));
    let (address, [surface, integers]) = surface(&mut bench);
    let line = Image::packed(address, Dimensions::One, [4, 1, 1], format("f32"));
    let line = bench.device.create_object("l", texture(line, Sampler::default())).unwrap();
    for (handle, words) in [
        (surface, "`s` is a surface"),
        (integers, "`t` has texels of format u32, which do not read as f32"),
        (line, "`l` is a 1d image, and the instruction needs a 2d one"),
        (12, "0xc is not the handle of a texture"),
    ] {
        let fault = run(&mut bench, [handle, 0], &[[0; 4]]).unwrap_err().to_string();
        assert!(fault.starts_with(words), "{fault}");
    }
    let mut bad = Image::packed(address, Dimensions::Two, [4, 2, 1], format("u32"));
    let linear = Sampler { filter: Filter::Linear, ..Sampler::default() };
    assert!(bench.device.create_object("f", texture(bad, linear)).is_err());
    bad.height = 3;
    let error = bench.device.create_object("big", Object::Surface(bad)).unwrap_err();
    assert!(error.to_string().contains("`big`"), "{error}");
}

#[test]
fn a_rotation_keeps_its_values_in_every_level() {
    // Thread (x, y) of an 8 by 4 image reads the place of a quarter turn about the centre.
    let body = format!(
        "and.b32 %r1, %r0, 7; shr.u32 %r2, %r0, 3;
    cvt.rn.f32.u32 %r3, %r1; cvt.rn.f32.u32 %r4, %r2;
    sub.f32 %r3, %r3, 0f40600000; sub.f32 %r4, %r4, 0f3FC00000;
    fma.rn.f32 %r5, %r4, 0f3F400000, 0f40800000;
    neg.f32 %r6, %r3; fma.rn.f32 %r6, %r6, 0f3F000000, 0f40000000;
    tex.2d.v4.f32.f32 {RESULT}, [%h, {{%r5, %r6}}];"
    );
    let mut results = Vec::new();
    for number in [None, Some(3), Some(20)] {
        let mut bench = Bench::new(&kernel("", &body));
        let texels: Vec<f32> = (0..32).map(|index| (index * index) as f32).collect();
        let address = bench.floats("texels", &texels);
        let image = Image::packed(address, Dimensions::Two, [8, 4, 1], format("f32"));
        let sampler = Sampler { filter: Filter::Linear, ..Sampler::default() };
        let handle = bench.device.create_object("t", texture(image, sampler)).unwrap();
        let from = bench.words("in", &[0; 128]);
        let to = bench.words("out", &[0; 128]);
        let arguments = Arguments::default().u64(handle).u64(0).u64(from).u64(to);
        let executable = match number {
            None => bench.prepare("k").expect("can be executed"),
            Some(number) => bench.at_levels("k", &config(number)),
        };
        let launch = launch(1, 32, arguments);
        strata_simt::execute(&mut bench.device, &executable, &launch).unwrap();
        results.push(bench.read(to, 128));
    }
    // Thread 0: x = 4 - 1.5 * 0.75 = 2.875, y = 2 + 3.5 * 0.5 = 3.75: three eighths from texel 26
    // to texel 27 of the last row.
    let expected = (26.0 * 26.0 * 5.0 + 27.0 * 27.0 * 3.0) / 8.0;
    assert_eq!(results[0][0], f32::to_bits(expected));
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}
