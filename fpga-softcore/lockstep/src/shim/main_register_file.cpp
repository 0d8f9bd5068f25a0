// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Runs a simulated main register file for a batch of clocks. src/main_register_file.rs declares the
// same structs.

#include "Vmain_4_2_32.h"
#include "Vmain_8_60_4.h"
#include "Vmain_8_8_4.h"
#include "pool_slot.h"
#include "ports.h"

namespace {

struct Settings {
  uint8_t pool_entries, split, write_cycles, registers;
};

struct Inputs {
  uint8_t valid, op, warp, tag;
  uint32_t reg, lanes;
};

struct Outputs {
  uint8_t accepted, valid, op, outcome, count, beside_write, waited, tag;
};

struct Bank {
  uint8_t write_busy, written;
};

struct Main {
  virtual ~Main() = default;
  virtual void reset(Settings settings) = 0;
  virtual void clear(Settings settings) = 0;
  virtual void run(const Inputs* in, const uint32_t* data_in, Outputs* out, uint32_t* data_out,
                   size_t clocks) = 0;
  virtual void state(PoolSlot* slots, Bank* banks) = 0;
};

template <class Model, unsigned Entries, unsigned Lanes> struct MainOf : Main {
  VerilatedContext context;
  Model model{&context};

  void reset(Settings settings) override {
    model.dbg_enable_i = 0;
    model.clear_i = 0;
    model.req_valid_i = 0;
    ::reset(model);
    clear(settings);
  }

  void clear(Settings settings) override {
    model.req_valid_i = 0;
    model.cfg_pool_entries_i = settings.pool_entries;
    model.cfg_split_i = settings.split;
    model.cfg_write_cycles_i = settings.write_cycles;
    model.cfg_registers_i = settings.registers;
    model.clear_i = 1;
    fall(model);
    rise(model);
    model.clear_i = 0;
  }

  void run(const Inputs* in, const uint32_t* data_in, Outputs* out, uint32_t* data_out,
           size_t clocks) override {
    for (size_t t = 0; t < clocks; t++, in++, out++, data_in += Lanes, data_out += Lanes) {
      model.req_valid_i = in->valid;
      model.req_op_i = in->op;
      model.req_warp_i = in->warp;
      model.req_register_i = in->reg;
      model.req_lanes_i = in->lanes;
      model.req_tag_i = in->tag;
      for (unsigned l = 0; l < Lanes; l++) set_word(model.req_data_i, l, data_in[l]);
      fall(model);
      out->accepted = in->valid && model.req_ready_o;
      out->valid = model.rsp_valid_o;
      out->op = model.rsp_op_o;
      out->outcome = model.rsp_outcome_o;
      out->count = model.rsp_count_o;
      out->beside_write = model.rsp_beside_write_o;
      out->waited = model.rsp_waited_o;
      out->tag = model.rsp_tag_o;
      for (unsigned l = 0; l < Lanes; l++) data_out[l] = word(model.rsp_data_o, l);
      rise(model);
    }
  }

  void state(PoolSlot* slots, Bank* banks) override {
    read_slots(model, Entries, slots);
    for (unsigned b = 0; b < 16; b++) {
      model.dbg_bank_i = b;
      model.eval();
      banks[b] = {model.dbg_write_busy_o, model.dbg_written_o};
    }
  }
};

}  // namespace

extern "C" Main* strata_main_new(unsigned elaboration) {
  if (elaboration == 0) return new MainOf<Vmain_8_60_4, 60, 4>;
  if (elaboration == 1) return new MainOf<Vmain_8_8_4, 8, 4>;
  return new MainOf<Vmain_4_2_32, 2, 32>;
}
extern "C" void strata_main_delete(Main* main) { delete main; }
extern "C" void strata_main_reset(Main* main, Settings settings) { main->reset(settings); }
extern "C" void strata_main_clear(Main* main, Settings settings) { main->clear(settings); }
extern "C" void strata_main_run(Main* main, const Inputs* in, const uint32_t* data_in, Outputs* out,
                                uint32_t* data_out, size_t clocks) {
  main->run(in, data_in, out, data_out, clocks);
}
extern "C" void strata_main_state(Main* main, PoolSlot* slots, Bank* banks) {
  main->state(slots, banks);
}
