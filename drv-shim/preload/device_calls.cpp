// SPDX-License-Identifier: MIT
// Wrappers of what is done with a device's descriptor: ioctl, mmap, reading and writing.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "file_calls.hpp"
#include "link.hpp"
#include "mappings.hpp"
#include "names.hpp"
#include "next.hpp"
#include "raw_call.hpp"
#include "session.hpp"

using namespace neffld::shim;

namespace {

/// Whether a descriptor is a real node whose calls are to be recorded.
bool is_recorded_node(int descriptor, DeviceDescriptor& out) {
  if (!session().pass_through || !session().alive) return false;
  const long number = real_node(descriptor);
  if (number < 0) return false;
  const long flags = raw_call(SYS_fcntl, descriptor, F_GETFL);
  out = {static_cast<unsigned>(number), static_cast<unsigned>(flags)};
  return true;
}

struct RealCall {
  int descriptor;
  unsigned long command;
  void* argument;
  bool made = false;
  long result = 0;
};

long make_real_call(void* context) {
  auto& call = *static_cast<RealCall*>(context);
  call.made = true;
  return call.result = raw_call(SYS_ioctl, call.descriptor, call.command, call.argument);
}

long record_call(const DeviceDescriptor& device, RealCall call) {
  Request request;
  request.ask = Ask::record;
  request.device = device.device;
  request.flags = device.flags;
  request.command = static_cast<std::uint32_t>(call.command);
  request.argument = reinterpret_cast<unsigned long>(call.argument);
  const long result = ask_session(session().folder, request, nullptr, make_real_call, &call);
  // A driver may answer with any errno, and no call may reach it twice.
  if (call.made) return call.result;
  return served(result) == -EIO ? make_real_call(&call) : result;
}

/// What the kernel answers before a driver sees the command.
bool is_of_descriptor(unsigned long command) {
  return command == FIOCLEX || command == FIONCLEX || command == FIONBIO || command == FIOASYNC;
}

long device_ioctl(int descriptor, unsigned long command, void* argument) {
  Request request;
  request.ask = Ask::ioctl;
  request.command = static_cast<std::uint32_t>(command);
  request.argument = reinterpret_cast<unsigned long>(argument);
  note_devices();
  return served(ask_file(descriptor, request));
}

/// The mapping the device offers: a descriptor of its memory and a place, or a negative errno.
long offered(int descriptor, size_t length, bool writable, off_t offset, Reply& reply) {
  Request request;
  request.ask = Ask::map;
  request.argument = static_cast<std::uint64_t>(offset);
  request.length = length;
  request.writable = writable;
  return served(ask_file(descriptor, request, &reply));
}

/// What the kernel answers before a driver sees the mapping, 0 if nothing; makes `length` whole
/// pages.
long kernel_refusal(const DeviceDescriptor& device, size_t& length, int protection, int flags,
                    off_t offset) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (length == 0 || static_cast<size_t>(offset) % page != 0 || offset < 0) return -EINVAL;
  length = (length + page - 1) / page * page;
  const unsigned access = device.flags & O_ACCMODE;
  const bool shared = (flags & MAP_TYPE) != MAP_PRIVATE;
  const bool writes = shared && (protection & PROT_WRITE) != 0;
  return access == O_WRONLY || (writes && access != O_RDWR) ? -EACCES : 0;
}

/// mmap(2) of a device's descriptor: the address or a negative errno.
long device_mmap(void* address, size_t length, int protection, int flags, int descriptor,
                 off_t offset, const DeviceDescriptor& device) {
  if (const long error = kernel_refusal(device, length, protection, flags, offset)) return error;
  Reply reply;
  const bool writable = (protection & PROT_WRITE) != 0;
  const long error = offered(descriptor, length, writable, offset, reply);
  if (error != 0) return error;
  if (reply.message.read_only) protection &= ~PROT_WRITE;
  const long mapped = raw_call(SYS_mmap, address, length, protection, flags, reply.descriptor,
                               reply.message.offset);
  raw_call(SYS_close, reply.descriptor);
  if (mapped < 0 && mapped >= -4095) return mapped;
  // As the driver marks its mappings.
  raw_call(SYS_madvise, mapped, length, MADV_DONTFORK);
  raw_call(SYS_madvise, mapped, length, MADV_DONTDUMP);
  if (session().traced) remember_mapping(mapped);
  return mapped;
}

void record_mapping(const DeviceDescriptor& device, size_t length, int protection, off_t offset,
                    long result) {
  Request request;
  request.ask = Ask::record_map;
  request.device = device.device;
  request.flags = device.flags;
  request.argument = static_cast<std::uint64_t>(offset);
  request.length = length;
  request.writable = (protection & PROT_WRITE) != 0;
  request.succeeded = result >= 0 || result < -4095;
  served(ask_session(session().folder, request));
  if (request.succeeded) remember_mapping(result);
}

void record_unmapping(size_t length) {
  Request request;
  request.ask = Ask::unmap;
  request.length = length;
  ask_session(session().folder, request);
}

}  // namespace

namespace neffld::shim {

long no_reading(int descriptor) {
  DeviceDescriptor device;
  is_device(descriptor, &device);
  return (device.flags & O_ACCMODE) == O_WRONLY ? -EBADF : -EINVAL;
}

long no_writing(int descriptor) {
  DeviceDescriptor device;
  is_device(descriptor, &device);
  return (device.flags & O_ACCMODE) == O_RDONLY ? -EBADF : -EINVAL;
}

}  // namespace neffld::shim

extern "C" int shim_ioctl(int descriptor, unsigned long command, ...) STANDS_FOR(ioctl);
ALSO_FOR(int shim_ioctl_time64(int descriptor, unsigned long command, ...), __ioctl_time64, ioctl);

int shim_ioctl(int descriptor, unsigned long command, ...) {
  va_list words;
  va_start(words, command);
  void* argument = va_arg(words, void*);
  va_end(words);
  if (!is_of_descriptor(command)) {
    DeviceDescriptor device;
    if (is_device(descriptor)) return told(device_ioctl(descriptor, command, argument));
    if (is_recorded_node(descriptor, device)) {
      return told(record_call(device, {descriptor, command, argument}));
    }
  }
  return NEXT(ioctl, int(int, unsigned long, ...))(descriptor, command, argument);
}

extern "C" void* shim_mmap(void* address, size_t length, int protection, int flags, int descriptor,
                           off_t offset) STANDS_FOR(mmap);
ALSO_FOR(void* shim_mmap64(void* address, size_t length, int protection, int flags, int descriptor,
                           off_t offset),
         mmap64, mmap);

void* shim_mmap(void* address, size_t length, int protection, int flags, int descriptor,
                off_t offset) {
  DeviceDescriptor device;
  const bool of_file = (flags & MAP_ANONYMOUS) == 0 && descriptor >= 0;
  if (of_file && is_device(descriptor, &device)) {
    const long result = device_mmap(address, length, protection, flags, descriptor, offset, device);
    return reinterpret_cast<void*>(told<long>(result));
  }
  if (of_file && is_recorded_node(descriptor, device)) {
    const long result = raw_call(SYS_mmap, address, length, protection, flags, descriptor, offset);
    if (kernel_refusal(device, length, protection, flags, offset) == 0) {
      record_mapping(device, length, protection, offset, result);
    }
    return reinterpret_cast<void*>(told<long>(result));
  }
  return reinterpret_cast<void*>(
      told<long>(raw_call(SYS_mmap, address, length, protection, flags, descriptor, offset)));
}

extern "C" int shim_munmap(void* address, size_t length) STANDS_FOR(munmap);
int shim_munmap(void* address, size_t length) {
  const long result = raw_call(SYS_munmap, address, length);
  if (result == 0 && forget_mapping(reinterpret_cast<long>(address))) {
    record_unmapping(length);
  }
  return told(result);
}

// --- reading and writing: the driver has neither

extern "C" ssize_t shim_read(int descriptor, void* bytes, size_t length) STANDS_FOR(read);
ssize_t shim_read(int descriptor, void* bytes, size_t length) {
  if (has_devices() && is_device(descriptor)) return told<ssize_t>(no_reading(descriptor));
  return NEXT(read, ssize_t(int, void*, size_t))(descriptor, bytes, length);
}

extern "C" ssize_t shim_read_chk(int descriptor, void* bytes, size_t length, size_t room)
    STANDS_FOR(__read_chk);
ssize_t shim_read_chk(int descriptor, void* bytes, size_t length, size_t room) {
  if (has_devices() && is_device(descriptor)) return told<ssize_t>(no_reading(descriptor));
  return NEXT(__read_chk, ssize_t(int, void*, size_t, size_t))(descriptor, bytes, length, room);
}

extern "C" ssize_t shim_pread(int descriptor, void* bytes, size_t length, off_t offset)
    STANDS_FOR(pread);
ALSO_FOR(ssize_t shim_pread64(int descriptor, void* bytes, size_t length, off_t offset), pread64,
         pread);
ssize_t shim_pread(int descriptor, void* bytes, size_t length, off_t offset) {
  if (has_devices() && is_device(descriptor)) return told<ssize_t>(no_reading(descriptor));
  return NEXT(pread, ssize_t(int, void*, size_t, off_t))(descriptor, bytes, length, offset);
}

extern "C" ssize_t shim_readv(int descriptor, const iovec* parts, int count) STANDS_FOR(readv);
ssize_t shim_readv(int descriptor, const iovec* parts, int count) {
  if (has_devices() && is_device(descriptor)) return told<ssize_t>(no_reading(descriptor));
  return NEXT(readv, ssize_t(int, const iovec*, int))(descriptor, parts, count);
}

extern "C" ssize_t shim_write(int descriptor, const void* bytes, size_t length) STANDS_FOR(write);
ssize_t shim_write(int descriptor, const void* bytes, size_t length) {
  if (has_devices() && is_device(descriptor)) return told<ssize_t>(no_writing(descriptor));
  return NEXT(write, ssize_t(int, const void*, size_t))(descriptor, bytes, length);
}

extern "C" ssize_t shim_pwrite(int descriptor, const void* bytes, size_t length, off_t offset)
    STANDS_FOR(pwrite);
ALSO_FOR(ssize_t shim_pwrite64(int descriptor, const void* bytes, size_t length, off_t offset),
         pwrite64, pwrite);
ssize_t shim_pwrite(int descriptor, const void* bytes, size_t length, off_t offset) {
  if (has_devices() && is_device(descriptor)) return told<ssize_t>(no_writing(descriptor));
  return NEXT(pwrite, ssize_t(int, const void*, size_t, off_t))(descriptor, bytes, length, offset);
}

extern "C" ssize_t shim_writev(int descriptor, const iovec* parts, int count) STANDS_FOR(writev);
ssize_t shim_writev(int descriptor, const iovec* parts, int count) {
  if (has_devices() && is_device(descriptor)) return told<ssize_t>(no_writing(descriptor));
  return NEXT(writev, ssize_t(int, const iovec*, int))(descriptor, parts, count);
}
