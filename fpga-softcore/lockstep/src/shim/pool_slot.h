// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Entries of a write pool as the debug port shows them. src/pool_slot.rs declares the same structs.

#pragma once

#include <cstdint>

namespace {

struct PoolSlot {
  uint8_t occupied, warp;
  uint16_t number;
  uint32_t lanes;
  uint64_t newer;
};

struct PoolSlots {
  PoolSlot slots[64];
};

// Reads all entries while the clock stands.
template <class Model> void read_slots(Model& model, unsigned entries, PoolSlot* slots) {
  model.dbg_enable_i = 1;
  for (unsigned e = 0; e < entries; e++) {
    model.dbg_entry_i = e;
    model.eval();
    slots[e] = {model.dbg_occupied_o, model.dbg_warp_o, model.dbg_number_o,
                uint32_t(model.dbg_lanes_o), uint64_t(model.dbg_newer_o)};
  }
  model.dbg_enable_i = 0;
}

}  // namespace
