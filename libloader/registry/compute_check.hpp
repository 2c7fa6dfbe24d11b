// SPDX-License-Identifier: MIT
// Refuses a program with a compute record that nobody can run, before anything of it runs (spec 10
// section 12).
#pragma once

#include "neffld/session.hpp"

namespace neffld {

/// Decodes every compute record of a model. Error: NRT_INVALID naming engine, slot, opcode and
/// byte of the first one that is illegal or not modelled.
Result<void> check_compute_records(const LoadedModel& model);

}  // namespace neffld
