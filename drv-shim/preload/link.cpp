// SPDX-License-Identifier: MIT
#include "link.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "raw_call.hpp"

namespace neffld::shim {
namespace {

constexpr long page_bytes = 4096;  // the smallest there is: steps of it never cross a bad page

long again(long number, long a, long b, long c, long d = 0) {
  for (;;) {
    const long result = raw_call(number, a, b, c, d);
    if (result != -EINTR) return result;
  }
}

/// Room for one descriptor beside a message.
union Rider {
  cmsghdr head;
  char room[CMSG_SPACE(sizeof(int))];
};

long send_on(int socket, iovec* parts, unsigned count, int descriptor = -1) {
  Rider rider{};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  if (descriptor >= 0) {
    message.msg_control = &rider;
    message.msg_controllen = sizeof rider;
    rider.head.cmsg_level = SOL_SOCKET;
    rider.head.cmsg_type = SCM_RIGHTS;
    rider.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&rider.head), &descriptor, sizeof descriptor);
  }
  for (;;) {
    const long sent = again(SYS_sendmsg, socket, word(&message), MSG_NOSIGNAL);
    if (sent != -EAGAIN) return sent;
    pollfd room{socket, POLLOUT, 0};  // the program has made it non-blocking
    raw_call(SYS_ppoll, &room, 1, nullptr, nullptr, 0);
  }
}

/// Fills `parts`; the descriptor that came along, or -1, goes to `descriptor`.
long receive_on(int socket, iovec* parts, unsigned count, int* descriptor) {
  Rider rider{};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  message.msg_control = &rider;
  message.msg_controllen = sizeof rider;
  const long got = again(SYS_recvmsg, socket, word(&message), MSG_CMSG_CLOEXEC);
  *descriptor = -1;
  if (got > 0 && message.msg_controllen >= CMSG_LEN(sizeof(int)) &&
      rider.head.cmsg_type == SCM_RIGHTS) {
    memcpy(descriptor, CMSG_DATA(&rider.head), sizeof *descriptor);
  }
  return got;
}

void close_own(int descriptor) {
  if (descriptor >= 0) raw_call(SYS_close, descriptor);
}

/// Moves bytes between memory of this process, one side of which may be bad; how many were moved.
unsigned long move_own(long number, void* ours, unsigned long theirs, unsigned long bytes) {
  const long self = raw_call(SYS_getpid);
  unsigned long done = 0;
  unsigned long piece = bytes;
  while (done < bytes) {
    const unsigned long wanted = bytes - done < piece ? bytes - done : piece;
    const iovec here{static_cast<char*>(ours) + done, wanted};
    const iovec there{reinterpret_cast<void*>(theirs + done), wanted};
    if (theirs + done < theirs) break;
    const long moved = raw_call(number, self, &here, 1, &there, 1, 0);
    if (moved > 0) done += static_cast<unsigned long>(moved);
    if (moved == static_cast<long>(wanted)) continue;
    const unsigned long to_page_end = page_bytes - (theirs + done) % page_bytes;
    if (moved <= 0 && piece <= to_page_end) break;
    piece = to_page_end;
  }
  return done;
}

/// Between memory of this process and a file; how many bytes were moved.
unsigned long move_file(long number, int file, const Message& message) {
  unsigned long done = 0;
  while (done < message.length) {
    const long moved =
        again(number, file, static_cast<long>(message.address + done),
              static_cast<long>(message.length - done), static_cast<long>(message.offset + done));
    if (moved <= 0) break;
    done += static_cast<unsigned long>(moved);
  }
  return done;
}

/// One thing the server wants of this process; false if it cannot be told the outcome.
bool serve(int socket, const Message& message, const char* bytes, int descriptor, GoFunction go,
           void* context) {
  Answer answer;
  char room[piece_bytes];
  unsigned long extra = 0;
  const unsigned long length = message.length < piece_bytes ? message.length : piece_bytes;
  switch (message.tell) {
    case Tell::read:
      answer.moved = extra = move_own(SYS_process_vm_readv, room, message.address, length);
      break;
    case Tell::write:
      answer.moved =
          move_own(SYS_process_vm_writev, const_cast<char*>(bytes), message.address, length);
      break;
    case Tell::to_file:
      answer.moved = move_file(SYS_pwrite64, descriptor, message);
      break;
    case Tell::to_user:
      answer.moved = move_file(SYS_pread64, descriptor, message);
      break;
    case Tell::go:
      answer.result = go != nullptr ? go(context) : -EIO;
      break;
    case Tell::done:
      return false;
  }
  iovec parts[2] = {{&answer, sizeof answer}, {room, extra}};
  return send_on(socket, parts, 2) > 0;
}

/// Serves the server until the result is there.
long finish(int socket, Reply* reply, GoFunction go, void* context) {
  for (;;) {
    Message message;
    char bytes[piece_bytes];
    iovec parts[2] = {{&message, sizeof message}, {bytes, sizeof bytes}};
    int descriptor = -1;
    const long got = receive_on(socket, parts, 2, &descriptor);
    if (got < static_cast<long>(sizeof message)) {
      close_own(descriptor);
      return -EIO;
    }
    if (message.tell == Tell::done) {
      if (reply != nullptr) {
        reply->message = message;
        reply->descriptor = descriptor;
      } else {
        close_own(descriptor);
      }
      return message.result;
    }
    const bool served = serve(socket, message, bytes, descriptor, go, context);
    close_own(descriptor);
    if (!served) return -EIO;
  }
}

/// A connection to the session's socket, or a negative errno.
int connect_to(const char* folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const unsigned long length = strlen(folder);
  if (length + 1 + sizeof socket_name > sizeof address.sun_path) return -ENAMETOOLONG;
  memcpy(address.sun_path, folder, length);
  address.sun_path[length] = '/';
  memcpy(address.sun_path + length + 1, socket_name, sizeof socket_name);
  const long socket = raw_call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket < 0) return static_cast<int>(socket);
  const long error = again(SYS_connect, socket, word(&address), sizeof address);
  if (error == 0) return static_cast<int>(socket);
  close_own(static_cast<int>(socket));
  return static_cast<int>(error);
}

/// The name of a file's socket; its length without the first NUL, or 0.
unsigned long name_of(int descriptor, sockaddr_un& address) {
  socklen_t length = sizeof address;
  if (raw_call(SYS_getsockname, descriptor, &address, &length) != 0) return 0;
  const unsigned long before = offsetof(sockaddr_un, sun_path) + 1;
  if (address.sun_family != AF_UNIX || length <= before || address.sun_path[0] != 0) return 0;
  const unsigned long prefix = sizeof file_name_prefix - 1;
  if (length - before < prefix || memcmp(address.sun_path + 1, file_name_prefix, prefix) != 0) {
    return 0;
  }
  return length - before;
}

}  // namespace

bool is_device(int descriptor, DeviceDescriptor* out) {
  if (descriptor < 0) return false;
  sockaddr_un address{};
  const unsigned long length = name_of(descriptor, address);
  if (length == 0) return false;
  if (out == nullptr) return true;
  unsigned numbers[2] = {};
  const char* at = address.sun_path + sizeof file_name_prefix;
  const char* end = address.sun_path + 1 + length;
  for (unsigned& number : numbers) {
    for (; at < end && *at >= '0' && *at <= '9'; ++at) {
      number = number * 10 + static_cast<unsigned>(*at - '0');
    }
    ++at;
  }
  *out = {numbers[0], numbers[1]};
  return true;
}

bool is_same_file(int descriptor, int other) {
  sockaddr_un first{}, second{};
  const unsigned long length = name_of(descriptor, first);
  return length != 0 && length == name_of(other, second) &&
         memcmp(first.sun_path, second.sun_path, length + 1) == 0;
}

long ask_file(int descriptor, const Request& request, Reply* reply) {
  int pair[2];
  const long error = raw_call(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
  if (error < 0) return error;
  iovec part{const_cast<Request*>(&request), sizeof request};
  const long sent = send_on(descriptor, &part, 1, pair[1]);
  close_own(pair[1]);
  const long result = sent > 0 ? finish(pair[0], reply, nullptr, nullptr) : -EIO;
  close_own(pair[0]);
  return result;
}

long ask_session(const char* folder, const Request& request, Reply* reply, GoFunction go,
                 void* context) {
  const int socket = connect_to(folder);
  // A server that was killed leaves its socket, one that has ended does not.
  if (socket == -ECONNREFUSED || socket == -ENOENT) return -EIO;
  if (socket < 0) return socket;
  iovec part{const_cast<Request*>(&request), sizeof request};
  const long sent = send_on(socket, &part, 1);
  const long result = sent > 0 ? finish(socket, reply, go, context) : -EIO;
  close_own(socket);
  return result;
}

long ask_hello(const char* folder, Hello* hello) {
  const int socket = connect_to(folder);
  if (socket < 0) return socket;
  Request request;
  iovec part{&request, sizeof request};
  iovec answer{hello, sizeof *hello};
  int descriptor = -1;
  long result = send_on(socket, &part, 1);
  if (result > 0) result = receive_on(socket, &answer, 1, &descriptor);
  close_own(socket);
  if (result < 0) return result;
  return result == static_cast<long>(sizeof *hello) && hello->version == protocol_version ? 0
                                                                                          : -EPROTO;
}

}  // namespace neffld::shim
