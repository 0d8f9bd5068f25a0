//! Shape: our curves beside those of the papers, and the trends that must hold.

mod cycle;
mod recordings;
mod register_file_cache;
