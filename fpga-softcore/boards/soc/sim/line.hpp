// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The far end of the simulated serial line: 8N1, one bit in `divisor` clocks, clock by clock.

#pragma once

#include <cstdint>

class Line {
 public:
  explicit Line(std::uint32_t divisor) : divisor_(divisor) {}

  // Whether a byte can be put on the line.
  bool ready() const { return send_bits_ == 0; }
  // Puts a byte on it.
  void put(std::uint8_t byte) {
    shift_ = static_cast<std::uint16_t>(0x200U | byte << 1U);
    send_bits_ = 10;
    send_clocks_ = divisor_;
  }
  // What the board receives in this clock.
  bool level() const { return send_bits_ == 0 || (shift_ & 1U) != 0; }

  // Ends a clock in which the board sent `level`. True when that made a byte.
  bool tick(bool level) {
    if (send_bits_ > 0 && --send_clocks_ == 0) {
      shift_ >>= 1U;
      --send_bits_;
      send_clocks_ = divisor_;
    }
    if (receive_bits_ == 0) {
      if (level) return false;
      receive_bits_ = 10;
      receive_clocks_ = divisor_ / 2;
    }
    if (--receive_clocks_ > 0) return false;
    receive_clocks_ = divisor_;
    // The stop bit is the last to come, and not of the byte.
    if (--receive_bits_ > 0) {
      received_ = static_cast<std::uint8_t>(received_ >> 1U | (level ? 0x80U : 0U));
      return false;
    }
    return level;
  }
  // The byte that was made.
  std::uint8_t byte() const { return received_; }

 private:
  std::uint32_t divisor_;
  std::uint32_t send_clocks_ = 0;
  std::uint32_t receive_clocks_ = 0;
  std::uint32_t send_bits_ = 0;
  std::uint32_t receive_bits_ = 0;
  std::uint16_t shift_ = 0;
  std::uint8_t received_ = 0;
};
