/* SPDX-License-Identifier: MIT */
/* Devices in use: memory, and processes and threads that share it. */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "client.h"

void test_memory(void) {
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
void test_fork(void) {
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
void test_exec(const char* self) {
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

int test_inherited(const char* number) {
  struct stat status;
  uint64_t handle = 0;
  int fd = atoi(number);

  CHECK(answers(fd) && fstat(fd, &status) == 0 && is_node(&status, 0));
  fd = open(NODE, read_write);
  CHECK(alloc(fd, 4096, &handle) == 0 && handle == 2);
  return failures != 0;
}

/* A descriptor sent to another process is the same file. */
void test_passing(void) {
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
void test_crowd(void) {
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
void test_share(void) {
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

void test_threads(void) {
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
int work_until_told(const char* device, int rounds) {
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
void test_killed(void) {
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
    read_fact(PRESENT, text, sizeof text);
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
