// SPDX-License-Identifier: MIT
#include "row.hpp"

namespace neffld::cts {

const std::vector<Row>& rows() {
  static const Rows all = [] {
    Rows made;
    for (const auto add :
         {add_identity, add_memory, add_placement, add_copies, add_rings, add_descriptors, add_sync,
          add_cores, add_notifications, add_marks, add_registers, add_surface, add_lifetimes,
          add_access, add_attach, add_processes, add_foreign, add_sharing}) {
      add(made);
    }
    return made;
  }();
  return all;
}

}  // namespace neffld::cts
