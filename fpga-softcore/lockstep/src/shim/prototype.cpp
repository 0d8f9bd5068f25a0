// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A simulated prototype, which is asked over its bus. src/prototype.rs declares the same structs.

#include "Vprototype_8_6_24_4.h"
#include "harness.h"

namespace {

struct Access {
  uint32_t write, address, value;
  // Clocks without an access before it.
  uint32_t pause;
};

struct Answer {
  uint32_t value;
  // Clocks that the answer took, 0 for none in a long time.
  uint32_t clocks;
};

struct Prototype : Block {
  VerilatedContext context;
  Vprototype_8_6_24_4 model{&context};

  void reset(const void*) override {
    model.bus_valid_i = 0;
    ::reset(model);
  }

  size_t run(const void* inputs, const uint32_t*, void* outputs, uint32_t*,
             size_t count) override {
    for (size_t i = 0; i < count; i++) {
      static_cast<Answer*>(outputs)[i] = access(static_cast<const Access*>(inputs)[i]);
    }
    return count;
  }

  Answer access(const Access& access) {
    for (uint32_t clock = 0; clock < access.pause; clock++) {
      fall(model);
      rise(model);
    }
    model.bus_valid_i = 1;
    model.bus_write_i = access.write;
    model.bus_address_i = access.address;
    model.bus_wdata_i = access.value;
    for (uint32_t clocks = 1; clocks < 1000; clocks++) {
      fall(model);
      const Answer answer = {model.bus_rdata_o, clocks};
      const bool ready = model.bus_ready_o;
      rise(model);
      if (ready) {
        model.bus_valid_i = 0;
        return answer;
      }
    }
    return {0, 0};
  }
};

Block* make(unsigned) { return new Prototype; }

}  // namespace

const Kind prototype = {make, sizes<void, Access, Answer>()};
