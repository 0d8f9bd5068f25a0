//! Parameters of kernels and the arguments that a launch file gives them.

use strata_ptx::diagnostic::counted;
use strata_ptx::module::Variable;
use strata_ptx::types::{Kind, ScalarType};

use super::plan::ArgumentTemplate;

/// Whether a kernel parameter takes an argument; otherwise what both are, in words.
pub(super) fn accepts(
    parameter: &Variable,
    argument: &ArgumentTemplate,
    address_bits: u8,
) -> Result<(), (String, String)> {
    let ty = parameter.ty;
    let scalar = parameter.dimensions.is_empty() && parameter.vector == 1;
    let kind = match argument {
        ArgumentTemplate::Buffer { .. } => {
            let wide = ty.bits() == u32::from(address_bits);
            let fits =
                scalar && wide && matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed);
            return if fits { Ok(()) } else { Err((described(parameter), "a buffer".to_owned())) };
        }
        ArgumentTemplate::Object(_) => {
            let fits =
                scalar && ty.bits() == 64 && matches!(ty.kind(), Kind::Bits | Kind::Unsigned);
            let found = || "the handle of a texture, surface or sampler".to_owned();
            return if fits { Ok(()) } else { Err((described(parameter), found())) };
        }
        ArgumentTemplate::Structure { .. } | ArgumentTemplate::Bytes(_) => {
            let (size, _) = argument.layout(address_bits);
            let fits = !scalar && size == parameter.size;
            let found = || format!("a structure of {}", counted(size, "byte"));
            return if fits { Ok(()) } else { Err((described(parameter), found())) };
        }
        ArgumentTemplate::Integer { kind, .. }
        | ArgumentTemplate::Real { kind, .. }
        | ArgumentTemplate::RealFormula { kind, .. } => *kind,
    };
    let same_class = match ty.kind() {
        Kind::Bits => true,
        Kind::Unsigned | Kind::Signed => !kind.is_float(),
        Kind::Float => kind.is_float(),
        Kind::Predicate | Kind::Opaque => false,
    };
    if scalar && same_class && u64::from(ty.bytes()) == kind.bytes() {
        Ok(())
    } else {
        Err((described(parameter), kind.name().to_owned()))
    }
}

/// A parameter's type, in PTX's spelling.
pub fn described(parameter: &Variable) -> String {
    let ty: ScalarType = parameter.ty;
    if parameter.dimensions.is_empty() && parameter.vector == 1 {
        format!(".{}", ty.name())
    } else {
        format!("an aggregate of {}", counted(parameter.size, "byte"))
    }
}
