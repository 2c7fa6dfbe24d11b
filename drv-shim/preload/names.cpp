// SPDX-License-Identifier: MIT
#include "names.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "link.hpp"
#include "raw_call.hpp"
#include "session.hpp"

namespace neffld::shim {
namespace {

bool tree_folders = false;

bool starts_with(const char* text, const char* prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/// Whether `path` is `folder` or below it.
bool is_below(const char* path, const char* folder) {
  const unsigned long length = strlen(folder);
  return strncmp(path, folder, length) == 0 && (path[length] == 0 || path[length] == '/');
}

long read_link(const char* path, char* out) {
  const long length = raw_call(SYS_readlinkat, AT_FDCWD, path, out, PATH_MAX - 1);
  if (length >= 0) out[length] = 0;
  return length;
}

/// The folder relative paths start from.
bool base_of(int folder, char* out) {
  if (folder == AT_FDCWD) return raw_call(SYS_getcwd, out, PATH_MAX) > 0;
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  return read_link(link, out) > 0 && out[0] == '/';
}

/// Adds the parts of `path` to the absolute path in `out`.
bool add_parts(const char* path, char* out, unsigned long used) {
  while (*path != 0) {
    while (*path == '/') ++path;
    const unsigned long length = strcspn(path, "/");
    if (length == 0) break;
    if (length == 2 && path[0] == '.' && path[1] == '.') {
      while (used > 0 && out[--used] != '/') {
      }
    } else if (length != 1 || path[0] != '.') {
      if (used + length + 2 > PATH_MAX) return false;
      out[used++] = '/';
      memcpy(out + used, path, length);
      used += length;
    }
    path += length;
  }
  if (used == 0) out[used++] = '/';
  out[used] = 0;
  return true;
}

/// Most paths are none of ours; this tells so without a system call.
bool may_be_ours(int folder, const char* path) {
  if (strstr(path, "neuron") != nullptr) return true;
  if (path[0] == '/') return starts_with(path, "/sys/dev/char/") || starts_with(path, "/dev/char/");
  return __atomic_load_n(&tree_folders, __ATOMIC_RELAXED) && (folder == AT_FDCWD || *path != 0);
}

/// The index in "MAJOR:INDEX" with the nodes' major, or -1.
long index_of(const char* text) {
  char major[16];
  snprintf(major, sizeof major, "%u:", node_major);
  if (!starts_with(text, major)) return -1;
  const char* at = text + strlen(major);
  if (*at < '0' || *at > '9') return -1;
  long number = 0;
  for (; *at >= '0' && *at <= '9' && number < 1000; ++at) number = number * 10 + (*at - '0');
  return *at == 0 || *at == '/' ? number : -1;
}

bool is_tree_path(const char* path) {
  static const char* const folders[] = {"/sys/class/neuron_device", "/sys/module/neuron",
                                        "/sys/devices/virtual/neuron_device"};
  for (const char* folder : folders) {
    if (is_below(path, folder)) return true;
  }
  return starts_with(path, "/sys/dev/char/") && index_of(path + strlen("/sys/dev/char/")) >= 0;
}

Kind as_node(long number, Name& name) {
  if (number < 0) return Kind::other;
  name.device = static_cast<unsigned>(number);
  return name.device < session().count ? Kind::node : Kind::gone;
}

void add_slash(char* path) {
  const unsigned long length = strlen(path);
  if (length + 1 < PATH_MAX) strcpy(path + length, "/");
}

/// `absolute` has no dots and no double slashes.
Kind classify_absolute(const char* absolute, Name& name) {
  const Session& own = session();
  const bool inside = is_below(absolute, own.folder);  // which may be in /dev/shm
  if (!inside && starts_with(absolute, "/dev/char/")) return as_node(index_of(absolute + 10), name);
  if (!inside && starts_with(absolute, "/dev/")) return as_node(node_number(absolute + 5), name);
  if (!inside && !is_tree_path(absolute)) return Kind::other;
  const int length =
      snprintf(name.path, sizeof name.path, "%s%s", inside ? "" : own.folder, absolute);
  return length > 0 && length < PATH_MAX ? Kind::tree : Kind::other;
}

}  // namespace

Kind classify(int folder, const char* path, Name& name) {
  name.kind = Kind::other;
  if (path == nullptr || !may_be_ours(folder, path) || session().pass_through) return name.kind;
  const int error = errno;
  char absolute[PATH_MAX];
  if (make_absolute(folder, path, absolute)) name.kind = classify_absolute(absolute, name);
  // A slash at the end asks for the folder behind a link.
  const unsigned long length = strlen(path);
  if (name.kind == Kind::tree && length > 0 && path[length - 1] == '/') add_slash(name.path);
  errno = error;
  return name.kind;
}

Kind look_up(int folder, const char* path, Name& name) {
  if (classify(folder, path, name) != Kind::tree) return name.kind;
  const Session& own = session();
  Request request;
  request.ask = Ask::refresh;
  const char* below = name.path + strlen(own.folder);
  if (strlen(below) < sizeof request.path) {
    strcpy(request.path, below);
    served(ask_session(own.folder, request));
  }
  return name.kind;
}

bool make_absolute(int folder, const char* path, char* out) {
  unsigned long used = 0;
  if (path[0] != '/') {
    if (!base_of(folder, out)) return false;
    used = strlen(out);
    if (used == 1) used = 0;  // the root
  }
  return add_parts(path, out, used);
}

unsigned long node_path(unsigned device, char* out) {
  return static_cast<unsigned long>(sprintf(out, "/dev/neuron%u", device));
}

long node_number(const char* name) {
  if (!starts_with(name, "neuron")) return -1;
  const char* at = name + 6;
  if (*at < '0' || *at > '9' || (*at == '0' && at[1] != 0)) return -1;
  long number = 0;
  for (; *at >= '0' && *at <= '9' && number < 100000; ++at) number = number * 10 + (*at - '0');
  return *at == 0 ? number : -1;
}

long real_node(int descriptor) {
  struct stat status;
  if (raw_call(SYS_fstat, descriptor, &status) != 0 || !S_ISCHR(status.st_mode)) return -1;
  char link[40], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  return read_link(link, path) > 0 && starts_with(path, "/dev/") ? node_number(path + 5) : -1;
}

bool leave_tree(const char* path, const char** out) {
  const Session& own = session();
  if (own.folder[0] == 0 || !is_below(path, own.folder)) return false;
  *out = path + strlen(own.folder);
  return **out != 0;
}

void note_tree_folder() {
  __atomic_store_n(&tree_folders, true, __ATOMIC_RELAXED);
}

}  // namespace neffld::shim
