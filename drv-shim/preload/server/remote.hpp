// SPDX-License-Identifier: MIT
// A program's call as the server sees it: a socket to ask the program's memory through.
#pragma once

#include <cstdint>

#include "caller_memory.hpp"
#include "descriptor.hpp"
#include "nds_user.h"
#include "neffld/bytes.hpp"
#include "protocol.hpp"

namespace neffld::shim {

/// The process at the other end of a socket; 0 if it cannot be seen from here.
std::int32_t process_behind(int socket);

/// Sends a message with bytes behind it and a descriptor beside it; false if nobody is there.
bool send_message(int socket, const void* head, std::size_t head_bytes, Bytes bytes = {},
                  int descriptor = -1);
/// Receives into two parts; the bytes received, 0 if nobody is there. A descriptor that came along
/// goes to `rider` if that is not null.
std::size_t receive_message(int socket, void* head, std::size_t head_bytes, MutableBytes bytes = {},
                            Descriptor* rider = nullptr);

class Remote final : public RemoteCaller {
 public:
  /// `life` is a descriptor that becomes readable when the process ends.
  Remote(Descriptor socket, std::int32_t process, int life);

  // RemoteCaller. From the first byte that failed on nothing is moved.
  std::size_t read(std::uint64_t address, MutableBytes out) noexcept override;
  std::int32_t process() const noexcept override { return process_; }
  std::size_t write(std::uint64_t address, Bytes bytes) noexcept;

  /// Lets the program make the call itself; its result, -EINTR if it has gone.
  int go() noexcept;
  /// The call is over.
  void done(int result) noexcept;
  void done(const Message& message, int descriptor) noexcept;

  /// For the device model: transfers of this thread are this program's.
  const nds_user_caller& model_caller() const { return model_caller_; }

 private:
  /// Asks and waits; false if the program has gone.
  bool ask(const Message& message, Bytes sent, int descriptor, Answer& answer,
           MutableBytes received) noexcept;
  bool is_gone() const noexcept;
  /// Moves bytes to or from the program inside messages; one of `from` and `to` is empty.
  std::size_t in_pieces(Tell tell, std::uint64_t address, Bytes from, MutableBytes to) noexcept;
  std::uint64_t move(Tell tell, int file, std::uint64_t place, std::uint64_t address,
                     std::uint64_t bytes) noexcept;

  Descriptor socket_;
  std::int32_t process_;
  int life_;
  bool gone_ = false;
  nds_user_caller model_caller_;
};

}  // namespace neffld::shim
