// SPDX-License-Identifier: MIT
// Keeping NEFFs in files: every one that is loaded (NEURON_RT_INSPECT_ENABLE), or those that fail
// to load or to execute (NEURON_RT_INSPECT_ON_FAIL). A file that cannot be written is a line in the
// log and fails no call.
#pragma once

#include "config.hpp"
#include "model_registry.hpp"
#include "neffld/bytes.hpp"
#include "neffld/container.hpp"

namespace neffld::nrt {

/// A model was loaded: keeps its file now, or a copy of it for a failed execution.
void inspect_loaded(const LoadKnobs& knobs, ModelRecord& record, Bytes neff,
                    const NeffHeader& header);
/// A load failed behind the header's checks. A later failure of the same UUID takes its place, so
/// that a server that tries again and again fills no disk.
void inspect_failed_load(const LoadKnobs& knobs, Bytes neff, const NeffHeader& header);
/// An execution that had begun failed. Only the first of a model keeps the file. From any thread.
void inspect_failed_execution(const ModelRecord& record);

}  // namespace neffld::nrt
