// SPDX-License-Identifier: MIT
// What the library knows of its session: the devices this process sees and who serves them.
#pragma once

#include "protocol.hpp"

namespace neffld::shim {

struct Session {
  bool alive = false;         ///< the server answered
  bool pass_through = false;  ///< the real nodes are used; calls are recorded
  bool traced = false;
  unsigned count = 0;  ///< devices
  char folder[80] = {};
};

/// The session, joined or begun by the first call. Ends the process with status 2 and a sentence if
/// its devices cannot be made.
const Session& session();

/// Whether this process may hold descriptors of devices. Stays true once it is.
bool has_devices();
void note_devices();

/// The result of asking the server, as it is. If that is -EIO, the server has been killed, which is
/// said once on standard error.
long served(long result);

/// Prints "neuron_shim: ..." on standard error.
void say(const char* text, const char* what = "", const char* rest = "");

}  // namespace neffld::shim
