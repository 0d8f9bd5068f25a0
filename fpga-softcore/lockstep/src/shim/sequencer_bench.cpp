// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A simulated access sequencer, which is given batches. src/access_sequencer.rs declares the same
// structs.

#include "Vsequencer_3_1_1_2.h"
#include "Vsequencer_3_1_1_2___024root.h"
#include "Vsequencer_4_3_5_32.h"
#include "Vsequencer_4_3_5_32___024root.h"
#include "Vsequencer_8_13_60_4.h"
#include "Vsequencer_8_13_60_4___024root.h"
#include "Vsequencer_8_6_24_4.h"
#include "Vsequencer_8_6_24_4___024root.h"
#include "harness.h"
#include "pool_slot.h"

namespace {

struct Settings {
  uint32_t word;
};

// The word of the bus, whose lanes do not count, and the lanes.
struct Command {
  uint32_t word, lanes;
};

struct Outcome {
  uint32_t word, clock;
};

struct Cache {
  uint16_t occupied, dirty;
  uint8_t ages[16];
  uint16_t registers[16];
  uint32_t lanes[16];
};

struct State {
  Cache caches[8];
  PoolSlots pool;
};

template <class Model, unsigned Warps, unsigned Entries, unsigned Pool, unsigned Lanes>
struct Sequencer : Block {
  VerilatedContext context;
  Model model{&context};

  void reset(const void* settings) override {
    model.feed_valid_i = 0;
    model.dbg_enable_i = 0;
    model.clear_i = 0;
    model.count_clear_i = 0;
    model.cfg_i = static_cast<const Settings*>(settings)->word;
    ::reset(model);
    model.clear_i = 1;
    // Two clocks for the settings to arrive, and one for `clear_i` to have gone.
    tick(model);
    tick(model);
    model.clear_i = 0;
    tick(model);
  }

  // Runs a batch back to back, and then until all banks are idle. Stops after so many clocks that
  // something has to be wrong.
  size_t run(const void* inputs, const uint32_t* data_in, void* outputs, uint32_t* data_out,
             size_t count) override {
    auto commands = static_cast<const Command*>(inputs);
    auto outcomes = static_cast<Outcome*>(outputs);
    size_t fed = 0, got = 0;
    const uint64_t limit = 64 + count * 16 * (Entries + 1);
    // The first command stands at the sequencer, where clocks are counted from, at clock 1.
    for (uint64_t clock = 0; got < count && clock < limit; clock++) {
      if (model.out_valid_o) {
        outcomes[got] = {model.out_outcome_o, uint32_t(clock - 1)};
        for (unsigned l = 0; l < Lanes; l++) data_out[l] = word(model.out_data_o, l);
        data_out += Lanes;
        got++;
      }
      const bool ready = model.feed_ready_o;
      model.feed_valid_i = fed < count;
      if (ready && fed < count) {
        model.feed_word_i = commands[fed].word;
        model.feed_lanes_i = commands[fed].lanes;
        for (unsigned l = 0; l < Lanes; l++) set_word(model.feed_data_i, l, data_in[l]);
        data_in += Lanes;
        fed++;
      }
      tick(model);
    }
    // Until every bank is idle, and every event counted.
    model.feed_valid_i = 0;
    for (unsigned clock = 0; clock < 16; clock++) tick(model);
    return got;
  }

  void state(void* to) override {
    constexpr unsigned age_bits = Entries > 8 ? 4 : Entries > 4 ? 3 : Entries > 2 ? 2 : 1;
    auto& state = *static_cast<State*>(to);
    model.dbg_enable_i = 1;
    for (unsigned w = 0; w < Warps; w++) {
      model.dbg_warp_i = w;
      model.eval();
      Cache& cache = state.caches[w];
      cache.occupied = model.dbg_cache_occupied_o;
      cache.dirty = model.dbg_cache_dirty_o;
      for (unsigned e = 0; e < Entries; e++) {
        cache.ages[e] = field(model.dbg_cache_ages_o, e, age_bits);
        cache.registers[e] = field(model.dbg_cache_registers_o, e, 8);
        cache.lanes[e] = field(model.dbg_cache_lanes_o, e, Lanes);
      }
    }
    read_slots(model, Pool, state.pool.slots);
  }

  void counters(uint64_t* counters, size_t count) override {
    for (size_t c = 0; c < count; c++) {
      model.count_select_i = c;
      tick(model);
      tick(model);
      counters[c] = model.count_o;
    }
  }
};

Block* make(unsigned elaboration) {
  if (elaboration == 0) return new Sequencer<Vsequencer_8_13_60_4, 8, 13, 60, 4>;
  if (elaboration == 1) return new Sequencer<Vsequencer_8_6_24_4, 8, 6, 24, 4>;
  if (elaboration == 2) return new Sequencer<Vsequencer_3_1_1_2, 3, 1, 1, 2>;
  return new Sequencer<Vsequencer_4_3_5_32, 4, 3, 5, 32>;
}

}  // namespace

const Kind access_sequencer = {make, sizes<Settings, Command, Outcome, State>()};
