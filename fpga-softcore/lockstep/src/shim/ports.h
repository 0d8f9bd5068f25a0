// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Access to the ports of Verilator's models, whatever their width.

#pragma once

#include <cstddef>
#include <cstdint>

#include "verilated.h"

namespace {

// Ports are integers of up to 64 bits, or arrays of words.
template <class T> uint32_t word(const T& port, unsigned i) { return uint64_t(port) >> 32 * i; }
template <std::size_t N> uint32_t word(const VlWide<N>& port, unsigned i) {
  return i < N ? port[i] : 0;
}
template <class T> void set_word(T& port, unsigned i, uint32_t value) {
  port = (uint64_t(port) & ~(uint64_t(UINT32_MAX) << 32 * i)) | uint64_t(value) << 32 * i;
}
template <std::size_t N> void set_word(VlWide<N>& port, unsigned i, uint32_t value) {
  port[i] = value;
}

template <class T> uint32_t field(const T& port, unsigned index, unsigned width) {
  const unsigned first = index * width, shift = first % 32;
  uint64_t bits = word(port, first / 32);
  if (shift + width > 32) bits |= uint64_t(word(port, first / 32 + 1)) << 32;
  return (bits >> shift) & ((uint64_t(1) << width) - 1);
}

// Sets one clock level after the other: a rising edge of the clock ends the clock.
template <class Model> void fall(Model& model) {
  model.clk_i = 0;
  model.eval();
}
template <class Model> void rise(Model& model) {
  model.clk_i = 1;
  model.eval();
}

// Makes the model believe that the clock is low, where this version of Verilator keeps the clock's
// last level under a name that is known here.
template <class Model>
auto forget_clock(Model& model, int) -> decltype(model.rootp->__Vtrigrprev__TOP__clk_i, bool()) {
  model.rootp->__Vtrigrprev__TOP__clk_i = 0;
  return true;
}
template <class Model> bool forget_clock(Model&, long) { return false; }

// A whole clock of a model none of whose outputs depends on an input but through a register: what
// the falling edge would work out is worked out again before the rising one.
template <class Model> void tick(Model& model) {
  if (!forget_clock(model, 0)) fall(model);
  rise(model);
}

// Resets a model that has its inputs.
template <class Model> void reset(Model& model) {
  model.clk_i = 0;
  for (bool level : {true, false, true}) {
    model.rst_ni = level;
    model.eval();
  }
}

}  // namespace
