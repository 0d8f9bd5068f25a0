// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A simulated main register file. src/main_register_file.rs declares the same structs.

#include "Vmain_4_2_32.h"
#include "Vmain_8_60_4.h"
#include "Vmain_8_8_4.h"
#include "harness.h"
#include "pool_slot.h"

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

struct State {
  PoolSlots pool;
  struct {
    uint8_t write_busy, written;
  } banks[16];
};

template <class Model, unsigned Entries, unsigned Lanes>
struct Main : Clocked<Main<Model, Entries, Lanes>, Model, Inputs, Outputs, Lanes> {
  using Main::Clocked::model;

  void reset(const void* settings) override {
    model.dbg_enable_i = 0;
    model.clear_i = 0;
    model.req_valid_i = 0;
    ::reset(model);
    clear(settings);
  }

  void clear(const void* settings) override {
    auto& to = *static_cast<const Settings*>(settings);
    model.req_valid_i = 0;
    model.cfg_pool_entries_i = to.pool_entries;
    model.cfg_split_i = to.split;
    model.cfg_write_cycles_i = to.write_cycles;
    model.cfg_registers_i = to.registers;
    this->clear_clock();
  }

  void drive(const Inputs& in, const uint32_t* data) {
    model.req_valid_i = in.valid;
    model.req_op_i = in.op;
    model.req_warp_i = in.warp;
    model.req_register_i = in.reg;
    model.req_lanes_i = in.lanes;
    model.req_tag_i = in.tag;
    for (unsigned l = 0; l < Lanes; l++) set_word(model.req_data_i, l, data[l]);
  }

  void sample(const Inputs& in, Outputs& out, uint32_t* data) {
    out.accepted = in.valid && model.req_ready_o;
    out.valid = model.rsp_valid_o;
    out.op = model.rsp_op_o;
    out.outcome = model.rsp_outcome_o;
    out.count = model.rsp_count_o;
    out.beside_write = model.rsp_beside_write_o;
    out.waited = model.rsp_waited_o;
    out.tag = model.rsp_tag_o;
    for (unsigned l = 0; l < Lanes; l++) data[l] = word(model.rsp_data_o, l);
  }

  void state(void* to) override {
    auto& state = *static_cast<State*>(to);
    read_slots(model, Entries, state.pool.slots);
    for (unsigned b = 0; b < 16; b++) {
      model.dbg_bank_i = b;
      model.eval();
      state.banks[b] = {model.dbg_write_busy_o, model.dbg_written_o};
    }
  }
};

Block* make(unsigned elaboration) {
  if (elaboration == 0) return new Main<Vmain_8_60_4, 60, 4>;
  if (elaboration == 1) return new Main<Vmain_8_8_4, 8, 4>;
  return new Main<Vmain_4_2_32, 2, 32>;
}

}  // namespace

const Kind main_register_file = {make, sizes<Settings, Inputs, Outputs, State>()};
