/* SPDX-License-Identifier: MIT */
/* What the hardships share. */
#ifndef HARDSHIP_H
#define HARDSHIP_H

/* Prints what is not as expected; 1 then, else 0. */
int check(const char* what, long long value, long long expected);
/* Bytes that the module holds for its clients; -1 in process. */
long long used(void);
/*
 * How many things differ from a fresh device, handles excepted, whose order the real driver does
 * not restore either (11 B.1). The caller must have closed its files.
 */
int check_clean(long long used_before);

/* hardship_every.c: for each command of the interface. */
int test_every_kill(void);
int test_every_race(void);

#endif
