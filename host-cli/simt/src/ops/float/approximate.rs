//! Rows of approximate functions, lane by lane.

use crate::arith::integer::per_half1;
use crate::arith::transcendental as special;
use crate::micro::{Args, Extra};
use crate::row::{Lanes, sparse1, sparse2};

fn ftz(o: &Args) -> bool {
    matches!(o.extra, Extra::Flag(true))
}

/// Approximate functions of f32 that know `.ftz`.
macro_rules! approximate {
    ($($name:ident $f:path;)*) => {
        $(
            pub(super) fn $name(l: &mut Lanes, o: &Args, m: u32) {
                let ftz = ftz(o);
                sparse1(l, m, o.d, o.a, |a| $f(a, ftz));
            }
        )*
    };
}

approximate! {
    sin special::sin_f32;
    cos special::cos_f32;
    ex2 special::ex2_f32;
    lg2 special::lg2_f32;
    rsqrt special::rsqrt_f32;
    rcp_approx special::rcp_approx_f32;
    sqrt_approx special::sqrt_approx_f32;
}

pub(super) fn div_approx(l: &mut Lanes, o: &Args, m: u32) {
    let ftz = ftz(o);
    sparse2(l, m, o.d, (o.a, o.b), |a, b| special::div_approx_f32(a, b, ftz));
}

pub(super) fn div_full(l: &mut Lanes, o: &Args, m: u32) {
    let ftz = ftz(o);
    sparse2(l, m, o.d, (o.a, o.b), |a, b| special::div_full_f32(a, b, ftz));
}

/// Functions of halves, alone and in pairs.
macro_rules! halves {
    ($($name:ident $pair:ident $f:path;)*) => {
        $(
            pub(super) fn $name(l: &mut Lanes, o: &Args, m: u32) {
                sparse1(l, m, o.d, o.a, $f);
            }
            pub(super) fn $pair(l: &mut Lanes, o: &Args, m: u32) {
                sparse1(l, m, o.d, o.a, |a| per_half1(a, $f));
            }
        )*
    };
}

halves! {
    ex2_half ex2_half_pair special::ex2_f16;
    ex2_brain ex2_brain_pair special::ex2_ftz_bf16;
    tanh_half tanh_half_pair special::tanh_f16;
    tanh_brain tanh_brain_pair special::tanh_bf16;
}

/// Functions without modifiers.
macro_rules! plain {
    ($($name:ident $f:path;)*) => {
        $(
            pub(super) fn $name(l: &mut Lanes, o: &Args, m: u32) {
                sparse1(l, m, o.d, o.a, $f);
            }
        )*
    };
}

plain! {
    rsqrt64 special::rsqrt_f64;
    rsqrt64_ftz special::rsqrt_approx_ftz_f64;
    rcp64_ftz special::rcp_approx_ftz_f64;
    tanh32 special::tanh_f32;
}
