/* SPDX-License-Identifier: MIT */
/* Every number, direction and usual size, with a struct of zeros; and values near the limits. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "smoke.h"

static uint8_t argument[16384];

static void all_values(int file) {
  static const uint32_t sizes[] = {0,  1,  4,  8,  12, 16, 20,  24,  28,  32,   36,
                                   40, 44, 48, 56, 64, 80, 260, 268, 276, 12296};
  uint32_t number, direction;
  size_t size;

  for (number = 0; number < 256; number++) {
    for (direction = 0; direction < 4; direction++) {
      for (size = 0; size < sizeof sizes / sizeof sizes[0]; size++) {
        uint32_t command = direction << 30 | sizes[size] << 16 | 0x4E00 | number;
        int result;

        memset(argument, 0, sizeof argument);
        result = call(file, command, argument);
        /* Most are no commands; those need no line each. */
        if (result != -22) printf("0x%08x: %d\n", command, result);
      }
    }
  }
}

static void all_ones(int file) {
  static const uint64_t words[] = {~0ull, 1ull << 63, 0x100000000ull, 0xFFFFFFFFull, 1};
  size_t index, word, at;

  for (index = 0; index < command_count; index++) {
    /* One of these fills a whole HBM with a pattern. */
    if (commands[index].value == NEURON_IOCTL_HBM_SCRUB_START) continue;
    printf("0x%08x:", commands[index].value);
    for (word = 0; word < sizeof words / sizeof words[0]; word++) {
      for (at = 0; at < sizeof argument; at += sizeof words[0])
        memcpy(argument + at, &words[word], sizeof words[0]);
      printf(" %d", call(file, commands[index].value, argument));
    }
    printf("\n");
  }
}

void smoke_surface(void) {
  int file = host->open(O_RDWR);

  all_values(file);
  all_ones(file);
  host->close(file);
}
