// SPDX-License-Identifier: MIT
#include "remote.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace neffld::shim {
namespace {

union Rider {
  cmsghdr head;
  char room[CMSG_SPACE(sizeof(int))];
};

Remote& remote_of(void* context) {
  return *static_cast<Remote*>(context);
}

}  // namespace

std::int32_t process_behind(int socket) {
  ucred who{};
  socklen_t length = sizeof who;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 ? who.pid : 0;
}

bool send_message(int socket, const void* head, std::size_t head_bytes, Bytes bytes,
                  int descriptor) {
  iovec parts[2] = {{const_cast<void*>(head), head_bytes},
                    {const_cast<std::uint8_t*>(bytes.data()), bytes.size()}};
  Rider rider{};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  if (descriptor >= 0) {
    message.msg_control = &rider;
    message.msg_controllen = sizeof rider;
    rider.head.cmsg_level = SOL_SOCKET;
    rider.head.cmsg_type = SCM_RIGHTS;
    rider.head.cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(&rider.head), &descriptor, sizeof descriptor);
  }
  for (;;) {
    if (sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

std::size_t receive_message(int socket, void* head, std::size_t head_bytes, MutableBytes bytes,
                            Descriptor* rider_out) {
  iovec parts[2] = {{head, head_bytes}, {bytes.data(), bytes.size()}};
  Rider rider{};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = &rider;
  message.msg_controllen = sizeof rider;
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got > 0 && message.msg_controllen >= CMSG_LEN(sizeof(int)) &&
      rider.head.cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(&rider.head), sizeof number);
    Descriptor received(number);
    if (rider_out != nullptr) *rider_out = std::move(received);
  }
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

Remote::Remote(Descriptor socket, std::int32_t process, int life)
    : socket_(std::move(socket)), process_(process), life_(life), model_caller_{} {
  model_caller_.context = this;
  model_caller_.read = [](void* context, void* to, std::uint64_t user, std::size_t bytes) {
    const MutableBytes out(static_cast<std::uint8_t*>(to), bytes);
    return bytes - remote_of(context).read(user, out);
  };
  model_caller_.write = [](void* context, std::uint64_t user, const void* from, std::size_t bytes) {
    const Bytes in(static_cast<const std::uint8_t*>(from), bytes);
    return bytes - remote_of(context).write(user, in);
  };
  model_caller_.to_file = [](void* context, int file, std::uint64_t place, std::uint64_t user,
                             std::uint64_t bytes) {
    return bytes - remote_of(context).move(Tell::to_file, file, place, user, bytes);
  };
  model_caller_.from_file = [](void* context, int file, std::uint64_t place, std::uint64_t user,
                               std::uint64_t bytes) {
    return bytes - remote_of(context).move(Tell::to_user, file, place, user, bytes);
  };
  model_caller_.is_gone = [](void* context) { return remote_of(context).is_gone(); };
}

bool Remote::is_gone() const noexcept {
  if (gone_) return true;
  pollfd life{life_, POLLIN, 0};
  return poll(&life, 1, 0) == 1;
}

bool Remote::ask(const Message& message, Bytes sent, int descriptor, Answer& answer,
                 MutableBytes received) noexcept {
  if (gone_ || !send_message(socket_.get(), &message, sizeof message, sent, descriptor)) {
    gone_ = true;
    return false;
  }
  // A forked child may hold the socket, so that its end alone does not tell.
  pollfd both[2] = {{socket_.get(), POLLIN, 0}, {life_, POLLIN, 0}};
  while (poll(both, 2, -1) < 0 && errno == EINTR) {
  }
  const bool answered = both[0].revents & POLLIN;
  gone_ =
      !answered || receive_message(socket_.get(), &answer, sizeof answer, received) < sizeof answer;
  return !gone_;
}

std::size_t Remote::in_pieces(Tell tell, std::uint64_t address, Bytes from,
                              MutableBytes to) noexcept {
  const std::size_t bytes = from.size() + to.size();
  std::size_t done = 0;
  while (done < bytes) {
    Message message;
    message.tell = tell;
    message.address = address + done;
    message.length = std::min(bytes - done, piece_bytes);
    const auto piece = [&](auto side) {
      return side.empty() ? side : side.subspan(done, message.length);
    };
    Answer answer;
    if (message.address < address || !ask(message, piece(from), -1, answer, piece(to))) break;
    done += std::min<std::size_t>(answer.moved, message.length);
    if (answer.moved < message.length) break;
  }
  return done;
}

std::size_t Remote::read(std::uint64_t address, MutableBytes out) noexcept {
  return in_pieces(Tell::read, address, {}, out);
}

std::size_t Remote::write(std::uint64_t address, Bytes bytes) noexcept {
  return in_pieces(Tell::write, address, bytes, {});
}

std::uint64_t Remote::move(Tell tell, int file, std::uint64_t place, std::uint64_t address,
                           std::uint64_t bytes) noexcept {
  if (bytes == 0) return 0;
  Message message;
  message.tell = tell;
  message.address = address;
  message.length = bytes;
  message.offset = place;
  Answer answer;
  return ask(message, {}, file, answer, {}) ? std::min(answer.moved, bytes) : 0;
}

int Remote::go() noexcept {
  Message message;
  message.tell = Tell::go;
  Answer answer;
  return ask(message, {}, -1, answer, {}) ? static_cast<int>(answer.result) : -EINTR;
}

void Remote::done(int result) noexcept {
  Message message;
  message.result = result;
  done(message, -1);
}

void Remote::done(const Message& message, int descriptor) noexcept {
  send_message(socket_.get(), &message, sizeof message, {}, descriptor);
}

}  // namespace neffld::shim
