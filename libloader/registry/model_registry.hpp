// SPDX-License-Identifier: MIT
// The process-wide registry of loaded models: H_NN to model record, reference counts, drain (spec
// 07 section 6.1, seed page "The two handles").
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "neffld/bytes.hpp"
#include "neffld/session.hpp"

namespace neffld {

/// Where a model is between load and unload (spec 07 section 6.2). The numbers are those printed in
/// messages.
enum class ModelState : std::uint32_t { loading = 1, unloading = 3, ready = 4 };

/// dlr_kelf_model: the only thing that joins a registry entry to the device. Its `loaded` model
/// belongs to the session of `device`.
struct ModelBridge {
  std::uint32_t h_model = 0;
  std::uint32_t device = 0;  ///< number of the device in this process
  LoadedModel* loaded = nullptr;
};

/// A copy of a model's file, for the first of its executions that fails to leave in `path`.
struct KeptNeff {
  KeptNeff(std::string to, Bytes neff) : path(std::move(to)), bytes(neff.begin(), neff.end()) {}
  const std::string path;
  const std::vector<std::uint8_t> bytes;
  std::atomic<bool> written = false;
};

/// dlr_model: what the process knows of a loaded model without asking a device.
struct ModelRecord {
  std::uint32_t h_nn = 0;
  std::uint32_t vnc = 0;  ///< index among the visible virtual cores
  std::uint32_t subgraphs = 0;
  std::string name;
  std::array<std::uint8_t, 16> uuid = {};
  std::optional<std::uint32_t> gid;  ///< rank in the collectives context it was loaded with
  std::uint32_t ranks = 1;           ///< of that context
  std::uint64_t mac_count = 0;
  std::uint32_t interned_id = 0;  ///< the same for all loads of one UUID in this process
  std::uint64_t trace_uuid = 0;   ///< the UUID folded to 64 bits, names the model in traces
  std::vector<std::uint32_t> store_slots;  ///< places in the device's data store
  std::uint32_t timeout_seconds = 0;       ///< of one execution, 0 = no limit
  std::map<std::string, TensorInfo> inputs, outputs;
  ModelBridge bridge;
  std::unique_ptr<KeptNeff> kept;  ///< null unless failed executions are to be inspected
  std::atomic<ModelState> state = ModelState::loading;
  std::atomic<std::uint64_t> references = 0;
};

class ModelRegistry {
 public:
  /// Both handle spaces start here [ours], spec 07 section 6.1.
  static constexpr std::uint32_t first_h_nn = 1001;

  /// A counted reference. Unload waits while one is held.
  class Reference {
   public:
    Reference() = default;
    explicit Reference(std::shared_ptr<ModelRecord> record) : record_(std::move(record)) {}
    Reference(Reference&&) noexcept = default;
    Reference& operator=(Reference&&) = delete;
    ~Reference() {
      if (record_) record_->references.fetch_sub(1, std::memory_order_release);
    }
    explicit operator bool() const { return record_ != nullptr; }
    ModelRecord* operator->() const { return record_.get(); }
    ModelRecord& operator*() const { return *record_; }

   private:
    std::shared_ptr<ModelRecord> record_;
  };

  /// Registers a model: it gets its H_NN and is READY.
  std::uint32_t insert(std::shared_ptr<ModelRecord> record);
  /// Empty if there is no such model, or no more.
  Reference acquire(std::uint32_t h_nn) const;
  /// Takes the model out, so that nobody new finds it, then waits until the last reference is gone.
  /// Null if there is no such model. Of several callers one gets it.
  std::shared_ptr<ModelRecord> remove(std::uint32_t h_nn);
  /// Registered models, oldest first.
  std::vector<std::uint32_t> ids() const;

 private:
  mutable std::shared_mutex lock_;
  std::map<std::uint32_t, std::shared_ptr<ModelRecord>> models_;
  std::uint32_t next_ = first_h_nn;
};

}  // namespace neffld
