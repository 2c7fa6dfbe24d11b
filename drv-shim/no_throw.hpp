// SPDX-License-Identifier: MIT
// Host memory may run out at any allocation; public functions answer with an error instead.
#pragma once

#include <new>
#include <stdexcept>

#include "neffld/error.hpp"

namespace neffld::shim {

// The text is short enough to need no memory itself.
inline tl::unexpected<Error> out_of_memory() {
  return fail(Status::fail_host_mem_alloc, ErrorClass::resource, {}, "out of memory");
}

/// Runs `body`, which returns a Result; memory that runs out becomes an error.
template <class Body>
auto no_throw(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {
    return out_of_memory();
  }
}

}  // namespace neffld::shim
