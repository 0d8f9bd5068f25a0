//! Special registers: names and types.

use crate::module::{Axis, ReservedPlace, SpecialRegister};
use crate::types::ScalarType;

/// A special register without axis, by name (with its percent sign).
pub(crate) fn scalar(name: &str) -> Option<SpecialRegister> {
    use SpecialRegister as S;
    Some(match name {
        "%laneid" => S::Laneid,
        "%warpid" => S::Warpid,
        "%nwarpid" => S::Nwarpid,
        "%smid" => S::Smid,
        "%nsmid" => S::Nsmid,
        "%gridid" => S::Gridid,
        "%lanemask_eq" => S::LanemaskEq,
        "%lanemask_le" => S::LanemaskLe,
        "%lanemask_lt" => S::LanemaskLt,
        "%lanemask_ge" => S::LanemaskGe,
        "%lanemask_gt" => S::LanemaskGt,
        "%clock" => S::Clock,
        "%clock_hi" => S::ClockHi,
        "%clock64" => S::Clock64,
        "%globaltimer" => S::Globaltimer,
        "%globaltimer_lo" => S::GlobaltimerLo,
        "%globaltimer_hi" => S::GlobaltimerHi,
        "%cluster_ctarank" => S::ClusterCtarank,
        "%cluster_nctarank" => S::ClusterNctarank,
        "%current_graph_exec" => S::CurrentGraphExec,
        "%aggr_smem_size" => S::AggrSmemSize,
        "%dynamic_smem_size" => S::DynamicSmemSize,
        "%total_smem_size" => S::TotalSmemSize,
        "%reserved_smem_offset_begin" => S::ReservedSmem(ReservedPlace::Begin),
        "%reserved_smem_offset_end" => S::ReservedSmem(ReservedPlace::End),
        "%reserved_smem_offset_cap" => S::ReservedSmem(ReservedPlace::Cap),
        "%reserved_smem_offset_0" => S::ReservedSmem(ReservedPlace::First),
        "%reserved_smem_offset_1" => S::ReservedSmem(ReservedPlace::Second),
        _ => return numbered(name),
    })
}

/// `%envreg0` to `%envreg31`, `%pm0` to `%pm7` and `%pm0_64` to `%pm7_64`.
fn numbered(name: &str) -> Option<SpecialRegister> {
    if let Some(name) = name.strip_suffix("_64") {
        return match numbered(name) {
            Some(SpecialRegister::Pm(number)) => Some(SpecialRegister::PmWide(number)),
            _ => None,
        };
    }
    let (digits, count, make): (_, u8, fn(u8) -> SpecialRegister) =
        match (name.strip_prefix("%envreg"), name.strip_prefix("%pm")) {
            (Some(digits), _) => (digits, 32, SpecialRegister::Envreg),
            (_, Some(digits)) => (digits, 8, SpecialRegister::Pm),
            _ => return None,
        };
    let canonical = digits == "0" || digits.starts_with(|c: char| matches!(c, '1'..='9'));
    let number = digits.parse::<u8>().ok().filter(|&number| canonical && number < count)?;
    Some(make(number))
}

/// A special register of three components, by name: a function of the axis.
pub(crate) fn vector(name: &str) -> Option<fn(Axis) -> SpecialRegister> {
    Some(match name {
        "%tid" => SpecialRegister::Tid,
        "%ntid" => SpecialRegister::Ntid,
        "%ctaid" => SpecialRegister::Ctaid,
        "%nctaid" => SpecialRegister::Nctaid,
        "%clusterid" => SpecialRegister::Clusterid,
        "%nclusterid" => SpecialRegister::Nclusterid,
        "%cluster_ctaid" => SpecialRegister::ClusterCtaid,
        "%cluster_nctaid" => SpecialRegister::ClusterNctaid,
        _ => return None,
    })
}

/// Special registers of PTX that the model does not have.
pub(crate) const UNSUPPORTED: &[&str] = &["%is_explicit_cluster"];

/// Names to suggest.
pub(crate) const NAMES: &[&str] = &[
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%envreg0",
    "%pm0",
    "%pm0_64",
    "%current_graph_exec",
    "%aggr_smem_size",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%reserved_smem_offset_0",
    "%reserved_smem_offset_1",
];

impl SpecialRegister {
    /// Type of the register.
    pub const fn ty(self) -> ScalarType {
        match self {
            Self::Clock64
            | Self::Globaltimer
            | Self::Gridid
            | Self::PmWide(_)
            | Self::CurrentGraphExec => ScalarType::U64,
            _ => ScalarType::U32,
        }
    }
}

impl std::fmt::Display for SpecialRegister {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letter = |axis| match axis {
            Axis::X => 'x',
            Axis::Y => 'y',
            Axis::Z => 'z',
        };
        let name = match *self {
            Self::Tid(axis) => return write!(f, "%tid.{}", letter(axis)),
            Self::Ntid(axis) => return write!(f, "%ntid.{}", letter(axis)),
            Self::Ctaid(axis) => return write!(f, "%ctaid.{}", letter(axis)),
            Self::Nctaid(axis) => return write!(f, "%nctaid.{}", letter(axis)),
            Self::Clusterid(axis) => return write!(f, "%clusterid.{}", letter(axis)),
            Self::Nclusterid(axis) => return write!(f, "%nclusterid.{}", letter(axis)),
            Self::ClusterCtaid(axis) => return write!(f, "%cluster_ctaid.{}", letter(axis)),
            Self::ClusterNctaid(axis) => return write!(f, "%cluster_nctaid.{}", letter(axis)),
            Self::PmWide(number) => return write!(f, "%pm{number}_64"),
            Self::Envreg(number) => return write!(f, "%envreg{number}"),
            Self::Pm(number) => return write!(f, "%pm{number}"),
            Self::ClusterCtarank => "%cluster_ctarank",
            Self::ClusterNctarank => "%cluster_nctarank",
            Self::CurrentGraphExec => "%current_graph_exec",
            Self::AggrSmemSize => "%aggr_smem_size",
            Self::Laneid => "%laneid",
            Self::Warpid => "%warpid",
            Self::Nwarpid => "%nwarpid",
            Self::Smid => "%smid",
            Self::Nsmid => "%nsmid",
            Self::Gridid => "%gridid",
            Self::LanemaskEq => "%lanemask_eq",
            Self::LanemaskLe => "%lanemask_le",
            Self::LanemaskLt => "%lanemask_lt",
            Self::LanemaskGe => "%lanemask_ge",
            Self::LanemaskGt => "%lanemask_gt",
            Self::Clock => "%clock",
            Self::ClockHi => "%clock_hi",
            Self::Clock64 => "%clock64",
            Self::Globaltimer => "%globaltimer",
            Self::GlobaltimerLo => "%globaltimer_lo",
            Self::GlobaltimerHi => "%globaltimer_hi",
            Self::DynamicSmemSize => "%dynamic_smem_size",
            Self::TotalSmemSize => "%total_smem_size",
            Self::ReservedSmem(ReservedPlace::Begin) => "%reserved_smem_offset_begin",
            Self::ReservedSmem(ReservedPlace::End) => "%reserved_smem_offset_end",
            Self::ReservedSmem(ReservedPlace::Cap) => "%reserved_smem_offset_cap",
            Self::ReservedSmem(ReservedPlace::First) => "%reserved_smem_offset_0",
            Self::ReservedSmem(ReservedPlace::Second) => "%reserved_smem_offset_1",
        };
        f.write_str(name)
    }
}
