// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Runs a simulated register file cache for a batch of clocks. src/register_file_cache.rs declares the
// same structs.

#include "Vcache_1_1_1.h"
#include "Vcache_2_3_32.h"
#include "Vcache_8_13_4.h"
#include "Vcache_8_6_4.h"
#include "ports.h"

namespace {

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

template <class Model, unsigned Entries, unsigned Lanes> struct Cache {
  VerilatedContext context;
  Model model{&context};

  void reset(uint8_t entries, bool lru, bool liveness) {
    model.cfg_entries_i = entries;
    model.cfg_lru_i = lru;
    model.cfg_liveness_i = liveness;
    model.req_valid_i = 0;
    model.dbg_enable_i = 1;
    model.clk_i = 0;
    for (bool level : {true, false, true}) {
      model.rst_ni = level;
      model.eval();
    }
  }

  void run(const Inputs* in, const uint32_t* data_in, Outputs* out, uint32_t* data_out, size_t n) {
    constexpr unsigned age_bits = Entries > 8 ? 4 : Entries > 4 ? 3 : Entries > 2 ? 2 : 1;
    for (size_t t = 0; t < n; t++, in++, out++, data_in += Lanes, data_out += Lanes) {
      model.req_valid_i = in->valid;
      model.req_op_i = in->op;
      model.req_warp_i = in->warp;
      model.req_register_i = in->reg;
      model.req_lanes_i = in->lanes;
      model.req_last_use_i = in->last_use;
      model.req_more_i = in->more;
      model.rsp_ready_i = in->ready;
      model.dbg_warp_i = in->debug_warp;
      for (unsigned l = 0; l < Lanes; l++) set_word(model.req_data_i, l, data_in[l]);
      model.clk_i = 0;
      model.eval();
      out->accepted = in->valid && model.req_ready_o;
      out->valid = model.rsp_valid_o;
      out->outcome = model.rsp_outcome_o;
      out->last = model.rsp_last_o;
      out->way = model.rsp_way_o;
      out->victim = model.rsp_victim_o;
      out->writeback = model.rsp_writeback_o;
      out->served = model.rsp_served_o;
      out->missing = model.rsp_missing_o;
      out->dropped = model.rsp_dropped_o;
      out->victim_register = model.rsp_victim_register_o;
      out->victim_lanes = model.rsp_victim_lanes_o;
      for (unsigned l = 0; l < Lanes; l++) data_out[l] = word(model.rsp_data_o, l);
      model.clk_i = 1;
      model.eval();
      out->occupied = model.dbg_occupied_o;
      out->dirty = model.dbg_dirty_o;
      for (unsigned e = 0; e < Entries; e++) {
        out->lanes[e] = field(model.dbg_lanes_o, e, Lanes);
        out->registers[e] = field(model.dbg_registers_o, e, 8);
        out->ages[e] = field(model.dbg_ages_o, e, age_bits);
      }
    }
  }
};

}  // namespace

#define CACHE(WARPS, ENTRIES, LANES)                                                               \
  using Cache_##WARPS##_##ENTRIES##_##LANES =                                                      \
      Cache<Vcache_##WARPS##_##ENTRIES##_##LANES, ENTRIES, LANES>;                                 \
  extern "C" void* cache_##WARPS##_##ENTRIES##_##LANES##_new() {                                   \
    return new Cache_##WARPS##_##ENTRIES##_##LANES;                                                \
  }                                                                                                \
  extern "C" void cache_##WARPS##_##ENTRIES##_##LANES##_delete(void* cache) {                      \
    delete static_cast<Cache_##WARPS##_##ENTRIES##_##LANES*>(cache);                               \
  }                                                                                                \
  extern "C" void cache_##WARPS##_##ENTRIES##_##LANES##_reset(void* cache, uint8_t entries,        \
                                                              bool lru, bool liveness) {           \
    static_cast<Cache_##WARPS##_##ENTRIES##_##LANES*>(cache)->reset(entries, lru, liveness);       \
  }                                                                                                \
  extern "C" void cache_##WARPS##_##ENTRIES##_##LANES##_run(                                       \
      void* cache, const Inputs* in, const uint32_t* data_in, Outputs* out, uint32_t* data_out,    \
      size_t clocks) {                                                                             \
    static_cast<Cache_##WARPS##_##ENTRIES##_##LANES*>(cache)->run(in, data_in, out, data_out,      \
                                                                  clocks);                         \
  }

CACHE(8, 13, 4)
CACHE(8, 6, 4)
CACHE(2, 3, 32)
CACHE(1, 1, 1)
