/* SPDX-License-Identifier: MIT */
/* Devices as files: paths, descriptors, folders, sysfs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "client.h"

static const unsigned device_count = 2;

void test_open(void) {
  struct open_how how = {.flags = O_RDWR};
  char path[32];
  unsigned device;
  int fd, folder;

  for (device = 0; device < device_count; device++) {
    struct neuron_host_device_id id = {~0u};

    snprintf(path, sizeof path, "/dev/neuron%u", device);
    fd = open(path, read_write | O_CLOEXEC);
    CHECK(fd >= 0 && answers(fd));
    CHECK(ioctl(fd, NEURON_IOCTL_HOST_DEVICE_ID, &id) == 0 && id.host_device_id == device);
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(close(fd) == 0);
  }
  snprintf(path, sizeof path, "/dev/neuron%u", device_count);
  CHECK(open(path, read_write) == -1 && errno == ENOENT);
  CHECK(access(path, F_OK) == -1 && errno == ENOENT);

  fd = openat(AT_FDCWD, "/dev//./neuron0", read_only);
  CHECK(fd >= 0 && answers(fd) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY);
  CHECK(fcntl(fd, F_GETFD) == 0);
  CHECK(close(fd) == 0);
  folder = open("/dev", O_RDONLY | O_DIRECTORY);
  fd = openat(folder, "neuron0", write_only);
  CHECK(fd >= 0 && answers(fd) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY);
  CHECK(close(fd) == 0);
  CHECK(openat(folder, path + 5, read_only) == -1 && errno == ENOENT);
  close(folder);
  CHECK(open(NODE, O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
  CHECK(open(NODE, O_RDONLY | O_DIRECTORY) == -1 && errno == ENOTDIR);
  fd = creat(NODE, 0600);
  CHECK(fd >= 0 && answers(fd));
  close(fd);
  fd = (int)syscall(SYS_openat, AT_FDCWD, NODE, O_RDWR, 0);
  CHECK(fd >= 0 && answers(fd));
  CHECK(syscall(SYS_close, fd) == 0 && close(fd) == -1 && errno == EBADF);
  fd = (int)syscall(SYS_openat2, AT_FDCWD, NODE, &how, sizeof how);
  CHECK(fd >= 0 && answers(fd));
  close(fd);
}

/* What the kernel and the driver answer to calls that are not for them. */
void test_descriptor(void) {
  int fd = open(NODE, read_write);
  int reader = open(NODE, read_only);
  struct pollfd ready = {fd, POLLIN | POLLOUT, 0};
  struct epoll_event event = {.events = EPOLLIN};
  int epoll = epoll_create1(0);
  char byte = 0, link[64] = "", path[64];

  CHECK(read(fd, &byte, one) == -1 && errno == EINVAL);
  CHECK(write(fd, &byte, 1) == -1 && errno == EINVAL);
  CHECK(write(reader, &byte, 1) == -1 && errno == EBADF);
  CHECK(pread(fd, &byte, 1, 0) == -1 && errno == EINVAL);
  CHECK(lseek(fd, 0, SEEK_CUR) == -1 && errno == ESPIPE);
  CHECK(poll(&ready, 1, 0) == 1 && ready.revents == (POLLIN | POLLOUT));
  CHECK(poll(&ready, 1, 0) == 1 && ready.revents == (POLLIN | POLLOUT));
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == -1 && errno == EPERM);
  CHECK(isatty(fd) == 0 && answers(fd));
  CHECK(ioctl(fd, 0x12345678, &byte) == -1 && errno == EINVAL);
  CHECK(ioctl(fd, FIOCLEX) == 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  CHECK(readlink(path, link, 62 + one) == (ssize_t)strlen(NODE) && !strcmp(link, NODE));
  close(epoll);
  close(reader);
  close(fd);
}

/* Descriptors are the kernel's: numbers, copies and ranges behave. */
void test_copies(void) {
  uint64_t handle = 0, other = 0;
  int fd = open(NODE, read_write);
  int second, high;

  CHECK(alloc(fd, 4096, &handle) == 0);
  second = dup(fd);
  CHECK(second == fd + 1 && answers(second)); /* the lowest numbers there are */
  high = fcntl(fd, F_DUPFD_CLOEXEC, 100);
  CHECK(high >= 100 && fcntl(high, F_GETFD) == FD_CLOEXEC && answers(high));
  CHECK(dup2(fd, 90) == 90 && answers(90) && address_of(90, handle) != ~0ull);
  CHECK(dup3(fd, 91, O_CLOEXEC) == 91 && answers(91));
  /* Opened once, closed twice: the driver takes the process for gone (its own rule). */
  CHECK(close(91) == 0);
  CHECK(alloc(fd, 4096, &other) == -1 && errno == EACCES);
  CHECK(syscall(SYS_close_range, 80u, 120u, 0u) == 0);
  CHECK(fcntl(90, F_GETFD) == -1 && errno == EBADF);
  CHECK(close(second) == 0);
  CHECK(close(fd) == 0);

  /* dup2 over a device closes it: its memory is free again. */
  fd = open(NODE, read_write);
  CHECK(alloc(fd, 4096, &handle) == 0);
  second = open(NODE, write_only);
  CHECK(dup2(second, fd) == fd);
  high = open(NODE, read_write);
  CHECK(alloc(high, 4096, &other) == 0 && other == handle);
  close(second);
  close(fd);
  close(high);
}

void test_stat(void) {
  struct stat status;
  struct statx wide;
  char resolved[PATH_MAX] = "";
  char name[64];
  int fd = open(NODE, read_only);
  int folder = open("/dev", O_RDONLY | O_DIRECTORY);

  CHECK(stat(NODE, &status) == 0 && is_node(&status, 0));
  CHECK(lstat("/dev/neuron1", &status) == 0 && is_node(&status, 1));
  CHECK(fstat(fd, &status) == 0 && is_node(&status, 0));
  CHECK(fstatat(folder, "neuron1", &status, 0) == 0 && is_node(&status, 1));
  CHECK(fstatat(fd, "", &status, AT_EMPTY_PATH) == 0 && is_node(&status, 0));
  CHECK(statx(AT_FDCWD, NODE, 0, STATX_BASIC_STATS, &wide) == 0 && S_ISCHR(wide.stx_mode));
  CHECK(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &wide) == 0 && wide.stx_rdev_minor == 0);
  CHECK(access(NODE, R_OK | W_OK) == 0 && access(NODE, X_OK) == -1 && errno == EACCES);
  CHECK(faccessat(folder, "neuron0", R_OK, 0) == 0 && euidaccess(NODE, R_OK) == 0);
  CHECK(readlink(NODE, name, sizeof name) == -1 && errno == EINVAL);
  CHECK(realpath("/dev/./neuron0", resolved) != NULL && !strcmp(resolved, NODE));
  CHECK(stat("/dev/null", &status) == 0 && fstat(folder, &status) == 0 && S_ISDIR(status.st_mode));
  close(folder);
  close(fd);
}

static int is_neuron(const struct dirent* entry) {
  return !strncmp(entry->d_name, "neuron", 6);
}

static unsigned count_nodes(DIR* folder) {
  const struct dirent* entry;
  unsigned found = 0, others = 0;

  while ((entry = readdir(folder))) {
    found += (unsigned)is_neuron(entry);
    others += !strcmp(entry->d_name, "null");
  }
  CHECK(others == 1);
  return found;
}

void test_folders(void) {
  struct dirent** list = NULL;
  glob_t found = {0};
  DIR* folder = opendir("/dev");
  int entries;

  CHECK(count_nodes(folder) == device_count);
  rewinddir(folder);
  CHECK(count_nodes(folder) == device_count);
  closedir(folder);
  folder = fdopendir(open("/dev", O_RDONLY | O_DIRECTORY));
  CHECK(count_nodes(folder) == device_count);
  closedir(folder);
  entries = scandir("/dev", &list, is_neuron, alphasort);
  CHECK(entries == (int)device_count && !strcmp(list[1]->d_name, "neuron1"));
  while (entries > 0) free(list[--entries]);
  free(list);
  CHECK(glob("/dev/neuron*", 0, NULL, &found) == 0 && found.gl_pathc == device_count);
  globfree(&found);
  entries = scandir("/sys/class/neuron_device", &list, is_neuron, alphasort);
  CHECK(entries == (int)device_count);
  while (entries > 0) free(list[--entries]);
  free(list);
}

void test_sysfs(void) {
  char text[256] = "", number[64], path[128];
  struct stat status;
  uint64_t handle;
  ssize_t got;
  int fd, device;

  read_fact("/sys/class/neuron_device/neuron1/core_count", text, sizeof text);
  CHECK(atoi(text) == 2 || atoi(text) == 8);
  read_fact("/sys/module/neuron/version", text, sizeof text);
  CHECK(!strncmp(text, "2.", 2));
  CHECK(stat(NODE, &status) == 0);
  snprintf(number, sizeof number, "%u:%u", major(status.st_rdev), minor(status.st_rdev));
  read_fact("/sys/class/neuron_device/neuron0/dev", text, sizeof text);
  CHECK(!strncmp(text, number, strlen(number)));
  snprintf(path, sizeof path, "/sys/dev/char/%s/subsystem", number);
  got = readlink(path, text, sizeof text - 1);
  CHECK(got > 0);
  text[got > 0 ? got : 0] = 0;
  CHECK(strstr(text, "class/neuron_device") != NULL);
  CHECK(realpath("/sys/class/neuron_device/neuron0", NULL) != NULL);

  /* Attributes say what is so now. */
  read_fact(PRESENT, text, sizeof text);
  CHECK(!strcmp(text, "0") || !strcmp(text, "0\n"));
  device = open(NODE, read_write);
  CHECK(alloc(device, 8192, &handle) == 0);
  fd = open(PRESENT, O_RDONLY);
  got = read(fd, text, sizeof text - 1);
  CHECK(got > 0);
  text[got > 0 ? got : 0] = 0;
  CHECK(atoi(text) == 8192);
  close(fd);
  close(device);
  CHECK(access("/sys/class/neuron_device/neuron7", F_OK) == -1 && errno == ENOENT);
}
