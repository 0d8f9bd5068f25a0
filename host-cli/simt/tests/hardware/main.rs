//! Every instruction between registers, bit for bit against a GPU.
//!
//! Each instruction that the tables of the parser allow is a kernel of its own: every thread loads
//! its operands, executes it once and stores what it made. `gpu.txt` has a digest of what a GPU
//! made of the same inputs. To remake it: `STRATA_HARDWARE_CASES=FOLDER cargo test -p strata-simt
//! --test hardware` writes the kernels, `capture.py` runs them on a machine with a GPU, and the same
//! command with `STRATA_HARDWARE_RESULTS=FOLDER` makes the file of what it brought.

mod cases;
mod compare;
mod inputs;
mod known;
mod memory;
mod page;
mod textures;
