// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A simulated register file cache. src/register_file_cache.rs declares the same structs.

#include "Vcache_1_1_1.h"
#include "Vcache_2_3_32.h"
#include "Vcache_8_13_4.h"
#include "Vcache_8_6_4.h"
#include "harness.h"

namespace {

struct Settings {
  uint8_t entries, lru, liveness;
};

struct Inputs {
  uint8_t valid, op, warp, last_use, more, ready, debug_warp, unused;
  uint32_t reg, lanes;
};

struct Outputs {
  uint8_t accepted, valid, outcome, last, way, victim, writeback, unused;
  uint32_t served, missing, dropped, victim_register, victim_lanes, occupied, dirty;
  uint32_t lanes[16];
  uint16_t registers[16];
  uint8_t ages[16];
};

template <class Model, unsigned Entries, unsigned Lanes>
struct Cache : Clocked<Cache<Model, Entries, Lanes>, Model, Inputs, Outputs, Lanes> {
  using Cache::Clocked::model;

  void reset(const void* settings) override {
    auto& to = *static_cast<const Settings*>(settings);
    model.cfg_entries_i = to.entries;
    model.cfg_lru_i = to.lru;
    model.cfg_liveness_i = to.liveness;
    model.req_valid_i = 0;
    model.dbg_enable_i = 1;
    ::reset(model);
  }

  void drive(const Inputs& in, const uint32_t* data) {
    model.req_valid_i = in.valid;
    model.req_op_i = in.op;
    model.req_warp_i = in.warp;
    model.req_register_i = in.reg;
    model.req_lanes_i = in.lanes;
    model.req_last_use_i = in.last_use;
    model.req_more_i = in.more;
    model.rsp_ready_i = in.ready;
    model.dbg_warp_i = in.debug_warp;
    for (unsigned l = 0; l < Lanes; l++) set_word(model.req_data_i, l, data[l]);
  }

  void sample(const Inputs& in, Outputs& out, uint32_t* data) {
    out.accepted = in.valid && model.req_ready_o;
    out.valid = model.rsp_valid_o;
    out.outcome = model.rsp_outcome_o;
    out.last = model.rsp_last_o;
    out.way = model.rsp_way_o;
    out.victim = model.rsp_victim_o;
    out.writeback = model.rsp_writeback_o;
    out.served = model.rsp_served_o;
    out.missing = model.rsp_missing_o;
    out.dropped = model.rsp_dropped_o;
    out.victim_register = model.rsp_victim_register_o;
    out.victim_lanes = model.rsp_victim_lanes_o;
    for (unsigned l = 0; l < Lanes; l++) data[l] = word(model.rsp_data_o, l);
  }

  void settle(Outputs& out, uint32_t*) {
    constexpr unsigned age_bits = Entries > 8 ? 4 : Entries > 4 ? 3 : Entries > 2 ? 2 : 1;
    out.occupied = model.dbg_occupied_o;
    out.dirty = model.dbg_dirty_o;
    for (unsigned e = 0; e < Entries; e++) {
      out.lanes[e] = field(model.dbg_lanes_o, e, Lanes);
      out.registers[e] = field(model.dbg_registers_o, e, 8);
      out.ages[e] = field(model.dbg_ages_o, e, age_bits);
    }
  }
};

Block* make(unsigned elaboration) {
  if (elaboration == 0) return new Cache<Vcache_8_13_4, 13, 4>;
  if (elaboration == 1) return new Cache<Vcache_8_6_4, 6, 4>;
  if (elaboration == 2) return new Cache<Vcache_2_3_32, 3, 32>;
  return new Cache<Vcache_1_1_1, 1, 1>;
}

}  // namespace

const Kind register_file_cache = {make, sizes<Settings, Inputs, Outputs>()};
