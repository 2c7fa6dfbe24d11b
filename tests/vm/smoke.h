/* SPDX-License-Identifier: MIT */
/* The parts of the smoke test and how they print. */
#ifndef SMOKE_H
#define SMOKE_H

#include "client.h"

/* Prints "name: value", a result as a number. */
void say(const char* name, int result);
/* The same for a value; `expected` is what the specification says. A wrong one fails the test. */
void expect(const char* name, uint64_t value, uint64_t expected);
void say_hex(const char* name, uint64_t value);

void smoke_identity(void);
void smoke_memory(void);
void smoke_mappings(void);
void smoke_rings(void);
void smoke_faults(void);
void smoke_surface(void);
void smoke_processes(void);
void smoke_every(void);

#endif
