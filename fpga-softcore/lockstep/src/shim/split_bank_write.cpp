// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A simulated split bank write. src/split_bank_write.rs declares the same structs.

#include "Vsplit_16.h"
#include "Vsplit_2.h"
#include "harness.h"

namespace {

struct Settings {
  uint8_t read_cycles, write_cycles, split;
};

struct Inputs {
  uint8_t clear, read_bank, read_subarray, write_bank, write_subarray, start, debug_bank, unused;
};

struct Outputs {
  uint8_t can_read, beside, can_write, unused, read_busy, read, write_busy, written;
};

template <class Model> struct Split : Clocked<Split<Model>, Model, Inputs, Outputs, 0> {
  using Split::Clocked::model;

  void reset(const void* settings) override {
    auto& to = *static_cast<const Settings*>(settings);
    model.cfg_split_i = to.split;
    model.cfg_read_cycles_i = to.read_cycles;
    model.cfg_write_cycles_i = to.write_cycles;
    model.clear_i = model.rd_start_i = model.wr_start_i = 0;
    ::reset(model);
  }

  void drive(const Inputs& in, const uint32_t*) {
    model.clear_i = in.clear;
    model.rd_bank_i = in.read_bank;
    model.rd_subarray_i = in.read_subarray;
    model.wr_bank_i = in.write_bank;
    model.wr_subarray_i = in.write_subarray;
    model.dbg_bank_i = in.debug_bank;
    model.rd_start_i = in.start & 1;
    model.wr_start_i = in.start >> 1;
  }

  void sample(const Inputs&, Outputs& out, uint32_t*) {
    out.can_read = model.rd_can_o;
    out.beside = model.rd_beside_o;
    out.can_write = model.wr_can_o;
  }

  void settle(Outputs& out, uint32_t*) {
    out.read_busy = model.dbg_read_busy_o;
    out.read = model.dbg_read_o;
    out.write_busy = model.dbg_write_busy_o;
    out.written = model.dbg_written_o;
  }
};

Block* make(unsigned elaboration) {
  if (elaboration == 0) return new Split<Vsplit_16>;
  return new Split<Vsplit_2>;
}

}  // namespace

const Kind split_bank_write = {make, sizes<Settings, Inputs, Outputs>()};
