// SPDX-License-Identifier: MIT
#include "session.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link.hpp"
#include "names.hpp"
#include "raw_call.hpp"

namespace neffld::shim {
namespace {

enum State : int { fresh, busy, ready };

int state = fresh;
bool devices = false;
Session the_session;

constexpr char server_name[] = "/neuron-shim-server";
constexpr unsigned long path_room = 4096;

[[noreturn]] void give_up() {
  raw_call(SYS_exit_group, 2);
  __builtin_unreachable();
}

/// The server beside this library; false if the path is too long.
bool find_server(char* path) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&find_server), &info) == 0) return false;
  const char* slash = strrchr(info.dli_fname, '/');
  if (slash == nullptr) return false;
  const unsigned long length = static_cast<unsigned long>(slash - info.dli_fname);
  if (length + sizeof server_name > path_room) return false;
  memcpy(path, info.dli_fname, length);
  memcpy(path + length, server_name, sizeof server_name);
  return true;
}

/// The environment without this library, which the server must not stand behind.
void copy_environment(char** out, unsigned long room) {
  unsigned long used = 0;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (strncmp(*variable, "LD_PRELOAD=", 11) != 0 && used + 1 < room) out[used++] = *variable;
  }
  out[used] = nullptr;
}

/// Becomes the server: a grandchild, so that the program never sees a child it did not make.
[[noreturn]] void become_server(const char* path, char** environment, const char* owner, int out) {
  if (raw_call(SYS_clone, SIGCHLD, 0, 0, 0, 0) != 0) raw_call(SYS_exit_group, 0);
  raw_call(SYS_setsid);
  const long null = raw_call(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY);
  raw_call(SYS_dup3, null, 0, 0);
  raw_call(SYS_dup3, out, 1, 0);
  raw_call(SYS_close_range, 3u, ~0u, 0u);
  const char* const words[] = {path, "--owner", owner, nullptr};
  raw_call(SYS_execve, path, words, environment);
  raw_call(SYS_exit_group, 127);
  __builtin_unreachable();
}

void write_number(char* out, long number) {
  char digits[24];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (count > 0) *out++ = digits[--count];
  *out = 0;
}

/// Reads the server's folder, a line, from the pipe; false if it ended without.
bool read_folder(int from) {
  unsigned long used = 0;
  for (;;) {
    char letter = 0;
    const long got = raw_call(SYS_read, from, &letter, 1);
    if (got == -EINTR) continue;
    if (got <= 0 || used + 1 >= sizeof the_session.folder) return false;
    if (letter == '\n') return used != 0;
    the_session.folder[used++] = letter;
  }
}

void start_server() {
  char path[path_room];
  char* environment[1024];
  char owner[24];
  int pipe[2];
  if (!find_server(path)) {
    say("the server beside the library cannot be found");
    give_up();
  }
  copy_environment(environment, sizeof environment / sizeof environment[0]);
  write_number(owner, raw_call(SYS_getpid));
  if (const long error = raw_call(SYS_pipe2, pipe, O_CLOEXEC); error != 0) {
    say("the server cannot be started: ", strerror(static_cast<int>(-error)));
    give_up();
  }
  const long child = raw_call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) become_server(path, environment, owner, pipe[1]);
  raw_call(SYS_close, pipe[1]);
  while (child > 0 && raw_call(SYS_wait4, child, nullptr, 0, nullptr) == -EINTR) {
  }
  const bool told = child > 0 && read_folder(pipe[0]);
  raw_call(SYS_close, pipe[0]);
  if (told) {
    setenv(session_variable, the_session.folder, 1);
    return;
  }
  // The server has said why, if it came that far.
  say("there are no simulated devices; the program is not run");
  give_up();
}

/// Descriptors of devices inherited through exec.
void find_inherited() {
  for (int descriptor = 0; descriptor < 256 && !devices; ++descriptor) {
    devices = is_device(descriptor);
  }
}

void join() {
  const char* folder = getenv(session_variable);
  if (folder == nullptr || *folder == 0) {
    start_server();
  } else if (strlen(folder) < sizeof the_session.folder) {
    strcpy(the_session.folder, folder);
    find_inherited();
  }
  Hello hello;
  const long error = ask_hello(the_session.folder, &hello);
  if (error != 0) {
    say("the session's devices are gone: ", strerror(static_cast<int>(-error)),
        "; this process sees none");
    return;
  }
  the_session.alive = true;
  the_session.count = hello.count;
  the_session.pass_through = hello.pass_through != 0;
  the_session.traced = hello.traced != 0;
}

/// A child of a program that went into the session's sysfs is there from the start.
void find_own_folder() {
  char path[path_room];
  const char* known = nullptr;
  const bool found = raw_call(SYS_getcwd, path, sizeof path) > 0;
  if (found && leave_tree(path, &known)) note_tree_folder();
}

__attribute__((constructor)) void begin() {
  session();
  find_own_folder();
}

}  // namespace

const Session& session() {
  int expected = fresh;
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == ready) return the_session;
  if (__atomic_compare_exchange_n(&state, &expected, busy, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    const int error = errno;
    join();
    errno = error;
    __atomic_store_n(&state, ready, __ATOMIC_RELEASE);
    return the_session;
  }
  while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != ready) raw_call(SYS_sched_yield);
  return the_session;
}

bool has_devices() {
  return __atomic_load_n(&devices, __ATOMIC_RELAXED);
}

void note_devices() {
  __atomic_store_n(&devices, true, __ATOMIC_RELAXED);
}

long served(long result) {
  static bool said = false;
  if (result == -EIO && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED)) {
    say(session().pass_through
            ? "the recorder has gone: the program goes on, and the trace ends here"
            : "the server of the devices has gone: every call fails with EIO; start the program "
              "anew for fresh devices");
  }
  return result;
}

void say(const char* text, const char* what, const char* rest) {
  const iovec parts[] = {{const_cast<char*>("neuron_shim: "), 13},
                         {const_cast<char*>(text), strlen(text)},
                         {const_cast<char*>(what), strlen(what)},
                         {const_cast<char*>(rest), strlen(rest)},
                         {const_cast<char*>("\n"), 1}};
  raw_call(SYS_writev, STDERR_FILENO, parts, sizeof parts / sizeof parts[0]);
}

}  // namespace neffld::shim
