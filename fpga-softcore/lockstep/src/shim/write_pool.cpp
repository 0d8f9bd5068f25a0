// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Runs a simulated write pool for a batch of clocks. src/write_pool.rs declares the same structs.

#include "Vpool_1_1_1.h"
#include "Vpool_2_2_32.h"
#include "Vpool_60_8_4.h"
#include "Vpool_8_8_4.h"
#include "Vpool_synthesised.h"
#include "pool_slot.h"
#include "ports.h"

namespace {

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

struct Pool {
  virtual ~Pool() = default;
  virtual void reset(uint8_t entries) = 0;
  virtual void clear(uint8_t entries) = 0;
  virtual void run(const Inputs* in, const uint32_t* data_in, Outputs* out, uint32_t* data_out,
                   size_t clocks) = 0;
  virtual void state(PoolSlot* slots) = 0;
};

template <class Model, unsigned Entries, unsigned Lanes> struct PoolOf : Pool {
  VerilatedContext context;
  Model model{&context};

  void reset(uint8_t entries) override {
    model.dbg_enable_i = 0;
    model.clear_i = 0;
    model.req_valid_i = 0;
    model.dec_go_i = 1;
    ::reset(model);
    clear(entries);
  }

  void clear(uint8_t entries) override {
    model.req_valid_i = 0;
    model.dec_go_i = 1;
    model.cfg_entries_i = entries;
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
      model.req_number_i = in->number;
      model.req_lanes_i = in->lanes;
      model.dec_go_i = in->go;
      for (unsigned l = 0; l < Lanes; l++) set_word(model.req_data_i, l, data_in[l]);
      fall(model);
      out->accepted = in->valid && model.req_ready_o;
      out->valid = model.dec_valid_o;
      out->op = model.dec_op_o;
      out->outcome = model.dec_outcome_o;
      out->read_bank = model.dec_read_bank_o;
      out->write_bank = model.dec_write_bank_o;
      out->read_number = model.dec_read_number_o;
      out->write_number = model.dec_write_number_o;
      rise(model);
      out->count = model.out_count_o;
      out->lanes = model.out_lanes_o;
      for (unsigned l = 0; l < Lanes; l++) data_out[l] = word(model.out_data_o, l);
    }
  }

  void state(PoolSlot* slots) override { read_slots(model, Entries, slots); }
};

}  // namespace

extern "C" Pool* strata_pool_new(unsigned elaboration) {
  if (elaboration == 0) return new PoolOf<Vpool_60_8_4, 60, 4>;
  if (elaboration == 1) return new PoolOf<Vpool_8_8_4, 8, 4>;
  if (elaboration == 2) return new PoolOf<Vpool_2_2_32, 2, 32>;
  if (elaboration == 3) return new PoolOf<Vpool_1_1_1, 1, 1>;
  return new PoolOf<Vpool_synthesised, 60, 4>;
}
extern "C" void strata_pool_delete(Pool* pool) { delete pool; }
extern "C" void strata_pool_reset(Pool* pool, uint8_t entries) { pool->reset(entries); }
extern "C" void strata_pool_clear(Pool* pool, uint8_t entries) { pool->clear(entries); }
extern "C" void strata_pool_run(Pool* pool, const Inputs* in, const uint32_t* data_in, Outputs* out,
                                uint32_t* data_out, size_t clocks) {
  pool->run(in, data_in, out, data_out, clocks);
}
extern "C" void strata_pool_state(Pool* pool, PoolSlot* slots) { pool->state(slots); }
