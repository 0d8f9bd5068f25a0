//! Shape: our curves beside those of the papers, and the trends that must hold.

mod active_set_sweep;
mod all_papers;
mod bundles;
mod claims;
mod compiler_managed;
mod cycle;
mod encoding;
mod expars;
mod expars_kernels;
mod expars_variants;
mod figures;
mod groups;
mod hardware_counters;
mod last_result_file;
mod limits;
mod machine_code;
mod model_version;
mod orders;
mod readme;
mod recordings;
mod register_file_cache;
mod reports;
mod residency;
mod suite;
mod unified;
mod warrf;
mod warrf_combinations;
mod whole_operands;

#[path = "../switch.rs"]
mod switch;
