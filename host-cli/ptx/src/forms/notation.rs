//! How tables write forms. A form is a template of words and a list of operands:
//!
//! ```text
//! "rn|rz|rm|rp? ftz? sat? f32"   one group for each word; `?` = optional; `$name` = a set below
//! "=0 0 0"                       `=` destination; a digit = the type at that position
//! ```
//!
//! Operands: `0` a value of the first type written, `u32` a value of a fixed type, `w0` of twice
//! the width, `~0` of that width or wider (loads, stores, conversions), `v0` the same but a vector
//! when `.v2` or `.v4` is written, `Vb32` a vector of any length, `F0` a matrix fragment, `x0` what
//! `mov` takes, `p` a predicate, `m` an address, `a0` or `a` an address as a value, `i15` a
//! constant up to 15, `l` a label, `T` a branch table, `t` a texture or surface with its
//! coordinates, `*` whatever follows; `|p` a second destination, `?` an operand that may be left
//! out.

/// A row of a table: opcodes, separated by spaces; the template; the operands.
pub(super) type Row = (&'static str, &'static str, &'static str);

/// Names for sets of words that return again and again.
pub(super) const SETS: &[(&str, &str)] = &[
    ("rnd", "rn|rz|rm|rp"),
    ("integral", "rni|rzi|rmi|rpi"),
    ("int", "u16|u32|u64|s16|s32|s64"),
    ("int32", "u32|s32"),
    ("carry", "u32|s32|u64|s64"),
    ("bits", "b16|b32|b64"),
    ("any", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"),
    ("mem", "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"),
    ("int8", "u8|u16|u32|u64|s8|s16|s32|s64"),
    ("bcmp", "eq|ne"),
    ("scmp", "eq|ne|lt|le|gt|ge"),
    ("ucmp", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"),
    ("fcmp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"),
    ("signed", "s16|s32|s64"),
    ("unsigned", "u16|u32|u64"),
    ("bool", "and|or|xor"),
    ("sem", "relaxed|acquire|release|acq_rel"),
    ("aspace", "global|shared|shared::cta|shared::cluster"),
    (
        "texquery",
        "width|height|depth|channel_data_type|channel_order|normalized_coords|array_size\
         |num_mipmap_levels|num_samples|filter_mode|addr_mode_0|addr_mode_1|addr_mode_2\
         |force_unnormalized_coords",
    ),
    ("surfquery", "width|height|depth|channel_data_type|channel_order|array_size|memory_layout"),
    ("mss", "global|shared|shared::cta"),
    ("bytes", "m8n8k16|m16n8k16|m16n8k32"),
    ("nibbles", "m8n8k32|m16n8k32|m16n8k64"),
    ("single", "m8n8k128|m16n8k128|m16n8k256"),
    ("scope", "cta|cluster|gpu|sys"),
    ("ss", "shared|shared::cta|shared::cluster"),
    (
        "space",
        "const|global|local|param|param::entry|param::func|shared|shared::cta|shared::cluster",
    ),
    ("lcop", "ca|cg|cs|lu|cv"),
    ("scop", "wb|cg|cs|wt"),
    (
        "evict",
        "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate",
    ),
    ("evict2", "L2::evict_normal|L2::evict_first|L2::evict_last"),
    ("hint", "L2::cache_hint"),
    ("l2", "L2::64B|L2::128B|L2::256B"),
    ("vec", "v2|v4|v8"),
    ("geom", "1d|2d|3d|a1d|a2d|cube|acube|2dms|a2dms"),
    ("sgeom", "1d|2d|3d|a1d|a2d"),
    ("shape", "m16n16k16|m8n32k16|m32n8k16"),
];
