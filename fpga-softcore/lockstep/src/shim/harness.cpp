// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What Rust calls of every simulated block. src/harness.rs declares the same functions.

#include "harness.h"

namespace {

// In the order of `blocks!` in src/harness.rs.
const Kind* const KINDS[] = {&access_sequencer,    &main_register_file, &prototype,
                             &register_file_cache, &split_bank_write,   &write_pool};

}  // namespace

// None if the structs are not as large as Rust says.
extern "C" Block* strata_block_new(unsigned kind, unsigned elaboration, const Sizes* sizes) {
  for (unsigned s = 0; s < 4; s++) {
    if (KINDS[kind]->sizes.of[s] != sizes->of[s]) return nullptr;
  }
  return KINDS[kind]->make(elaboration);
}
extern "C" void strata_block_delete(Block* block) { delete block; }
extern "C" void strata_block_reset(Block* block, const void* settings) { block->reset(settings); }
extern "C" void strata_block_clear(Block* block, const void* settings) { block->clear(settings); }
extern "C" size_t strata_block_run(Block* block, const void* inputs, const uint32_t* data_in,
                                   void* outputs, uint32_t* data_out, size_t count) {
  return block->run(inputs, data_in, outputs, data_out, count);
}
extern "C" void strata_block_state(Block* block, void* state) { block->state(state); }
extern "C" void strata_block_counters(Block* block, uint64_t* counters, size_t count) {
  block->counters(counters, count);
}
