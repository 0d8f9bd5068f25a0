// SPDX-License-Identifier: MIT OR Apache-2.0

#include "peer.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>
#include <utility>

namespace {

std::string reason() { return std::strerror(errno); }

void set_nonblocking(int file) { fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK); }

}  // namespace

Peer Peer::tcp(std::uint16_t port) {
  Peer peer;
  peer.listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (peer.listener_ < 0) throw PeerError{"no socket: " + reason()};
  const int on = 1;
  setsockopt(peer.listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (bind(peer.listener_, raw, sizeof address) < 0 || listen(peer.listener_, 1) < 0)
    throw PeerError{"cannot listen on 127.0.0.1:" + std::to_string(port) + ": " + reason() +
                    "; port 0 takes one that is free"};
  socklen_t length = sizeof address;
  getsockname(peer.listener_, raw, &length);
  set_nonblocking(peer.listener_);
  peer.announcement_ = "listening 127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  return peer;
}

Peer Peer::terminal() {
  Peer peer;
  peer.is_terminal_ = true;
  peer.connection_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (peer.connection_ < 0 || grantpt(peer.connection_) < 0 || unlockpt(peer.connection_) < 0)
    throw PeerError{"no pseudoterminal: " + reason()};
  const char* const name = ptsname(peer.connection_);
  // Opened once and closed: until then nobody's absence can be seen.
  const int slave = name == nullptr ? -1 : open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) throw PeerError{"no pseudoterminal: " + reason()};
  termios settings{};
  tcgetattr(slave, &settings);
  cfmakeraw(&settings);
  tcsetattr(slave, TCSANOW, &settings);
  close(slave);
  set_nonblocking(peer.connection_);
  peer.announcement_ = std::string("pty ") + name;
  return peer;
}

Peer::Peer(Peer&& other) noexcept
    : is_terminal_(other.is_terminal_),
      connected_(other.connected_),
      listener_(std::exchange(other.listener_, -1)),
      connection_(std::exchange(other.connection_, -1)),
      announcement_(std::move(other.announcement_)) {}

Peer::~Peer() {
  if (listener_ >= 0) close(listener_);
  if (connection_ >= 0) close(connection_);
}

void Peer::disconnect() {
  connected_ = false;
  if (is_terminal_) return;
  close(connection_);
  connection_ = -1;
}

void Peer::wait(int other, int milliseconds) {
  if (is_terminal_) {
    // A terminal's hang-up cannot be waited for to end.
    pollfd files[] = {{connection_, POLLIN, 0}, {other, POLLIN, 0}};
    poll(files, 1, 0);
    connected_ = (files[0].revents & POLLHUP) == 0;
    if (!connected_) poll(&files[1], 1, milliseconds < 10 ? milliseconds : 10);
    return;
  }
  pollfd files[] = {{listener_, POLLIN, 0}, {other, POLLIN, 0}};
  if (poll(files, 2, milliseconds) <= 0 || files[0].revents == 0) return;
  connection_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection_ < 0) return;
  const int on = 1;
  setsockopt(connection_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  connected_ = true;
}

bool Peer::receive(std::vector<std::uint8_t>& bytes) {
  std::uint8_t buffer[4096];
  const ssize_t count = read(connection_, buffer, sizeof buffer);
  if (count > 0) {
    bytes.insert(bytes.end(), buffer, buffer + count);
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    disconnect();
  }
  return connected_;
}

bool Peer::send(const std::vector<std::uint8_t>& bytes, const volatile bool& stop) {
  std::size_t sent = 0;
  while (connected_ && sent < bytes.size() && !stop) {
    const ssize_t count = is_terminal_
                              ? write(connection_, bytes.data() + sent, bytes.size() - sent)
                              : ::send(connection_, bytes.data() + sent, bytes.size() - sent,
                                       MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      pollfd file{connection_, POLLOUT, 0};
      poll(&file, 1, 100);
      if ((file.revents & (POLLERR | POLLHUP)) != 0) disconnect();
    } else if (errno != EINTR) {
      disconnect();
    }
  }
  return connected_;
}

void Peer::sleep(int milliseconds) const {
  pollfd file{connection_, POLLIN, 0};
  poll(&file, 1, milliseconds);
}
