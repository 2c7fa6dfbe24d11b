// SPDX-License-Identifier: MIT
#include "mappings.hpp"

namespace neffld::shim {
namespace {

long mappings[1024];  ///< addresses, 0 = free
bool any = false;

/// Puts `to` where `from` is first found.
bool replace(long from, long to) {
  for (long& mapping : mappings) {
    long expected = from;
    if (__atomic_compare_exchange_n(&mapping, &expected, to, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void remember_mapping(long address) {
  __atomic_store_n(&any, true, __ATOMIC_RELEASE);
  replace(0, address);
}

bool forget_mapping(long address) {
  return address != 0 && __atomic_load_n(&any, __ATOMIC_ACQUIRE) && replace(address, 0);
}

}  // namespace neffld::shim
