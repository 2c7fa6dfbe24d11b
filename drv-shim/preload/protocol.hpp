// SPDX-License-Identifier: MIT
// What the preloaded library and the server of its devices say to each other. Both come from one
// build; `protocol_version` finds a library and a server of different ones.
//
// Requests go through one of two sockets (SOCK_SEQPACKET): the session's, a path in its folder, or
// an open file's, which is the descriptor the program holds: the kernel carries it through dup,
// fork, exec and descriptor passing, and tells the server when the last copy is gone. A request
// through a file carries a socket of its own for the replies, so that any number of threads and
// processes can use one file at once and the library keeps no state about descriptors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neffld::shim {

inline constexpr std::uint32_t protocol_version = 1;

/// Names the session's folder to child processes.
inline constexpr char session_variable[] = "NEFFLD_SHIM_SESSION";
inline constexpr char socket_name[] = "server";

/// The name a file's socket is bound to, so that the program's end tells what it is:
/// NUL, this, device, ' ', open flags, ' ', a number no other file of this machine has.
inline constexpr char file_name_prefix[] = "neffld-shim ";

/// Device numbers of the nodes: a major above all that Linux gives to drivers (511), minor = index.
inline constexpr unsigned node_major = 1248;

enum class Ask : std::uint32_t {
  // Through the session's socket.
  hello = 1,   ///< -> Hello
  open,        ///< device, flags -> result, a descriptor if 0
  refresh,     ///< path: brings an attribute below the session's sys/ up to date
  record,      ///< pass-through: device, flags, command, argument; result after Tell::go
  record_map,  ///< pass-through: device, flags, address (the offset), length, writable, succeeded
  unmap,       ///< for the trace: `length` bytes of a mapping are gone
  // Through a file's socket, with a socket for replies.
  ioctl,  ///< command, argument
  map,    ///< address (the offset), length -> Mapped, a descriptor if the result is 0
  close,  ///< `last`: the process has no other descriptor of the file
};

struct Request {
  std::uint32_t version = protocol_version;
  Ask ask = Ask::hello;
  std::uint32_t device = 0;
  std::uint32_t flags = 0;    ///< of open(2)
  std::uint32_t command = 0;  ///< of ioctl(2)
  std::uint8_t last = 0;
  std::uint8_t writable = 0;
  std::uint8_t succeeded = 0;
  std::uint8_t reserved = 0;
  std::uint64_t argument = 0;  ///< address in the program
  std::uint64_t length = 0;
  char path[256] = {};
};

enum class Tell : std::uint32_t {
  done = 1,  ///< the call's result
  read,      ///< send `length` bytes from `address`: Answer and the bytes that could be read
  write,     ///< store the bytes behind this message at `address`: Answer
  to_file,   ///< copy `length` bytes from `address` to `offset` of the descriptor sent: Answer
  to_user,   ///< the other way
  go,        ///< pass-through: make the call; Answer with its result
};

struct Message {
  Tell tell = Tell::done;
  std::int32_t result = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint64_t offset = 0;
  std::uint8_t read_only = 0;
  std::uint8_t reserved[7] = {};
};

struct Answer {
  std::uint64_t moved = 0;  ///< bytes, from the first on
  std::int64_t result = 0;
};

struct Hello {
  std::uint32_t version = protocol_version;
  std::uint32_t count = 0;        ///< devices
  std::uint8_t pass_through = 0;  ///< the real nodes are used and recorded
  std::uint8_t traced = 0;
  std::uint8_t reserved[6] = {};
};

/// Bytes that travel in a message; more go in pieces or through a descriptor.
inline constexpr std::size_t piece_bytes = 8192;

}  // namespace neffld::shim
