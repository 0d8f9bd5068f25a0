//! `vprintf` and `__assertfail`: text from the device.
//!
//! The format is C's: flags `-+ #0`, width and precision (also `*`), lengths `hh h l ll z j t`,
//! conversions `d i u o x X c s p f F e E g G a A %`. Arguments lie in a packed list, each at its
//! natural alignment, as compilers lay them out; with 32-bit addresses, pointers and what `l`, `z`
//! and `t` say have 4 bytes. Wrong formats print as they are.

use super::warp::{Surroundings, Warp};
use crate::fault::{AssertionFault, Fault, Place};
use crate::launch::MAX_PRINTF_BYTES;
use crate::micro::Slot;
use crate::row::lanes;

/// Longest string that is read from the device. Unit: bytes.
const MAX_STRING: u64 = 1 << 16;

/// Widest field and largest precision. Larger ones print as if they were this.
const MAX_WIDTH: usize = 4096;

/// What an argument of a call holds.
pub(super) fn argument(warp: &Warp, lane: usize, slot: Slot) -> u64 {
    match slot {
        Slot::Frame(offset, size) => warp.local.peek(lane, offset, size).unwrap_or(0),
        Slot::Row(row, 8) => warp.lanes.get64(row, lane),
        Slot::Row(row, _) => u64::from(warp.lanes.get32(row, lane)),
    }
}

/// A string that ends with a zero byte; what cannot be read ends it too.
fn string(warp: &Warp, lane: usize, around: &Surroundings<'_, '_>, address: u64) -> Vec<u8> {
    let mut text = Vec::new();
    for offset in 0..MAX_STRING {
        match around.memory.peek(&warp.local, lane, address.wrapping_add(offset), 1) {
            Some(byte) if byte != 0 => text.push(byte as u8),
            _ => break,
        }
    }
    text
}

impl Warp {
    /// Prints for each lane of the mask, lowest first.
    pub(super) fn print(&mut self, mask: u32, call: u32, around: &mut Surroundings<'_, '_>) {
        around.memory.device.watch.change();
        let call = &around.executable.calls[call as usize];
        for lane in lanes(mask) {
            let format = argument(self, lane, call.arguments[0]);
            let list = argument(self, lane, call.arguments[1]);
            let format = string(self, lane, around, format);
            let mut arguments = List { warp: self, lane, around, next: list };
            let (text, count) = expand(&format, &mut arguments);
            let progress = &mut *around.progress;
            let room = MAX_PRINTF_BYTES - progress.printf.len();
            let fits = text.len() <= room;
            if fits {
                progress.printf.extend_from_slice(&text);
            } else {
                progress.printf_truncated = true;
            }
            // Like CUDA's, the result is the number of arguments, or -1 when the output is full.
            let result = if fits { count } else { u32::MAX };
            match call.result {
                Some(Slot::Frame(offset, _)) => self.local.poke(lane, offset, result),
                Some(Slot::Row(row, _)) => self.lanes.put32(row, lane, result),
                None => {}
            }
        }
    }
}

/// The fault of a failed assertion.
pub(super) fn assertion(
    warp: &Warp,
    lane: usize,
    call: u32,
    around: &mut Surroundings<'_, '_>,
    place: Place,
) -> Fault {
    let call = &around.executable.calls[call as usize];
    let values: Vec<u64> = call.arguments.iter().map(|&slot| argument(warp, lane, slot)).collect();
    let text = |index: usize| {
        let bytes = string(warp, lane, around, values.get(index).copied().unwrap_or(0));
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Fault::Assertion(Box::new(AssertionFault {
        place,
        message: text(0),
        file: text(1),
        file_line: values.get(2).copied().unwrap_or(0) as u32,
        function: text(3),
    }))
}

/// Arguments of a format.
trait Arguments {
    /// The next value of 4 or 8 bytes.
    fn value(&mut self, size: u32) -> u64;
    /// Width of a pointer. Unit: bytes.
    fn pointer(&self) -> u32;
    /// The string at an address.
    fn string(&mut self, address: u64) -> Vec<u8>;
}

struct List<'a, 'b, 'c> {
    warp: &'a Warp,
    lane: usize,
    around: &'a Surroundings<'b, 'c>,
    next: u64,
}

impl Arguments for List<'_, '_, '_> {
    fn value(&mut self, size: u32) -> u64 {
        let step = u64::from(size);
        let at = self.next.wrapping_add(step - 1) & !(step - 1);
        self.next = at.wrapping_add(step);
        self.around.memory.peek(&self.warp.local, self.lane, at, size).unwrap_or(0)
    }

    fn pointer(&self) -> u32 {
        u32::from(self.around.executable.address_bits) / 8
    }

    fn string(&mut self, address: u64) -> Vec<u8> {
        string(self.warp, self.lane, self.around, address)
    }
}

/// A conversion specification.
#[expect(clippy::struct_excessive_bools, reason = "one for each flag of C's formats")]
#[derive(Clone, Copy, Debug, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    wide: bool,
    half: u32,
}

/// Expands a format; also says how many arguments it took.
fn expand(format: &[u8], arguments: &mut impl Arguments) -> (Vec<u8>, u32) {
    let mut text = Vec::new();
    let mut count = 0;
    let mut rest = format;
    while let Some(&byte) = rest.first() {
        if byte != b'%' {
            text.push(byte);
            rest = &rest[1..];
            continue;
        }
        if let Some((used, taken)) = convert(&rest[1..], arguments, &mut text) {
            rest = &rest[1 + used..];
            count += taken;
        } else {
            text.push(b'%');
            rest = &rest[1..];
        }
    }
    (text, count)
}

/// One conversion, after its percent sign: the bytes and arguments used; `None` when it is none.
fn convert(
    rest: &[u8],
    arguments: &mut impl Arguments,
    text: &mut Vec<u8>,
) -> Option<(usize, u32)> {
    let mut spec = Spec::default();
    let mut at = 0;
    let mut taken = 0;
    loop {
        match rest.get(at)? {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternative = true,
            b'0' => spec.zero = true,
            _ => break,
        }
        at += 1;
    }
    if rest.get(at) == Some(&b'*') {
        let width = arguments.value(4) as u32 as i32;
        spec.left |= width < 0;
        spec.width = width.unsigned_abs() as usize;
        (at, taken) = (at + 1, taken + 1);
    } else {
        spec.width = number(rest, &mut at);
    }
    if rest.get(at) == Some(&b'.') {
        at += 1;
        if rest.get(at) == Some(&b'*') {
            spec.precision = usize::try_from(arguments.value(4) as u32 as i32).ok();
            (at, taken) = (at + 1, taken + 1);
        } else {
            spec.precision = Some(number(rest, &mut at));
        }
    }
    while let Some(letter @ (b'h' | b'l' | b'L' | b'z' | b'j' | b't')) = rest.get(at) {
        match letter {
            b'h' => spec.half += 1,
            // A lone `l` is as wide as a pointer.
            b'l' if rest.get(at + 1) == Some(&b'l') => spec.wide = true,
            b'l' | b'z' | b't' => spec.wide |= arguments.pointer() == 8,
            _ => spec.wide = true,
        }
        at += 1;
    }
    spec.width = spec.width.min(MAX_WIDTH);
    spec.precision = spec.precision.map(|precision| precision.min(MAX_WIDTH));
    let conversion = *rest.get(at)?;
    if conversion == b'%' {
        text.push(b'%');
        return Some((at + 1, taken));
    }
    let field = field(conversion, &mut spec, arguments)?;
    pad(text, &field, &spec);
    Some((at + 1, taken + 1))
}

fn number(rest: &[u8], at: &mut usize) -> usize {
    let mut value = 0usize;
    while let Some(digit @ b'0'..=b'9') = rest.get(*at) {
        value = value.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
        *at += 1;
    }
    value
}

/// Sign or prefix, and digits.
struct Field {
    prefix: String,
    body: Vec<u8>,
}

fn field(conversion: u8, spec: &mut Spec, arguments: &mut impl Arguments) -> Option<Field> {
    let size = if spec.wide { 8 } else { 4 };
    let plain = |body: Vec<u8>| Field { prefix: String::new(), body };
    Some(match conversion {
        b'd' | b'i' => {
            let value = arguments.value(size);
            let value = match (spec.wide, spec.half) {
                (true, _) => value as i64,
                (_, 0) => i64::from(value as i32),
                (_, 1) => i64::from(value as i16),
                _ => i64::from(value as i8),
            };
            let prefix = sign(value < 0, spec);
            Field { prefix, body: digits(format!("{}", value.unsigned_abs()), spec) }
        }
        b'u' | b'x' | b'X' | b'o' => {
            let value = arguments.value(size);
            let value = match (spec.wide, spec.half) {
                (true, _) => value,
                (_, 0) => u64::from(value as u32),
                (_, 1) => u64::from(value as u16),
                _ => u64::from(value as u8),
            };
            unsigned(conversion, value, spec)
        }
        b'c' => plain(vec![arguments.value(4) as u8]),
        b's' => {
            let address = arguments.value(arguments.pointer());
            let mut text = arguments.string(address);
            text.truncate(spec.precision.unwrap_or(usize::MAX));
            spec.zero = false;
            plain(text)
        }
        b'p' => {
            let address = arguments.value(arguments.pointer());
            plain(format!("{address:#x}").into_bytes())
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            float(conversion, f64::from_bits(arguments.value(8)), spec)
        }
        _ => return None,
    })
}

fn sign(negative: bool, spec: &Spec) -> String {
    let text = match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    };
    text.to_owned()
}

/// Digits of an integer with its precision.
fn digits(text: String, spec: &mut Spec) -> Vec<u8> {
    let Some(precision) = spec.precision else { return text.into_bytes() };
    // With a precision, the flag `0` means nothing; zero with precision zero prints no digits.
    spec.zero = false;
    if precision == 0 && text == "0" {
        return Vec::new();
    }
    format!("{text:0>precision$}").into_bytes()
}

fn unsigned(conversion: u8, value: u64, spec: &mut Spec) -> Field {
    let (text, prefix) = match conversion {
        b'x' => (format!("{value:x}"), "0x"),
        b'X' => (format!("{value:X}"), "0X"),
        b'o' => (format!("{value:o}"), "0"),
        _ => (format!("{value}"), ""),
    };
    let prefix = if spec.alternative && value != 0 { prefix } else { "" };
    Field { prefix: prefix.to_owned(), body: digits(text, spec) }
}

fn float(conversion: u8, value: f64, spec: &mut Spec) -> Field {
    let prefix = sign(value.is_sign_negative() && !value.is_nan(), spec);
    let upper = conversion.is_ascii_uppercase();
    let magnitude = value.abs();
    let body = if value.is_finite() {
        match conversion.to_ascii_lowercase() {
            b'f' => fixed(magnitude, spec.precision.unwrap_or(6), spec.alternative),
            b'e' => exponential(magnitude, spec.precision.unwrap_or(6), spec.alternative),
            b'g' => general(magnitude, spec),
            _ => hexadecimal(magnitude, spec.precision),
        }
    } else {
        spec.zero = false;
        if value.is_nan() { "nan".to_owned() } else { "inf".to_owned() }
    };
    let body = if upper { body.to_ascii_uppercase() } else { body };
    Field { prefix, body: body.into_bytes() }
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let mut text = format!("{value:.precision$}");
    if point && precision == 0 {
        text.push('.');
    }
    text
}

fn exponential(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let point = if point && precision == 0 { "." } else { "" };
    format!("{mantissa}{point}e{sign}{:02}", exponent.unsigned_abs())
}

fn general(value: f64, spec: &Spec) -> String {
    let precision = spec.precision.unwrap_or(6).max(1);
    let rounded = format!("{value:.*e}", precision - 1);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let text = if exponent < -4 || exponent >= precision as i32 {
        exponential(value, precision - 1, spec.alternative)
    } else {
        let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
        fixed(value, decimals, spec.alternative)
    };
    if spec.alternative {
        return text;
    }
    let (mantissa, tail) = match text.find('e') {
        Some(at) => text.split_at(at),
        None => (text.as_str(), ""),
    };
    let trimmed = if mantissa.contains('.') {
        mantissa.trim_end_matches('0').trim_end_matches('.')
    } else {
        mantissa
    };
    format!("{trimmed}{tail}")
}

fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let bits = value.to_bits();
    let (mut mantissa, biased) = (bits & ((1 << 52) - 1), (bits >> 52) as i32);
    let (mut lead, exponent) = match (biased, mantissa) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1u64, biased - 1023),
    };
    let mut digits = format!("{mantissa:013x}");
    match precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(precision) if precision < 13 => {
            // Round to nearest, ties to even, on the digits kept.
            let drop = 4 * (13 - precision as u32);
            let (unit, half) = (1u64 << drop, 1u64 << (drop - 1));
            let whole = lead << 52 | mantissa;
            let (kept, lost) = (whole >> drop, whole & (unit - 1));
            let up = lost > half || (lost == half && kept & 1 == 1);
            let whole = (kept + u64::from(up)) << drop;
            (lead, mantissa) = (whole >> 52, whole & ((1 << 52) - 1));
            digits = format!("{mantissa:013x}");
            digits.truncate(precision);
        }
        Some(precision) => digits = format!("{digits:0<precision$}"),
    }
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{exponent:+}")
}

fn pad(text: &mut Vec<u8>, field: &Field, spec: &Spec) {
    let length = field.prefix.len() + field.body.len();
    let missing = spec.width.saturating_sub(length);
    let fill = |text: &mut Vec<u8>, byte: u8| text.resize(text.len() + missing, byte);
    if !spec.left && !spec.zero {
        fill(text, b' ');
    }
    text.extend_from_slice(field.prefix.as_bytes());
    if !spec.left && spec.zero {
        fill(text, b'0');
    }
    text.extend_from_slice(&field.body);
    if spec.left {
        fill(text, b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values, and the width of a pointer.
    struct Values(Vec<u64>, u32);

    impl Arguments for Values {
        fn value(&mut self, size: u32) -> u64 {
            let value = self.0.remove(0);
            if size == 4 { value & 0xffff_ffff } else { value }
        }
        fn pointer(&self) -> u32 {
            self.1
        }
        fn string(&mut self, address: u64) -> Vec<u8> {
            format!("<{address}>").into_bytes()
        }
    }

    fn printed(format: &str, values: &[u64]) -> String {
        printed_with(8, format, values)
    }

    fn printed_with(pointer: u32, format: &str, values: &[u64]) -> String {
        let mut values = Values(values.to_vec(), pointer);
        let (text, _) = expand(format.as_bytes(), &mut values);
        assert!(values.0.is_empty(), "{format} left arguments");
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn integers_as_in_c() {
        assert_eq!(
            printed("%d|%5d|%-5d|%05d", &[7, 42, 42, (-42i64) as u64]),
            "7|   42|42   |-0042"
        );
        assert_eq!(
            printed("%u %x %X %#x %o", &[u64::MAX, 255, 255, 255, 8]),
            "4294967295 ff FF 0xff 10"
        );
        assert_eq!(
            printed("%lld %llu %lx", &[u64::MAX, u64::MAX, 1 << 40]),
            "-1 18446744073709551615 10000000000"
        );
        assert_eq!(printed("%+d % d %.4d %.0d", &[1, 1, 42, 0]), "+1  1 0042 ");
        assert_eq!(printed("%hhd %hd %hu", &[0x1ff, 0x18000, 0x12345]), "-1 -32768 9029");
        assert_eq!(printed("%*d|%-*d|", &[4, 7, 3, 7]), "   7|7  |");
    }

    #[test]
    fn floats_as_in_c() {
        let b = |x: f64| x.to_bits();
        assert_eq!(
            printed("%f %.2f %8.3f|%-8.1f|", &[b(1.5), b(2.345), b(-1.0), b(0.25)]),
            "1.500000 2.35   -1.000|0.2     |"
        );
        assert_eq!(printed("%e %.2E", &[b(12345.678), b(0.000_123)]), "1.234568e+04 1.23E-04");
        assert_eq!(
            printed("%g %g %g %g", &[b(100_000.0), b(1e6), b(0.0001), b(0.00001)]),
            "100000 1e+06 0.0001 1e-05"
        );
        assert_eq!(
            printed("%f %f %05f", &[b(f64::INFINITY), b(f64::NAN), b(f64::NEG_INFINITY)]),
            "inf nan  -inf"
        );
        assert_eq!(printed("%a %a %.1a", &[b(1.0), b(0.5), b(1.999)]), "0x1p+0 0x1p-1 0x2.0p+0");
        assert_eq!(printed("%08.2f|%+.1f", &[b(-3.1375), b(2.0)]), "-0003.14|+2.0");
    }

    #[test]
    fn strings_characters_and_oddities() {
        assert_eq!(printed("%s|%8s|%-6s|%.2s", &[1, 2, 3, 444]), "<1>|     <2>|<3>   |<4");
        assert_eq!(printed("%c%c %p %%", &[65, 66, 0x7f00]), "AB 0x7f00 %");
        assert_eq!(printed("100%! %k %", &[]), "100%! %k %");
    }

    #[test]
    fn pointers_and_longs_are_as_wide_as_addresses() {
        let format = "%lx %zx %tx %p %s %llx %jx %x";
        let value = 0x12_3456_789a;
        assert_eq!(
            printed_with(4, format, &[value; 8]),
            "3456789a 3456789a 3456789a 0x3456789a <878082202> 123456789a 123456789a 3456789a"
        );
        assert_eq!(
            printed_with(8, format, &[value; 8]),
            "123456789a 123456789a 123456789a 0x123456789a <78187493530> 123456789a 123456789a \
             3456789a"
        );
    }
}
