// SPDX-License-Identifier: MIT
// Wrappers of reading folders. Folders below the devices' own place in sysfs are real ones of the
// session. In /dev, /sys/class and /sys/module the real entries stay, those of real devices go, and
// the session's come last.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_calls.hpp"
#include "names.hpp"
#include "next.hpp"
#include "raw_call.hpp"
#include "session.hpp"

using namespace neffld::shim;

namespace {

enum class Place { system, nodes, classes, modules };

Place place_of(const char* absolute) {
  if (strcmp(absolute, "/dev") == 0) return Place::nodes;
  if (strcmp(absolute, "/sys/class") == 0) return Place::classes;
  if (strcmp(absolute, "/sys/module") == 0) return Place::modules;
  return Place::system;
}

/// A folder whose entries are changed.
struct Changed {
  DIR* folder;  ///< null = free
  Place place;
  unsigned told;  ///< entries of ours that were given
  dirent entry;
};

// Folders read at one time; of more the real entries are seen.
Changed changed[32];
bool any_changed = false;

Changed* find(DIR* folder) {
  if (!__atomic_load_n(&any_changed, __ATOMIC_ACQUIRE)) return nullptr;
  for (Changed& one : changed) {
    if (__atomic_load_n(&one.folder, __ATOMIC_ACQUIRE) == folder) return &one;
  }
  return nullptr;
}

void change(DIR* folder, Place place) {
  if (folder == nullptr || place == Place::system || session().pass_through) return;
  __atomic_store_n(&any_changed, true, __ATOMIC_RELEASE);
  for (Changed& one : changed) {
    DIR* none = nullptr;
    if (__atomic_compare_exchange_n(&one.folder, &none, folder, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      one.place = place;
      one.told = 0;
      return;
    }
  }
}

bool is_hidden(Place place, const char* name) {
  switch (place) {
    case Place::nodes:
      return node_number(name) >= 0;
    case Place::classes:
      return strcmp(name, "neuron_device") == 0;
    case Place::modules:
      return strcmp(name, "neuron") == 0;
    case Place::system:
      break;
  }
  return false;
}

/// The next entry of ours, or null.
dirent* next_own(Changed& folder) {
  const unsigned count = folder.place == Place::nodes ? session().count : session().alive ? 1 : 0;
  if (folder.told >= count) return nullptr;
  dirent& entry = folder.entry;
  entry = {};
  entry.d_ino = 1000000 + folder.told;
  entry.d_off = 0x7FFFFFFF;
  entry.d_reclen = sizeof entry;
  entry.d_type = folder.place == Place::nodes ? DT_CHR : DT_DIR;
  if (folder.place == Place::nodes)
    snprintf(entry.d_name, sizeof entry.d_name, "neuron%u", folder.told);
  if (folder.place == Place::classes) strcpy(entry.d_name, "neuron_device");
  if (folder.place == Place::modules) strcpy(entry.d_name, "neuron");
  ++folder.told;
  return &entry;
}

DIR* open_folder(const char* path) {
  const auto real = NEXT(opendir, DIR * (const char*));
  Name name;
  switch (look_up(AT_FDCWD, path, name)) {
    case Kind::node:
      errno = ENOTDIR;
      return nullptr;
    case Kind::gone:
      errno = ENOENT;
      return nullptr;
    case Kind::tree:
      note_tree_folder();
      return real(name.path);
    case Kind::other:
      break;
  }
  DIR* folder = real(path);
  const int error = errno;
  char absolute[PATH_MAX];
  if (folder != nullptr && make_absolute(AT_FDCWD, path, absolute)) {
    change(folder, place_of(absolute));
  }
  errno = error;
  return folder;
}

dirent* read_folder(DIR* folder) {
  const auto real = NEXT(readdir, dirent * (DIR*));
  Changed* own = find(folder);
  if (own == nullptr) return real(folder);
  for (;;) {
    dirent* entry = own->told == 0 ? real(folder) : nullptr;
    if (entry == nullptr) return next_own(*own);
    if (!is_hidden(own->place, entry->d_name)) return entry;
  }
}

int close_folder(DIR* folder) {
  if (Changed* own = find(folder); own != nullptr) {
    __atomic_store_n(&own->folder, static_cast<DIR*>(nullptr), __ATOMIC_RELEASE);
  }
  return NEXT(closedir, int(DIR*))(folder);
}

using Filter = int(const dirent*);
using Compare = int(const dirent**, const dirent**);

/// scandir(3) over our readdir.
int scan(DIR* folder, dirent*** out, Filter* filter, Compare* compare) {
  if (folder == nullptr) return -1;
  dirent** list = nullptr;
  size_t count = 0, room = 0;
  for (dirent* entry; (entry = read_folder(folder)) != nullptr;) {
    if (filter != nullptr && filter(entry) == 0) continue;
    if (count == room) {
      room = room == 0 ? 16 : 2 * room;
      // NOLINTNEXTLINE(bugprone-sizeof-expression): the list is one of pointers
      auto* more = static_cast<dirent**>(realloc(list, room * sizeof *list));
      if (more == nullptr) break;
      list = more;
    }
    list[count] = static_cast<dirent*>(malloc(sizeof(dirent)));
    if (list[count] == nullptr) break;
    memcpy(list[count], entry, entry->d_reclen);
    ++count;
  }
  close_folder(folder);
  if (compare != nullptr && count > 1) {
    // NOLINTNEXTLINE(bugprone-sizeof-expression)
    qsort(list, count, sizeof *list, reinterpret_cast<int (*)(const void*, const void*)>(compare));
  }
  *out = list;
  return static_cast<int>(count);
}

DIR* open_folder_at(int folder, const char* path) {
  const int descriptor = shim_openat(folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  return fdopendir(descriptor);  // ours
}

}  // namespace

extern "C" DIR* shim_opendir(const char* path) STANDS_FOR(opendir);
DIR* shim_opendir(const char* path) {
  return open_folder(path);
}

extern "C" DIR* shim_fdopendir(int descriptor) STANDS_FOR(fdopendir);
DIR* shim_fdopendir(int descriptor) {
  DIR* folder = NEXT(fdopendir, DIR * (int))(descriptor);
  const int error = errno;
  char absolute[PATH_MAX];
  if (folder != nullptr && make_absolute(descriptor, ".", absolute)) {
    change(folder, place_of(absolute));
  }
  errno = error;
  return folder;
}

extern "C" dirent* shim_readdir(DIR* folder) STANDS_FOR(readdir);
ALSO_FOR(dirent* shim_readdir64(DIR* folder), readdir64, readdir);
dirent* shim_readdir(DIR* folder) {
  return read_folder(folder);
}

extern "C" int shim_readdir_r(DIR* folder, dirent* room, dirent** out) STANDS_FOR(readdir_r);
ALSO_FOR(int shim_readdir64_r(DIR* folder, dirent* room, dirent** out), readdir64_r, readdir_r);
int shim_readdir_r(DIR* folder, dirent* room, dirent** out) {
  if (find(folder) == nullptr) {
    return NEXT(readdir_r, int(DIR*, dirent*, dirent**))(folder, room, out);
  }
  const dirent* entry = read_folder(folder);
  if (entry != nullptr) memcpy(room, entry, entry->d_reclen);
  *out = entry != nullptr ? room : nullptr;
  return 0;
}

extern "C" void shim_rewinddir(DIR* folder) STANDS_FOR(rewinddir);
void shim_rewinddir(DIR* folder) {
  if (Changed* own = find(folder); own != nullptr) own->told = 0;
  NEXT(rewinddir, void(DIR*))(folder);
}

extern "C" int shim_closedir(DIR* folder) STANDS_FOR(closedir);
int shim_closedir(DIR* folder) {
  return close_folder(folder);
}

extern "C" int shim_scandir(const char* path, dirent*** out, Filter* filter, Compare* compare)
    STANDS_FOR(scandir);
ALSO_FOR(int shim_scandir64(const char* path, dirent*** out, Filter* filter, Compare* compare),
         scandir64, scandir);
int shim_scandir(const char* path, dirent*** out, Filter* filter, Compare* compare) {
  return scan(open_folder(path), out, filter, compare);
}

extern "C" int shim_scandirat(int folder, const char* path, dirent*** out, Filter* filter,
                              Compare* compare) STANDS_FOR(scandirat);
ALSO_FOR(int shim_scandirat64(int folder, const char* path, dirent*** out, Filter* filter,
                              Compare* compare),
         scandirat64, scandirat);
int shim_scandirat(int folder, const char* path, dirent*** out, Filter* filter, Compare* compare) {
  return scan(open_folder_at(folder, path), out, filter, compare);
}

// glob(3) reads folders inside the C library unless it is told who else does.
extern "C" int shim_glob(const char* pattern, int flags, int (*failed)(const char*, int),
                         glob_t* out) STANDS_FOR(glob);
ALSO_FOR(int shim_glob64(const char* pattern, int flags, int (*failed)(const char*, int),
                         glob_t* out),
         glob64, glob);
int shim_glob(const char* pattern, int flags, int (*failed)(const char*, int), glob_t* out) {
  const auto real = NEXT(glob, int(const char*, int, int (*)(const char*, int), glob_t*));
  if (flags & GLOB_ALTDIRFUNC) return real(pattern, flags, failed, out);
  out->gl_opendir = [](const char* path) -> void* { return open_folder(path); };
  out->gl_readdir = [](void* folder) { return read_folder(static_cast<DIR*>(folder)); };
  out->gl_closedir = [](void* folder) { close_folder(static_cast<DIR*>(folder)); };
  out->gl_stat = [](const char* path, struct stat* status) {
    return shim_fstatat(AT_FDCWD, path, status, 0);
  };
  out->gl_lstat = [](const char* path, struct stat* status) {
    return shim_fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
  };
  const int result = real(pattern, flags | GLOB_ALTDIRFUNC, failed, out);
  out->gl_flags &= ~GLOB_ALTDIRFUNC;
  return result;
}

extern "C" int shim_chdir(const char* path) STANDS_FOR(chdir);
int shim_chdir(const char* path) {
  Name name;
  const auto real = NEXT(chdir, int(const char*));
  if (look_up(AT_FDCWD, path, name) != Kind::tree) return real(path);
  note_tree_folder();
  return real(name.path);
}

// --- streams: fopen(3) opens inside the C library

namespace {

/// What fopen's mode means to open(2).
int flags_of(const char* mode) {
  const bool both = strchr(mode, '+') != nullptr;
  int flags = *mode == 'r' ? 0 : O_CREAT | (*mode == 'w' ? O_TRUNC : O_APPEND);
  flags |= both ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
  if (strchr(mode, 'e') != nullptr) flags |= O_CLOEXEC;
  if (strchr(mode, 'x') != nullptr) flags |= O_EXCL;
  return flags;
}

FILE* open_stream(const char* path, const char* mode) {
  const auto real = NEXT(fopen, FILE * (const char*, const char*));
  Name name;
  switch (look_up(AT_FDCWD, path, name)) {
    case Kind::node: {
      const long descriptor = open_node(name.device, flags_of(mode));
      if (descriptor >= 0) return fdopen(static_cast<int>(descriptor), mode);
      errno = static_cast<int>(-descriptor);
      return nullptr;
    }
    case Kind::gone:
      errno = ENOENT;
      return nullptr;
    case Kind::tree:
      return real(name.path, mode);
    case Kind::other:
      break;
  }
  return real(path, mode);
}

}  // namespace

extern "C" FILE* shim_fopen(const char* path, const char* mode) STANDS_FOR(fopen);
ALSO_FOR(FILE* shim_fopen64(const char* path, const char* mode), fopen64, fopen);
FILE* shim_fopen(const char* path, const char* mode) {
  return open_stream(path, mode);
}

extern "C" FILE* shim_freopen(const char* path, const char* mode, FILE* stream) STANDS_FOR(freopen);
ALSO_FOR(FILE* shim_freopen64(const char* path, const char* mode, FILE* stream), freopen64,
         freopen);
FILE* shim_freopen(const char* path, const char* mode, FILE* stream) {
  Name name;
  const Kind kind = path != nullptr ? look_up(AT_FDCWD, path, name) : Kind::other;
  if (kind == Kind::node || kind == Kind::gone) {
    errno = kind == Kind::gone ? ENOENT : EINVAL;  // a stream of a device has nothing to say
    return nullptr;
  }
  return NEXT(freopen, FILE * (const char*, const char*, FILE*))(
      kind == Kind::tree ? name.path : path, mode, stream);
}
