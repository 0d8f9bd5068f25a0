// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One face for all simulated blocks. src/harness.rs declares the functions that Rust calls; the
// structs behind the pointers are those of the block's shim and of its module in Rust.

#pragma once

#include "ports.h"

// A simulated block.
struct Block {
  virtual ~Block() = default;
  virtual void reset(const void* settings) = 0;
  // Takes settings over without a reset, where the block can.
  virtual void clear(const void*) {}
  // Goes through so many inputs, with the data of each, and returns how many outputs there are.
  virtual size_t run(const void* inputs, const uint32_t* data_in, void* outputs,
                     uint32_t* data_out, size_t count) = 0;
  virtual void state(void*) {}
  virtual void counters(uint64_t*, size_t) {}
};

// Settings, inputs, outputs and state: the size of each struct, 0 without one.
struct Sizes {
  size_t of[4];
};

template <class T> constexpr size_t size_of() { return sizeof(T); }
template <> constexpr size_t size_of<void>() { return 0; }

template <class Settings, class Inputs, class Outputs, class State = void>
constexpr Sizes sizes() {
  return {{size_of<Settings>(), size_of<Inputs>(), size_of<Outputs>(), size_of<State>()}};
}

// How a block is made, by the place of the elaboration in its list.
struct Kind {
  Block* (*make)(unsigned elaboration);
  Sizes sizes;
};

// One for each shim.
extern const Kind access_sequencer, main_register_file, prototype, register_file_cache,
    split_bank_write, write_pool;

// A model that goes through a clock for each input. `Shim` has `drive` for the inputs, `sample` for
// the outputs before the clock's rising edge, and `settle` for those behind it.
template <class Shim, class Model, class Inputs, class Outputs, unsigned Lanes>
struct Clocked : Block {
  VerilatedContext context;
  Model model{&context};

  size_t run(const void* inputs, const uint32_t* data_in, void* outputs, uint32_t* data_out,
             size_t clocks) override {
    auto in = static_cast<const Inputs*>(inputs);
    auto out = static_cast<Outputs*>(outputs);
    auto shim = static_cast<Shim*>(this);
    for (size_t t = 0; t < clocks; t++, in++, out++, data_in += Lanes, data_out += Lanes) {
      shim->drive(*in, data_in);
      fall(model);
      shim->sample(*in, *out, data_out);
      rise(model);
      shim->settle(*out, data_out);
    }
    return clocks;
  }

  void settle(Outputs&, uint32_t*) {}

  // A clock with `clear_i`.
  void clear_clock() {
    model.clear_i = 1;
    fall(model);
    rise(model);
    model.clear_i = 0;
  }
};
