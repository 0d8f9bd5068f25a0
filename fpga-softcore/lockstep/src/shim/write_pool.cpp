// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A simulated write pool. src/write_pool.rs declares the same structs.

#include "Vpool_1_1_1.h"
#include "Vpool_2_2_32.h"
#include "Vpool_60_8_4.h"
#include "Vpool_8_8_4.h"
#include "Vpool_synthesised.h"
#include "harness.h"
#include "pool_slot.h"

namespace {

struct Settings {
  uint8_t entries;
};

struct Inputs {
  uint8_t valid, op, warp, go;
  uint16_t number, unused;
  uint32_t lanes;
};

struct Outputs {
  uint8_t accepted, valid, op, outcome, read_bank, write_bank, count, unused;
  uint16_t read_number, write_number;
  uint32_t lanes;
};

template <class Model, unsigned Entries, unsigned Lanes>
struct Pool : Clocked<Pool<Model, Entries, Lanes>, Model, Inputs, Outputs, Lanes> {
  using Pool::Clocked::model;

  void reset(const void* settings) override {
    model.dbg_enable_i = 0;
    model.clear_i = 0;
    model.req_valid_i = 0;
    model.dec_go_i = 1;
    ::reset(model);
    clear(settings);
  }

  void clear(const void* settings) override {
    model.req_valid_i = 0;
    model.dec_go_i = 1;
    model.cfg_entries_i = static_cast<const Settings*>(settings)->entries;
    this->clear_clock();
  }

  void drive(const Inputs& in, const uint32_t* data) {
    model.req_valid_i = in.valid;
    model.req_op_i = in.op;
    model.req_warp_i = in.warp;
    model.req_number_i = in.number;
    model.req_lanes_i = in.lanes;
    model.dec_go_i = in.go;
    for (unsigned l = 0; l < Lanes; l++) set_word(model.req_data_i, l, data[l]);
  }

  void sample(const Inputs& in, Outputs& out, uint32_t*) {
    out.accepted = in.valid && model.req_ready_o;
    out.valid = model.dec_valid_o;
    out.op = model.dec_op_o;
    out.outcome = model.dec_outcome_o;
    out.read_bank = model.dec_read_bank_o;
    out.write_bank = model.dec_write_bank_o;
    out.read_number = model.dec_read_number_o;
    out.write_number = model.dec_write_number_o;
  }

  void settle(Outputs& out, uint32_t* data) {
    out.count = model.out_count_o;
    out.lanes = model.out_lanes_o;
    for (unsigned l = 0; l < Lanes; l++) data[l] = word(model.out_data_o, l);
  }

  void state(void* state) override {
    read_slots(model, Entries, static_cast<PoolSlots*>(state)->slots);
  }
};

Block* make(unsigned elaboration) {
  if (elaboration == 0) return new Pool<Vpool_60_8_4, 60, 4>;
  if (elaboration == 1) return new Pool<Vpool_8_8_4, 8, 4>;
  if (elaboration == 2) return new Pool<Vpool_2_2_32, 2, 32>;
  if (elaboration == 3) return new Pool<Vpool_1_1_1, 1, 1>;
  return new Pool<Vpool_synthesised, 60, 4>;
}

}  // namespace

const Kind write_pool = {make, sizes<Settings, Inputs, Outputs, PoolSlots>()};
