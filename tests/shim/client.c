/* SPDX-License-Identifier: MIT */
/*
 * A program that uses Neuron devices through the C library as other people's programs do, and
 * checks that each call answers as on a real node. Compiled in several ways (meson.build): with and
 * without _FORTIFY_SOURCE and _FILE_OFFSET_BITS the same source calls different functions.
 *
 *   client PART...               on a machine of two devices
 *   client work DEVICE ROUNDS    one of many clients; ROUNDS 0: until a call fails
 *   client execl|execle|execlp PROGRAM WORD    becomes the program
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "neuron_abi/ioctl.h"

#define NODE "/dev/neuron0"

static const unsigned device_count = 2;
static int failures;

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
      failures++;                                                               \
    }                                                                           \
  } while (0)

/* The compiler must not know these, or it picks the unchecked functions. */
static volatile int read_write = O_RDWR;
static volatile int read_only = O_RDONLY;
static volatile int write_only = O_WRONLY;
static volatile size_t one = 1;

static int alloc(int fd, uint64_t bytes, uint64_t* handle) {
  struct neuron_mem_alloc_v2mt64 argument = {.size = bytes,
                                             .mem_type = NEURON_MEM_TENSORS_DEVICE,
                                             .mem_handle_ptr = (uint64_t)(uintptr_t)handle};

  return ioctl(fd, NEURON_IOCTL_MEM_ALLOC_V2MT64, &argument);
}

static int copy(int fd, uint64_t handle, void* bytes, uint64_t size, int in) {
  struct neuron_mem_buf_copy64 argument = {.mem_handle = handle,
                                           .buffer_ptr = (uint64_t)(uintptr_t)bytes,
                                           .size = size,
                                           .copy_to_mem_handle = (uint32_t)in};

  return ioctl(fd, NEURON_IOCTL_MEM_BUF_COPY64, &argument);
}

static uint64_t address_of(int fd, uint64_t handle) {
  uint64_t pa = ~0ull;
  struct neuron_mem_get_pa argument = {.mem_handle = handle, .pa_ptr = (uint64_t)(uintptr_t)&pa};

  CHECK(ioctl(fd, NEURON_IOCTL_MEM_GET_PA, &argument) == 0);
  return pa;
}

static int answers(int fd) {
  struct neuron_device_basic_info info = {0};

  return ioctl(fd, NEURON_IOCTL_DEVICE_BASIC_INFO, &info) == 0 && info.architecture >= 2;
}

static int is_node(const struct stat* status, unsigned device) {
  return S_ISCHR(status->st_mode) && minor(status->st_rdev) == device;
}

static void test_open(void) {
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
static void test_descriptor(void) {
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
static void test_copies(void) {
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

static void test_stat(void) {
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

static void test_folders(void) {
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

static void read_fact(const char* path, char* text, size_t room) {
  FILE* file = fopen(path, "r");
  size_t got = 0;

  CHECK(file != NULL);
  if (file) {
    got = fread(text, 1, room - 1, file);
    fclose(file);
  }
  text[got] = 0;
}

static const char present[] =
    "/sys/class/neuron_device/neuron0/neuron_core0/stats/memory_usage/device_mem/tensors/present";

static void test_sysfs(void) {
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
  read_fact(present, text, sizeof text);
  CHECK(!strcmp(text, "0") || !strcmp(text, "0\n"));
  device = open(NODE, read_write);
  CHECK(alloc(device, 8192, &handle) == 0);
  fd = open(present, O_RDONLY);
  got = read(fd, text, sizeof text - 1);
  CHECK(got > 0);
  text[got > 0 ? got : 0] = 0;
  CHECK(atoi(text) == 8192);
  close(fd);
  close(device);
  CHECK(access("/sys/class/neuron_device/neuron7", F_OK) == -1 && errno == ENOENT);
}

static void test_memory(void) {
  enum { bytes = 1 << 20 };
  static unsigned char out[bytes], in[bytes];
  uint64_t handle = 0;
  unsigned char *view, *again;
  uint64_t pa;
  int fd = open(NODE, read_write);
  int reader = open(NODE, read_only);
  size_t i;

  for (i = 0; i < bytes; i++) out[i] = (unsigned char)(i * 7 + (i >> 8));
  CHECK(alloc(fd, bytes, &handle) == 0);
  CHECK(copy(fd, handle, out, bytes, 1) == 0 && copy(fd, handle, in, bytes, 0) == 0);
  CHECK(!memcmp(out, in, bytes));
  pa = address_of(fd, handle);
  view = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)pa);
  CHECK(view != MAP_FAILED && !memcmp(view, out, bytes));
  again = mmap(NULL, bytes, PROT_READ, MAP_SHARED, reader, (off_t)pa);
  CHECK(again != MAP_FAILED);
  CHECK(mmap(NULL, bytes, PROT_WRITE, MAP_SHARED, reader, (off_t)pa) == MAP_FAILED &&
        errno == EACCES);
  CHECK(mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)pa + 1) == MAP_FAILED &&
        errno == EINVAL);
  view[bytes - 1] = 0xA5;
  CHECK(again[bytes - 1] == 0xA5);
  CHECK(copy(fd, handle, in, bytes, 0) == 0 && in[bytes - 1] == 0xA5);
  /* A pointer to nowhere is the driver's answer, not a signal. */
  CHECK(copy(fd, handle, (void*)8, 4096, 1) != 0);
  CHECK(ioctl(fd, NEURON_IOCTL_DEVICE_BASIC_INFO, (void*)8) != 0);
  CHECK(munmap(view, bytes) == 0 && munmap(again, bytes) == 0);
  close(reader);
  close(fd);
}

/* Children of fork share the device and its files, and are processes of their own. */
static void test_fork(void) {
  uint64_t handle = 0, other = 0;
  unsigned char in[64] = {0}, out[64];
  int fd = open(NODE, read_write);
  int status = -1;
  pid_t child;

  memset(out, 0x5A, sizeof out);
  CHECK(alloc(fd, 4096, &handle) == 0);
  child = fork();
  if (child == 0) {
    struct neuron_mem_free gated = {handle};
    int wrong = copy(fd, handle, out, sizeof out, 1) != 0;

    /* Not attached, so gated calls are refused until it opens the node itself. */
    wrong |= ioctl(fd, NEURON_IOCTL_MEM_FREE, &gated) != -1 || errno != EACCES;
    wrong |= open(NODE, O_RDWR) < 0 || alloc(fd, 4096, &other) != 0 || other == handle;
    _exit(wrong);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(copy(fd, handle, in, sizeof in, 0) == 0 && !memcmp(in, out, sizeof in));
  /* What the child had is free: the next handle is the one it got. */
  CHECK(alloc(fd, 4096, &other) == 0 && other == handle + 1);
  child = vfork();
  if (child == 0) _exit(!answers(fd));
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  close(fd);
}

/* A descriptor goes through exec; a killed process leaves nothing. */
static void test_exec(const char* self) {
  uint64_t handle = 0, other = 0;
  int fd = open(NODE, read_write);
  int status = -1;
  char number[16];
  pid_t child;

  snprintf(number, sizeof number, "%d", fd);
  CHECK(alloc(fd, 4096, &handle) == 0);
  child = fork();
  if (child == 0) {
    execl(self, self, "inherited", number, NULL);
    _exit(99);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  child = fork();
  if (child == 0) {
    int own = open(NODE, O_RDWR);

    if (alloc(own, 4096, &other) == 0) raise(SIGKILL);
    _exit(98);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
  CHECK(alloc(fd, 4096, &other) == 0 && other == handle + 1);
  close(fd);
}

static int test_inherited(const char* number) {
  struct stat status;
  uint64_t handle = 0;
  int fd = atoi(number);

  CHECK(answers(fd) && fstat(fd, &status) == 0 && is_node(&status, 0));
  fd = open(NODE, read_write);
  CHECK(alloc(fd, 4096, &handle) == 0 && handle == 2);
  return failures != 0;
}

/* A descriptor sent to another process is the same file. */
static void test_passing(void) {
  char byte = 1, room[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  int pair[2], status = -1, fd = -1;
  pid_t child;

  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  child = fork();
  if (child == 0) {
    int got = -1;

    if (recvmsg(pair[1], &message, 0) != 1) _exit(1);
    memcpy(&got, CMSG_DATA(head), sizeof got);
    _exit(answers(got) ? 0 : 2);
  }
  fd = open(NODE, read_only);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  CHECK(sendmsg(pair[0], &message, 0) == 1);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  close(pair[0]);
  close(pair[1]);
  close(fd);
}

/* Fifteen more processes fit, a seventeenth does not, and ended ones make room. */
static void test_crowd(void) {
  int fd = open(NODE, read_write);
  int go[2], told[2], status, i;
  pid_t children[NEURON_MAX_ATTACHED_PROCESSES];
  int opened = 0, busy = 0, most = NEURON_MAX_ATTACHED_PROCESSES;

  CHECK(pipe(go) == 0 && pipe(told) == 0);
  for (i = 0; i < most; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      int own = open(NODE, O_RDWR);
      char answer = own >= 0 ? 'o' : errno == EBUSY ? 'b' : 'x';

      close(go[1]);
      if (write(told[1], &answer, 1) != 1 || read(go[0], &answer, 1) != 0) _exit(1);
      _exit(0);
    }
  }
  for (i = 0; i < most; i++) {
    char answer = 0;

    CHECK(read(told[0], &answer, 1) == 1);
    opened += answer == 'o';
    busy += answer == 'b';
  }
  CHECK(opened == most - 1 && busy == 1);
  close(go[1]);
  for (i = 0; i < most; i++) waitpid(children[i], &status, 0);
  i = fork();
  if (i == 0) _exit(open(NODE, O_RDWR) < 0);
  CHECK(waitpid(i, &status, 0) == i && status == 0);
  close(go[0]);
  close(told[0]);
  close(told[1]);
  close(fd);
}

/* Four processes write to one allocation, each its part. */
static void test_share(void) {
  enum { processes = 4, part = 65536 };
  static unsigned char bytes[processes * part];
  uint64_t handle = 0;
  int fd = open(NODE, read_write);
  pid_t children[processes];
  int i, status;

  CHECK(alloc(fd, sizeof bytes, &handle) == 0);
  for (i = 0; i < processes; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      int round, own = open(NODE, O_RDWR);
      uint64_t mine = 0;
      int wrong = own < 0;

      memset(bytes, i + 1, part);
      for (round = 0; round < 50; round++) {
        struct neuron_mem_buf_copy64 argument = {.mem_handle = handle,
                                                 .buffer_ptr = (uint64_t)(uintptr_t)bytes,
                                                 .size = part,
                                                 .offset = (uint64_t)i * part,
                                                 .copy_to_mem_handle = 1};
        struct neuron_mem_free gone;

        wrong |= ioctl(own, NEURON_IOCTL_MEM_BUF_COPY64, &argument) != 0;
        wrong |= alloc(own, 8192, &mine) != 0;
        gone.mem_handle = mine;
        wrong |= ioctl(own, NEURON_IOCTL_MEM_FREE, &gone) != 0;
      }
      _exit(wrong);
    }
  }
  for (i = 0; i < processes; i++)
    CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
  CHECK(copy(fd, handle, bytes, sizeof bytes, 0) == 0);
  for (i = 0; i < processes; i++)
    CHECK(bytes[i * part] == i + 1 && bytes[(i + 1) * part - 1] == i + 1);
  close(fd);
}

static void* use_device(void* context) {
  int fd = *(int*)context;
  unsigned char out[512], in[512];
  uint64_t handle = 0;
  long wrong = 0;
  int round;

  for (round = 0; round < 100; round++) {
    struct neuron_mem_free gone;

    memset(out, round + (int)(uintptr_t)&out, sizeof out);
    wrong += alloc(fd, 4096, &handle) != 0;
    wrong += copy(fd, handle, out, sizeof out, 1) != 0;
    wrong += copy(fd, handle, in, sizeof in, 0) != 0 || memcmp(in, out, sizeof in) != 0;
    gone.mem_handle = handle;
    wrong += ioctl(fd, NEURON_IOCTL_MEM_FREE, &gone) != 0;
  }
  return (void*)wrong;
}

static void test_threads(void) {
  pthread_t threads[8];
  int fd = open(NODE, read_write);
  uint64_t handle = 0;
  void* wrong;
  int i;

  for (i = 0; i < 8; i++) CHECK(pthread_create(&threads[i], NULL, use_device, &fd) == 0);
  for (i = 0; i < 8; i++) CHECK(pthread_join(threads[i], &wrong) == 0 && wrong == NULL);
  CHECK(alloc(fd, 4096, &handle) == 0 && handle >= 1 && handle <= 8);
  close(fd);
}

/* Memory taken, filled, read back and given back: 0, or the errno of what failed, EPROTO if other
 * bytes came back. */
static int work(int fd, int mark) {
  enum { bytes = 1 << 20 };
  static unsigned char out[bytes], in[bytes];
  struct neuron_mem_free gone = {0};

  memset(out, mark, bytes);
  errno = EPROTO;
  if (alloc(fd, bytes, &gone.mem_handle) || copy(fd, gone.mem_handle, out, bytes, 1) ||
      copy(fd, gone.mem_handle, in, bytes, 0) || memcmp(in, out, bytes) ||
      ioctl(fd, NEURON_IOCTL_MEM_FREE, &gone))
    return errno;
  return 0;
}

/* What a client hears when its devices go in the middle of a call: one line. */
static int work_until_told(const char* device, int rounds) {
  char path[32];
  int fd, round, failed = 0;

  snprintf(path, sizeof path, "/dev/neuron%s", device);
  fd = open(path, read_write);
  if (fd < 0) return 3;
  puts("working");
  fflush(stdout);
  for (round = 0; !failed && (rounds == 0 || round < rounds); round++)
    failed = work(fd, (int)getpid() + round);
  if (!failed) {
    puts("done");
    return close(fd) != 0;
  }
  printf("ioctl %d", failed);
  errno = 0;
  printf(" mmap %d", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0);
  printf(" open %d", open(path, read_write) < 0 ? errno : 0);
  printf(" close %d\n", close(fd) != 0 ? errno : 0);
  return 1;
}

/* Clients killed inside calls: the others go on, and what the killed had is free. */
static void test_killed(void) {
  enum { rounds = 12 };
  uint64_t handle = 0, other = 0;
  char text[64];
  int fd = open(NODE, read_write);
  int told[2], status = -1, round;
  pid_t victim, bystander;
  char byte;

  CHECK(alloc(fd, 4096, &handle) == 0 && pipe(told) == 0);
  bystander = fork();
  if (bystander == 0) {
    int own = open("/dev/neuron1", O_RDWR);

    for (round = 0; round < 4 * rounds; round++)
      if (work(own, round) != 0) _exit(1);
    _exit(0);
  }
  for (round = 0; round < rounds; round++) {
    victim = fork();
    if (victim == 0) {
      int own = open(NODE, O_RDWR);

      if (alloc(own, 4096, &other) != 0) _exit(1);
      if (write(told[1], "", 1) != 1) _exit(2);
      while (work(own, round) == 0) continue;
      _exit(3);
    }
    CHECK(read(told[0], &byte, 1) == 1);
    usleep((useconds_t)(500 + 1700 * round)); /* somewhere in its calls */
    CHECK(kill(victim, SIGKILL) == 0);
    CHECK(waitpid(victim, &status, 0) == victim && WIFSIGNALED(status));
    read_fact(present, text, sizeof text);
    CHECK(atoi(text) == 4096);
    CHECK(alloc(fd, 4096, &other) == 0 && other <= 16); /* two a victim: none is kept */
    CHECK(ioctl(fd, NEURON_IOCTL_MEM_FREE, &(struct neuron_mem_free){other}) == 0);
    CHECK(work(fd, round) == 0);
  }
  CHECK(waitpid(bystander, &status, 0) == bystander && status == 0);
  close(told[0]);
  close(told[1]);
  close(fd);
}

static int become(const char* call, const char* program, const char* word) {
  char* environment[] = {(char*)"OWN=environment", NULL};

  if (!strcmp(call, "execl")) return execl(program, program, word, NULL);
  if (!strcmp(call, "execle")) return execle(program, program, word, NULL, environment);
  return execlp(program, program, word, NULL);
}

static int run_part(const char* part, const char* self) {
  static const struct {
    const char* name;
    void (*run)(void);
  } parts[] = {{"open", test_open},       {"descriptor", test_descriptor},
               {"copies", test_copies},   {"stat", test_stat},
               {"folders", test_folders}, {"sysfs", test_sysfs},
               {"memory", test_memory},   {"fork", test_fork},
               {"passing", test_passing}, {"crowd", test_crowd},
               {"share", test_share},     {"threads", test_threads},
               {"killed", test_killed}};
  size_t i;

  if (!strcmp(part, "exec")) {
    test_exec(self);
    return 1;
  }
  for (i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (strcmp(part, parts[i].name) != 0) continue;
    parts[i].run();
    return 1;
  }
  return 0;
}

int main(int count, char** words) {
  int i;

  if (count == 3 && !strcmp(words[1], "inherited")) return test_inherited(words[2]);
  if (count == 4 && !strcmp(words[1], "work")) return work_until_told(words[2], atoi(words[3]));
  if (count == 4 && !strncmp(words[1], "execl", 5)) return become(words[1], words[2], words[3]);
  for (i = 1; i < count; i++) {
    int before = failures;

    if (!run_part(words[i], words[0])) {
      fprintf(stderr, "no part is called %s\n", words[i]);
      return 2;
    }
    printf("%s %s\n", failures == before ? "ok" : "FAIL", words[i]);
  }
  return failures != 0;
}
