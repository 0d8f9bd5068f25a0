// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The other end of the simulated board's serial line: one peer at a time, over TCP or a terminal.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Why there can be no peer, as a sentence.
struct PeerError {
  std::string message;
};

class Peer {
 public:
  // Listens on the loopback interface; port 0 takes any. Throws PeerError.
  static Peer tcp(std::uint16_t port);
  // Makes a pseudoterminal. Throws PeerError.
  static Peer terminal();

  Peer(Peer&& other) noexcept;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  Peer& operator=(Peer&&) = delete;
  ~Peer();

  // How to reach it: "listening 127.0.0.1:PORT" or "pty /dev/pts/N".
  const std::string& announcement() const { return announcement_; }
  // Whether somebody is there, as far as the last call has seen.
  bool connected() const { return connected_; }
  // Waits for somebody, or for a signal, or until `other` can be read or is closed; -1 is none.
  void wait(int other, int milliseconds);
  // Appends what has come without waiting. False when the peer has gone.
  bool receive(std::vector<std::uint8_t>& bytes);
  // Sends all of it, or as much as the peer takes before it goes or a signal comes.
  bool send(const std::vector<std::uint8_t>& bytes, const volatile bool& stop);
  // Waits until bytes come, or for a signal.
  void sleep(int milliseconds) const;

 private:
  Peer() = default;
  void disconnect();

  bool is_terminal_ = false;
  bool connected_ = false;
  int listener_ = -1;    // TCP: accepts; terminal: unused
  int connection_ = -1;  // TCP: the peer; terminal: the master's side
  std::string announcement_;
};
