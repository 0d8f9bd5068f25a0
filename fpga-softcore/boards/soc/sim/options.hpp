// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The command line of the simulated board.

#pragma once

#include <cstdint>
#include <string>

struct Options {
  std::string firmware;
  bool terminal = false;
  std::uint16_t port = 0;
  std::uint16_t divisor = 0;     // clocks of a bit; 0 hands bytes over without a line
  std::uint64_t max_clocks = 0;  // 0 is no end
  bool watch_stdin = false;
  bool help = false;
};

// What is wrong with the command line or the firmware, as a sentence.
struct UsageError {
  std::string message;
};

extern const char* const HELP;

// Throws UsageError.
Options parse(int count, char** arguments);

// Reads the image, only to say what is wrong with it. Throws UsageError.
void check_image(const std::string& path, std::uint64_t memory_words);
