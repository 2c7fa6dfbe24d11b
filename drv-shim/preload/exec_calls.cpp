// SPDX-License-Identifier: MIT
// Wrappers of exec: children that this library cannot follow are named, once, when they start.
#include <alloca.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "next.hpp"
#include "raw_call.hpp"
#include "session.hpp"

using namespace neffld::shim;

namespace {

constexpr unsigned most_segments = 64;

bool read_at(long file, void* out, unsigned long bytes, unsigned long place) {
  return raw_call(SYS_pread64, file, out, bytes, place) == static_cast<long>(bytes);
}

/// Whether the dynamic linker loads libraries for a file: true also if that cannot be told.
bool has_interpreter(long file) {
  Elf64_Ehdr head;
  if (!read_at(file, &head, sizeof head, 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64) {
    return true;
  }
  for (unsigned i = 0; i < head.e_phnum && i < most_segments; ++i) {
    Elf64_Phdr segment;
    if (!read_at(file, &segment, sizeof segment, head.e_phoff + i * sizeof segment)) return true;
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

void warn_of(const char* path) {
  const long file = raw_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  if (raw_call(SYS_faccessat, AT_FDCWD, path, X_OK) == 0 && !has_interpreter(file)) {
    say(path,
        session().pass_through
            ? " is statically linked: its calls cannot be intercepted and are not recorded"
            : " is statically linked: it cannot be intercepted and sees no simulated devices");
  }
  raw_call(SYS_close, file);
}

/// The same for a name that is looked for in PATH.
void warn_of_name(const char* name) {
  if (strchr(name, '/') != nullptr) return warn_of(name);
  const char* at = getenv("PATH");
  while (at != nullptr && *at != 0) {
    const unsigned long length = strcspn(at, ":");
    char path[PATH_MAX];
    const int written = snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(length), at, name);
    if (written < PATH_MAX && raw_call(SYS_faccessat, AT_FDCWD, path, X_OK) == 0) {
      return warn_of(path);
    }
    at += length;
    if (*at == ':') ++at;
  }
}

using Exec = int(const char*, char* const*);
using ExecWith = int(const char*, char* const*, char* const*);
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*);

/// Calls `exec` with the words of an execl(3) call, from `first` to the null pointer, and with the
/// environment behind them, or ours.
template <class Call>
int exec_list(const char* first, va_list list, bool has_environment, Call exec) {
  va_list counted;
  va_copy(counted, list);
  unsigned long count = 1;
  for (const char* word = first; word != nullptr; ++count) word = va_arg(counted, const char*);
  va_end(counted);
  // On the stack: a child of vfork may call this.
  auto** words = static_cast<char**>(alloca(count * sizeof(char*)));
  words[0] = const_cast<char*>(first);
  for (unsigned long i = 1; i < count; ++i) words[i] = va_arg(list, char*);
  return exec(words, has_environment ? va_arg(list, char**) : environ);
}

}  // namespace

extern "C" int shim_execve(const char* path, char* const* words, char* const* environment)
    STANDS_FOR(execve);
int shim_execve(const char* path, char* const* words, char* const* environment) {
  warn_of(path);
  return NEXT(execve, ExecWith)(path, words, environment);
}

extern "C" int shim_execv(const char* path, char* const* words) STANDS_FOR(execv);
int shim_execv(const char* path, char* const* words) {
  warn_of(path);
  return NEXT(execv, Exec)(path, words);
}

extern "C" int shim_execvp(const char* name, char* const* words) STANDS_FOR(execvp);
int shim_execvp(const char* name, char* const* words) {
  warn_of_name(name);
  return NEXT(execvp, Exec)(name, words);
}

extern "C" int shim_execvpe(const char* name, char* const* words, char* const* environment)
    STANDS_FOR(execvpe);
int shim_execvpe(const char* name, char* const* words, char* const* environment) {
  warn_of_name(name);
  return NEXT(execvpe, ExecWith)(name, words, environment);
}

extern "C" int shim_posix_spawn(pid_t* child, const char* path,
                                const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const* words,
                                char* const* environment) STANDS_FOR(posix_spawn);
int shim_posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, char* const* words,
                     char* const* environment) {
  warn_of(path);
  return NEXT(posix_spawn, Spawn)(child, path, actions, attributes, words, environment);
}

extern "C" int shim_posix_spawnp(pid_t* child, const char* name,
                                 const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const* words,
                                 char* const* environment) STANDS_FOR(posix_spawnp);
int shim_posix_spawnp(pid_t* child, const char* name, const posix_spawn_file_actions_t* actions,
                      const posix_spawnattr_t* attributes, char* const* words,
                      char* const* environment) {
  warn_of_name(name);
  return NEXT(posix_spawnp, Spawn)(child, name, actions, attributes, words, environment);
}

// --- execl(3): the C library turns these into its own execve

extern "C" int shim_execl(const char* path, const char* first, ...) STANDS_FOR(execl);
int shim_execl(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = exec_list(first, list, false, [&](char** words, char** environment) {
    return shim_execve(path, words, environment);
  });
  va_end(list);
  return result;
}

extern "C" int shim_execle(const char* path, const char* first, ...) STANDS_FOR(execle);
int shim_execle(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = exec_list(first, list, true, [&](char** words, char** environment) {
    return shim_execve(path, words, environment);
  });
  va_end(list);
  return result;
}

extern "C" int shim_execlp(const char* name, const char* first, ...) STANDS_FOR(execlp);
int shim_execlp(const char* name, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = exec_list(first, list, false, [&](char** words, char** environment) {
    return shim_execvpe(name, words, environment);
  });
  va_end(list);
  return result;
}
