// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The simulated board: Verilator's translation of rtl/soc.sv, and a peer at its serial line.
// docs/hw/soc.md describes it.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <poll.h>
#include <csignal>
#include <unistd.h>
#include <vector>

#include "Vsoc.h"
#include "Vsoc___024root.h"
#include "line.hpp"
#include "options.hpp"
#include "peer.hpp"
#include "verilated.h"

namespace {

// Memory of the simulated board: `cargo xtask soc` elaborates as much.
#ifndef MEMORY_BYTES
#error "MEMORY_BYTES is the parameter MemoryBytes of the translated soc"
#endif
constexpr std::uint64_t MEMORY_WORDS = MEMORY_BYTES / 4;

// Clocks between two looks at the peer: short beside a message's time, long beside a system call's.
constexpr std::uint64_t SLICE = 2000;
// The firmware waits for a byte when it has looked for one so often, this many clocks apart or less,
// and no byte went either way.
constexpr std::uint32_t IDLE_LOOKS = 64;
constexpr std::uint64_t IDLE_CLOCKS = 2000;
// So many naps are short; if no byte has come by then, none is about to. Unit: milliseconds.
constexpr std::uint32_t SHORT_NAPS = 50;
constexpr int SHORT_NAP = 1;
constexpr int LONG_NAP = 10;

volatile bool stop_requested = false;

// Makes the next `eval` see a rising edge of both clocks although neither has fallen: a whole clock
// is one evaluation then. What Verilator remembers of a clock has no name that it promises to keep;
// where it has another, the function below is taken, and a clock is two evaluations.
template <class Root>
auto forget_clocks(Root& root, int) -> decltype(root.__Vtrigrprev__TOP__clk_i = 0, true) {
  root.__Vtrigrprev__TOP__clk_i = 0;
  root.__Vtrigrprev__TOP__prototype_clk_i = 0;
  return true;
}
template <class Root>
bool forget_clocks(Root&, long) {
  return false;
}

void request_stop(int) { stop_requested = true; }

class Board {
 public:
  Board(VerilatedContext& context, const Options& options)
      : soc_(&context), line_(options.divisor), streams_(options.divisor == 0) {
    soc_.clk_i = 0;
    soc_.rst_ni = 0;
    soc_.uart_divisor_i = options.divisor;
    soc_.uart_rx_i = 1;
    soc_.stream_rx_valid_i = 0;
    soc_.stream_tx_ready_i = 1;
    // The reset is synchronous in the processor.
    soc_.prototype_clk_i = 0;
    for (int clock = 0; clock < 4; ++clock) {
      soc_.eval();
      soc_.clk_i = soc_.prototype_clk_i = 1;
      soc_.eval();
      soc_.clk_i = soc_.prototype_clk_i = 0;
    }
    soc_.rst_ni = 1;
    soc_.eval();
  }

  ~Board() { soc_.final(); }

  // Runs so many clocks, or until the firmware does nothing but look for a byte.
  void run(std::uint64_t clocks) {
    const std::uint64_t end = clocks_ + clocks;
    if (streams_) {
      while (clocks_ < end && !idle()) stream_clock();
    } else {
      while (clocks_ < end) line_clock();
    }
  }

  std::uint64_t clocks() const { return clocks_; }
  bool wants_bytes() const { return next_ == incoming_.size(); }
  bool idle() const { return looks_ >= IDLE_LOOKS && wants_bytes(); }
  void rest() { looks_ = 0; }

  // Where bytes for the board are put, once it wants some.
  std::vector<std::uint8_t>& incoming() {
    incoming_.clear();
    next_ = 0;
    return incoming_;
  }
  std::vector<std::uint8_t>& outgoing() { return outgoing_; }
  // Forgets what was under way to and from a peer that has gone.
  void forget() {
    incoming();
    outgoing_.clear();
  }

 private:
  void edges() {
    // A clock less for the prototype, while it sleeps.
    const bool awake = soc_.prototype_awake_o;
    if (!forget_clocks(*soc_.rootp, 0)) {
      soc_.clk_i = soc_.prototype_clk_i = 0;
      soc_.eval();
    }
    soc_.clk_i = 1;
    soc_.prototype_clk_i = awake;
    soc_.eval();
    ++clocks_;
  }

  void stream_clock() {
    const bool offers = next_ < incoming_.size();
    soc_.stream_rx_valid_i = offers;
    if (offers) soc_.stream_rx_data_i = incoming_[next_];
    // What stands before the edge is what it takes.
    const bool takes = offers && soc_.stream_rx_ready_o;
    if (soc_.stream_tx_valid_o) {
      outgoing_.push_back(soc_.stream_tx_data_o);
      looks_ = 0;
    }
    if (takes) {
      ++next_;
      looks_ = 0;
    }
    edges();
    if (soc_.idle_o) {
      looks_ = clocks_ - looked_ <= IDLE_CLOCKS ? looks_ + 1 : 0;
      looked_ = clocks_;
    }
  }

  void line_clock() {
    if (next_ < incoming_.size() && line_.ready()) line_.put(incoming_[next_++]);
    soc_.uart_rx_i = line_.level();
    edges();
    if (line_.tick(soc_.uart_tx_o)) outgoing_.push_back(line_.byte());
  }

  Vsoc soc_;
  Line line_;
  bool streams_;
  std::uint64_t clocks_ = 0;
  std::uint64_t looked_ = 0;
  std::uint32_t looks_ = 0;
  std::size_t next_ = 0;
  std::vector<std::uint8_t> incoming_;
  std::vector<std::uint8_t> outgoing_;
};

bool ended(int file) {
  pollfd input{file, POLLIN, 0};
  if (file < 0 || poll(&input, 1, 0) <= 0) return false;
  char bytes[256];
  return read(file, bytes, sizeof bytes) == 0;
}

// Serves peers until it is time to end. Returns the seconds in which the clock ran.
double serve(Board& board, Peer& peer, const Options& options) {
  using Clock = std::chrono::steady_clock;
  const int input = options.watch_stdin ? STDIN_FILENO : -1;
  std::chrono::duration<double> ran{0};
  std::uint32_t naps = 0;
  while (!stop_requested && (options.max_clocks == 0 || board.clocks() < options.max_clocks)) {
    if (ended(input)) break;
    if (!peer.connected()) {
      board.forget();
      peer.wait(input, 1000);
      continue;
    }
    if (board.wants_bytes() && !peer.receive(board.incoming())) continue;
    if (!board.wants_bytes()) naps = 0;
    const auto start = Clock::now();
    const std::uint64_t left =
        options.max_clocks == 0 ? SLICE : options.max_clocks - board.clocks();
    board.run(left < SLICE ? left : SLICE);
    ran += Clock::now() - start;
    if (!board.outgoing().empty()) {
      naps = 0;
      peer.send(board.outgoing(), stop_requested);
      board.outgoing().clear();
    } else if (board.idle()) {
      peer.sleep(naps < SHORT_NAPS ? SHORT_NAP : LONG_NAP);
      ++naps;
      board.rest();
    }
  }
  return ran.count();
}

int run(int count, char** arguments) {
  const Options options = parse(count, arguments);
  if (options.help) {
    std::fputs(HELP, stdout);
    return 0;
  }
  check_image(options.firmware, MEMORY_WORDS);
  struct sigaction action {};
  action.sa_handler = request_stop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  Peer peer = options.terminal ? Peer::terminal() : Peer::tcp(options.port);

  VerilatedContext context;
  const std::string image = "+image=" + options.firmware;
  const char* plus[] = {arguments[0], image.c_str()};
  context.commandArgs(2, plus);
  Board board(context, options);
  std::printf("%s\n", peer.announcement().c_str());
  std::fflush(stdout);
  const double seconds = serve(board, peer, options);
  const double clocks = static_cast<double>(board.clocks());
  std::fprintf(stderr, "%.0f clocks in %.3f s: %.2f million a second\n", clocks, seconds,
               seconds > 0 ? clocks / seconds / 1e6 : 0.0);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "error: %s\n", error.message.c_str());
  } catch (const PeerError& error) {
    std::fprintf(stderr, "error: %s\n", error.message.c_str());
  }
  return 2;
}
