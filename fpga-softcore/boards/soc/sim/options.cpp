// SPDX-License-Identifier: MIT OR Apache-2.0

#include "options.hpp"

#include <cctype>
#include <cstring>
#include <fstream>
#include <limits>

const char* const HELP =
    "The simulated board: a RISC-V core, memory, a serial port and the prototype.\n"
    "\n"
    "Usage: strata-soc --firmware FILE.hex (--tcp PORT | --pty) [OPTION]\n"
    "\n"
    "  --firmware FILE    Memory's first words in hexadecimal, one a line\n"
    "  --tcp PORT         The serial line is a TCP port of 127.0.0.1; 0 takes any\n"
    "  --pty              The serial line is a pseudoterminal\n"
    "  --uart-divisor N   Simulate the line itself, N clocks a bit, 4 to 65535; otherwise bytes are\n"
    "                     handed over as fast as the board takes them\n"
    "  --max-clocks N     End after N clocks\n"
    "  --watch-stdin      End when standard input does\n"
    "\n"
    "Prints `listening 127.0.0.1:PORT` or `pty /dev/pts/N`. The clock stands while nobody is\n"
    "connected; when a peer goes, the next one finds the board as it was left. SIGINT and SIGTERM\n"
    "end it. Exit status: 0 ended as asked, 2 the command line or what it names is wrong.\n";

namespace {

std::uint64_t number(const std::string& option, const std::string& text, std::uint64_t least,
                     std::uint64_t most) {
  std::uint64_t value = 0;
  bool good = !text.empty() && text.size() <= 19;
  for (const char digit : text) {
    good = good && std::isdigit(static_cast<unsigned char>(digit)) != 0;
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (good && value >= least && value <= most) return value;
  throw UsageError{option + " takes a number from " + std::to_string(least) + " to " +
                   std::to_string(most) + ", not `" + text + "`"};
}

}  // namespace

Options parse(int count, char** arguments) {
  constexpr std::uint64_t Most = std::numeric_limits<std::int64_t>::max();
  Options options;
  bool tcp = false;
  for (int at = 1; at < count; ++at) {
    const std::string option = arguments[at];
    const auto value = [&]() -> std::string {
      if (at + 1 == count) throw UsageError{option + " needs a value"};
      return arguments[++at];
    };
    if (option == "--firmware") {
      options.firmware = value();
    } else if (option == "--tcp") {
      options.port = static_cast<std::uint16_t>(number(option, value(), 0, 65535));
      tcp = true;
    } else if (option == "--pty") {
      options.terminal = true;
    } else if (option == "--uart-divisor") {
      options.divisor = static_cast<std::uint16_t>(number(option, value(), 4, 65535));
    } else if (option == "--max-clocks") {
      options.max_clocks = number(option, value(), 1, Most);
    } else if (option == "--watch-stdin") {
      options.watch_stdin = true;
    } else if (option == "--help" || option == "-h") {
      options.help = true;
      return options;
    } else {
      throw UsageError{"there is no option `" + option + "`; --help lists them"};
    }
  }
  if (options.firmware.empty()) throw UsageError{"--firmware FILE is missing"};
  if (tcp == options.terminal) throw UsageError{"give either --tcp PORT or --pty"};
  return options;
}

void check_image(const std::string& path, std::uint64_t memory_words) {
  std::ifstream file(path);
  if (!file) throw UsageError{"cannot read the firmware `" + path + "`: " + std::strerror(errno)};
  std::uint64_t words = 0;
  std::string line;
  while (std::getline(file, line)) {
    ++words;
    bool good = line.size() == 8;
    for (const char digit : line) good = good && std::isxdigit(static_cast<unsigned char>(digit));
    if (!good)
      throw UsageError{"the firmware `" + path + "` is no image: line " + std::to_string(words) +
                       " is not a word of 8 hexadecimal digits; `cargo xtask soc` makes one"};
  }
  if (words == 0) throw UsageError{"the firmware `" + path + "` is empty"};
  if (words > memory_words)
    throw UsageError{"the firmware `" + path + "` has " + std::to_string(words) +
                     " words, the memory " + std::to_string(memory_words)};
}
