// SPDX-License-Identifier: MIT
// Paths of the devices' world: nodes, and what sysfs says of them.
#pragma once

#include <limits.h>

namespace neffld::shim {

enum class Kind {
  other,  ///< the system's
  node,   ///< /dev/neuronN of the session
  gone,   ///< /dev/neuronN of a real device: hidden
  tree,   ///< a file or folder of the devices in sysfs; `path` is where the session keeps it
};

struct Name {
  Kind kind = Kind::other;
  unsigned device = 0;
  char path[PATH_MAX];
};

/// What a path means to a call with a folder descriptor. Brings an attribute up to date.
Kind look_up(int folder, const char* path, Name& name);
/// The same without bringing anything up to date.
Kind classify(int folder, const char* path, Name& name);

/// The absolute path without ".", ".." and double slashes; false if it is too long or unknown.
bool make_absolute(int folder, const char* path, char* out);
/// Writes "/dev/neuronN" and returns its length.
unsigned long node_path(unsigned device, char* out);
/// The number in "neuronN", or -1.
long node_number(const char* name);
/// The number of the machine's own /dev/neuronN a descriptor is open on, or -1.
long real_node(int descriptor);
/// A path in the session's folder as the program knows it: "/sys/..."; false if it is not there.
bool leave_tree(const char* path, const char** out);
/// Relative paths may lead into the session's folder from now on.
void note_tree_folder();

}  // namespace neffld::shim
