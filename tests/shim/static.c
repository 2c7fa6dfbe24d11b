/* SPDX-License-Identifier: MIT */
/* A program LD_PRELOAD can do nothing for. */
int main(void) {
  return 0;
}
