//! Video and matrix instructions.

use super::notation::Row;

/// The forms. Operand selectors (`%r1.b0`) are read by the parser.
pub(super) const FORMS: &[Row] = &[
    ("vadd vsub vabsdiff vmin vmax", "$int32 $int32 $int32 sat?", "=0 1 2"),
    ("vadd vsub vabsdiff vmin vmax", "$int32 $int32 $int32 sat? add|min|max", "=0 1 2 0"),
    // With a selector on the destination, the third source supplies the other bytes.
    ("vadd vsub vabsdiff vmin vmax", "$int32 $int32 $int32 sat?", "=0 1 2 0"),
    ("vshl vshr", "$int32 $int32 u32 sat? clamp|wrap", "=0 1 2"),
    ("vshl vshr", "$int32 $int32 u32 sat? clamp|wrap add|min|max", "=0 1 2 0"),
    ("vshl vshr", "$int32 $int32 u32 sat? clamp|wrap", "=0 1 2 0"),
    ("vmad", "$int32 $int32 $int32 po? sat? shr7|shr15?", "=0 1 2 0"),
    ("vset", "$int32 $int32 eq|ne|lt|le|gt|ge", "=u32 0 1"),
    ("vset", "$int32 $int32 eq|ne|lt|le|gt|ge add|min|max", "=u32 0 1 u32"),
    ("vset", "$int32 $int32 eq|ne|lt|le|gt|ge", "=u32 0 1 u32"),
    ("vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2", "$int32 $int32 $int32 sat?", "=0 1 2 0"),
    ("vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2", "$int32 $int32 $int32 add", "=0 1 2 0"),
    ("vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4", "$int32 $int32 $int32 sat?", "=0 1 2 0"),
    ("vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4", "$int32 $int32 $int32 add", "=0 1 2 0"),
    ("vset2 vset4", "$int32 $int32 eq|ne|lt|le|gt|ge add?", "=u32 0 1 u32"),
    ("wmma", "load a|b sync aligned row|col $shape $mss? f16|bf16|u8|s8", LOAD),
    ("wmma", "load a|b sync aligned row|col m16n16k8 $mss? tf32", LOAD),
    ("wmma", "load a|b sync aligned row|col m8n8k4 $mss? f64", LOAD),
    ("wmma", "load a sync aligned row m8n8k32 $mss? u4|s4", "=Fb32 m b32?"),
    ("wmma", "load b sync aligned col m8n8k32 $mss? u4|s4", "=Fb32 m b32?"),
    ("wmma", "load a sync aligned row m8n8k128 $mss? b1", "=Fb32 m b32?"),
    ("wmma", "load b sync aligned col m8n8k128 $mss? b1", "=Fb32 m b32?"),
    ("wmma", "load c sync aligned row|col $shape $mss? f16|f32|s32", LOAD),
    ("wmma", "load c sync aligned row|col m16n16k8 $mss? f32", LOAD),
    ("wmma", "load c sync aligned row|col m8n8k4 $mss? f64", LOAD),
    ("wmma", "load c sync aligned row|col m8n8k32|m8n8k128 $mss? s32", LOAD),
    ("wmma", "store d sync aligned row|col $shape $mss? f16|f32|s32", STORE),
    ("wmma", "store d sync aligned row|col m16n16k8 $mss? f32", STORE),
    ("wmma", "store d sync aligned row|col m8n8k4 $mss? f64", STORE),
    ("wmma", "store d sync aligned row|col m8n8k32|m8n8k128 $mss? s32", STORE),
    ("wmma", "mma sync aligned row|col row|col $shape f16|f32 f16|f32 satfinite?", HALF),
    ("wmma", "mma sync aligned row|col row|col $shape f32 bf16 bf16 f32", FOUR),
    ("wmma", "mma sync aligned row|col row|col m16n16k8 f32 tf32 tf32 f32", FOUR),
    ("wmma", "mma sync aligned row|col row|col m8n8k4 rn? f64 f64 f64 f64", FOUR),
    ("wmma", "mma sync aligned row|col row|col $shape s32 u8 u8 s32 satfinite?", FOUR),
    ("wmma", "mma sync aligned row|col row|col $shape s32 s8 s8 s32 satfinite?", FOUR),
    ("wmma", "mma sync aligned row col m8n8k32 s32 u4 u4 s32 satfinite?", SUBBYTE),
    ("wmma", "mma sync aligned row col m8n8k32 s32 s4 s4 s32 satfinite?", SUBBYTE),
    ("wmma", "mma xor|and popc sync aligned row col m8n8k128 s32 b1 b1 s32", SUBBYTE),
    ("movmatrix", "sync aligned m8n8 trans b16", "=b32 b32"),
    ("mma", "sync aligned m8n8k4 row|col row|col f16|f32 f16 f16 f16", FOUR),
    ("mma", "sync aligned m8n8k4 row|col row|col f32 f16 f16 f32", FOUR),
    ("mma", "sync aligned m16n8k8|m16n8k16 row col f16 f16 f16 f16", FOUR),
    ("mma", "sync aligned m16n8k8|m16n8k16 row col f32 f16 f16 f32", FOUR),
    ("mma", "sync aligned m16n8k8|m16n8k16 row col f32 bf16 bf16 f32", FOUR),
    ("mma", "sync aligned m16n8k4|m16n8k8 row col f32 tf32 tf32 f32", FOUR),
    ("mma", "sync aligned m8n8k4|m16n8k4|m16n8k8|m16n8k16 row col rn? f64 f64 f64 f64", FOUR),
    ("mma", "sync aligned m16n8k16|m16n8k32 row col f32 e4m3|e5m2 e4m3|e5m2 f32", EIGHTH),
    ("mma", "sync aligned m16n8k16|m16n8k32 row col f16 e4m3|e5m2 e4m3|e5m2 f16", EIGHTH),
    ("mma", "sync aligned $bytes row col satfinite? s32 u8|s8 u8|s8 s32", FOUR),
    ("mma", "sync aligned $nibbles row col satfinite? s32 u4|s4 u4|s4 s32", SUBBYTE),
    ("mma", "sync aligned $single row col s32 b1 b1 s32 xor|and popc", SUBBYTE),
];

/// A fragment, its address and the stride between rows.
const LOAD: &str = "=F0 m b32?";
/// An address, a fragment and the stride between rows.
const STORE: &str = "m F0 b32?";
/// Fragments of halves are packed in pairs; only result and accumulator types are written.
const HALF: &str = "=F0 Fb32 Fb32 F1";
/// Four fragments, each with its type written.
const FOUR: &str = "=F0 F1 F2 F3";
/// Factors of 8 bits that are floating-point numbers: their types are words here.
const EIGHTH: &str = "=F0 Fb32 Fb32 F1";
/// Elements narrower than a byte have no type of their own here.
const SUBBYTE: &str = "=Fs32 Fb32 Fb32 Fs32";
