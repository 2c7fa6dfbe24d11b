/* SPDX-License-Identifier: MIT */
/* All commands of the interface, for tests that go through them. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stddef.h>
#include <stdint.h>

extern const uint32_t commands[];
extern const size_t command_count;

#endif
