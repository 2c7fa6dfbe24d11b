/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* What is told of the whole machine, which is in no ultraserver (spec 06 section 8). */
#include "nds.h"
#include "nds_os.h"

static const struct {
  const char* name;
  const char* text;
} class_facts[] = {
    {"node_id_2", "-1\n"},
    {"node_id_4", "-1\n"},
    {"server_id_2", "0000000000000000\n"},
    {"server_id_4", "0000000000000000\n"},
    {"ultraserver_mode", "\n"},
};

int nds_class_fact(const char* name, char* text, size_t bytes) {
  size_t index;
  int length;

  for (index = 0; index < sizeof class_facts / sizeof class_facts[0]; index++) {
    if (strcmp(name, class_facts[index].name) != 0) continue;
    length = snprintf(text, bytes, "%s", class_facts[index].text);
    return (size_t)length < bytes ? length : -ENOSPC;
  }
  return -ENOENT;
}
