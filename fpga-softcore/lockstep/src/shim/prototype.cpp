// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Makes accesses of a simulated prototype's bus.

#include "Vprototype_8_6_24_4.h"
#include "ports.h"

namespace {

struct Prototype {
  VerilatedContext context;
  Vprototype_8_6_24_4 model{&context};

  Prototype() {
    model.bus_valid_i = 0;
    ::reset(model);
  }

  void tick() {
    fall(model);
    rise(model);
  }

  // Clocks that the answer took, 0 for none in a long time.
  uint32_t access(bool write, uint32_t address, uint32_t value, uint32_t* answer) {
    model.bus_valid_i = 1;
    model.bus_write_i = write;
    model.bus_address_i = address;
    model.bus_wdata_i = value;
    for (uint32_t clocks = 1; clocks < 1000; clocks++) {
      fall(model);
      const bool ready = model.bus_ready_o;
      *answer = model.bus_rdata_o;
      rise(model);
      if (ready) {
        model.bus_valid_i = 0;
        return clocks;
      }
    }
    return 0;
  }
};

}  // namespace

extern "C" Prototype* strata_prototype_new() { return new Prototype; }
extern "C" void strata_prototype_delete(Prototype* prototype) { delete prototype; }
extern "C" void strata_prototype_wait(Prototype* prototype, uint32_t clocks) {
  for (uint32_t clock = 0; clock < clocks; clock++) prototype->tick();
}
extern "C" uint32_t strata_prototype_access(Prototype* prototype, bool write, uint32_t address,
                                            uint32_t value, uint32_t* answer) {
  return prototype->access(write, address, value, answer);
}
