//! Designs: a machine plus an organisation of its registers and scheduling, by name or from a file.

#![forbid(unsafe_code)]

mod argument;
mod axes;
mod baseline;
mod changes;
mod checks;
mod collectors;
pub mod cost;
mod data_cache;
mod delivery;
mod design;
mod embedded;
pub mod encoding;
pub mod file;
pub mod import;
pub mod interpolation;
mod keys;
mod level_keys;
pub mod machine;
pub mod managed;
pub mod memory;
pub mod name;
mod parameters;
mod parts;
pub mod pool_ports;
mod price;
mod registry;
mod second_level;
mod sm;
pub mod storage;
pub mod storage_technology;
pub mod technology;
mod technology_file;
mod values;

pub use argument::{is_file, is_toml, pieces};
pub use delivery::PoolReadEnergy;
pub use design::Design;
pub use interpolation::MissingEnergy;
pub use machine::{Machine, NoEnergy, machines};
pub use managed::Managed;
pub use memory::MainMemory;
pub use registry::{list, resolve};
pub use storage::Storage;
pub use storage_technology::StorageTechnology;
pub use values::{Value, ValueKind, parameter_keys};

#[cfg(test)]
mod tests;
