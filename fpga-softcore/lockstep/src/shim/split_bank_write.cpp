// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Runs a simulated split bank write for a batch of clocks. src/split_bank_write.rs declares the same
// structs.

#include "Vsplit_16.h"
#include "Vsplit_2.h"
#include "ports.h"

namespace {

struct Inputs {
  uint8_t clear, read_bank, read_subarray, write_bank, write_subarray, start, debug_bank, unused;
};

struct Outputs {
  uint8_t can_read, beside, can_write, unused, read_busy, read, write_busy, written;
};

struct Split {
  virtual ~Split() = default;
  virtual void reset(uint8_t read_cycles, uint8_t write_cycles, bool split) = 0;
  virtual void run(const Inputs* in, Outputs* out, size_t clocks) = 0;
};

template <class Model> struct SplitOf : Split {
  VerilatedContext context;
  Model model{&context};

  void reset(uint8_t read_cycles, uint8_t write_cycles, bool split) override {
    model.cfg_split_i = split;
    model.cfg_read_cycles_i = read_cycles;
    model.cfg_write_cycles_i = write_cycles;
    model.clear_i = model.rd_start_i = model.wr_start_i = 0;
    ::reset(model);
  }

  void run(const Inputs* in, Outputs* out, size_t clocks) override {
    for (size_t t = 0; t < clocks; t++, in++, out++) {
      model.clear_i = in->clear;
      model.rd_bank_i = in->read_bank;
      model.rd_subarray_i = in->read_subarray;
      model.wr_bank_i = in->write_bank;
      model.wr_subarray_i = in->write_subarray;
      model.dbg_bank_i = in->debug_bank;
      model.rd_start_i = in->start & 1;
      model.wr_start_i = in->start >> 1;
      fall(model);
      out->can_read = model.rd_can_o;
      out->beside = model.rd_beside_o;
      out->can_write = model.wr_can_o;
      rise(model);
      out->read_busy = model.dbg_read_busy_o;
      out->read = model.dbg_read_o;
      out->write_busy = model.dbg_write_busy_o;
      out->written = model.dbg_written_o;
    }
  }
};

}  // namespace

extern "C" Split* strata_split_new(unsigned elaboration) {
  if (elaboration == 0) return new SplitOf<Vsplit_16>;
  return new SplitOf<Vsplit_2>;
}
extern "C" void strata_split_delete(Split* split) { delete split; }
extern "C" void strata_split_reset(Split* split, uint8_t read_cycles, uint8_t write_cycles,
                                   bool is_split) {
  split->reset(read_cycles, write_cycles, is_split);
}
extern "C" void strata_split_run(Split* split, const Inputs* in, Outputs* out, size_t clocks) {
  split->run(in, out, clocks);
}
