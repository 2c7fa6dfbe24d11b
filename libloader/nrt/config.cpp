// SPDX-License-Identifier: MIT
#include "config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "environment.hpp"
#include "log.hpp"
#include "neffld/packet_limits.hpp"

namespace neffld::nrt {
namespace {

constexpr const char* visible_cores_name = "NEURON_RT_VISIBLE_CORES";
constexpr std::uint64_t most_async = 63;    // requests of one core in flight (spec 07 section 4)
constexpr std::uint32_t most_cores = 4096;  // more than any instance has; keeps lists small

std::optional<std::uint32_t> parse_core(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value < most_cores ? std::optional(value) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// A comma list of numbers and inclusive ranges that amounts to one run of cores.
Result<std::optional<CoreRange>> read_visible_cores() {
  const auto text = get_env(visible_cores_name);
  if (!text) return std::nullopt;
  const auto refused = [&] {
    return bad_env(visible_cores_name, *text, "a list such as 0-3 or 4,5,6");
  };
  std::set<std::uint32_t> cores;
  std::string_view rest = *text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = trimmed(rest.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
    const std::size_t dash = item.find('-');
    const auto first = parse_core(trimmed(item.substr(0, dash)));
    const auto last =
        dash == std::string_view::npos ? first : parse_core(trimmed(item.substr(dash + 1)));
    if (!first || !last || *last < *first) return refused();
    for (std::uint32_t core = *first; core <= *last; ++core) cores.insert(core);
  }
  const CoreRange range{*cores.begin(), static_cast<std::uint32_t>(cores.size())};
  if (*cores.rbegin() - range.first + 1 != range.count) {
    return fail(Status::invalid, ErrorClass::usage, {.path = visible_cores_name},
                fmt::format("Logical Neuron cores are not contiguous: found '{}'", *text));
  }
  return range;
}

/// Keeps the first error, logs the others.
class Errors {
 public:
  template <class T, class Target>
  void take(Result<T> value, Target&& store) {
    if (value) {
      store(*std::move(value));
    } else {
      add(tl::unexpected<Error>(std::move(value.error())));
    }
  }
  void add(tl::unexpected<Error> error) {
    if (!first_) {
      first_ = std::move(error.value());
    } else {
      log_inner_error("NRT", "nrt_config", to_sentence(error.value()));
    }
  }
  template <class T>
  Result<T> result(T value) {
    if (first_) return tl::unexpected<Error>(std::move(*first_));
    return value;
  }

 private:
  std::optional<Error> first_;
};

}  // namespace

Result<Config> read_config() {
  Config config;
  Errors errors;
  config.device = get_env("NEFFLD_DEVICE").value_or("sim");
  config.fake_instance = get_env("NEURON_RT_FAKE_INSTANCE_TYPE");
  errors.take(read_visible_cores(), [&](auto range) { config.visible_cores = range; });
  errors.take(get_env_number("NEURON_RT_NUM_CORES", most_cores), [&](auto number) {
    config.num_cores = static_cast<std::uint32_t>(number.value_or(0));
  });
  errors.take(get_env_number("NEFFLD_SIM_LNC", most_cores), [&](auto number) {
    if (number) config.sim_core_size = static_cast<std::uint32_t>(*number);
  });
  if (const auto compute = get_env("NEFFLD_COMPUTE")) {
    config.skip_compute = *compute == "skip";
    if (!config.skip_compute && *compute != "run") {
      errors.add(bad_env("NEFFLD_COMPUTE", *compute, "run or skip"));
    }
  }
  errors.take(get_env_number("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS"), [&](auto number) {
    config.async_requests =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(number.value_or(0), most_async));
  });
  // The later name in this list wins.
  for (const char* name : {"NEURON_RT_VIRTUAL_CORE_SIZE", "NEURON_LOGICAL_NC_CONFIG"}) {
    errors.take(get_env_number(name), [&](auto number) {
      if (!number) return;
      config.core_size = static_cast<std::uint32_t>(*number);
      config.core_size_variable = name;
    });
  }
  return errors.result(std::move(config));
}

Result<LoadKnobs> read_load_knobs() {
  LoadKnobs knobs;
  Errors errors;
  errors.take(get_env_bool("NEURON_RT_VALIDATE_HASH"),
              [&](auto value) { knobs.validate_hash = value.value_or(false); });
  errors.take(get_env_bool("NEURON_RT_ALLOW_LEGACY_NEFF"),
              [&](auto value) { knobs.allow_legacy = value.value_or(false); });
  errors.take(get_env_bool("NEURON_RT_INSPECT_ENABLE"),
              [&](auto value) { knobs.save_neff = value.value_or(false); });
  errors.take(get_env_bool("NEURON_RT_INSPECT_ON_FAIL"),
              [&](auto value) { knobs.save_on_fail = value.value_or(false); });
  knobs.save_folder = get_env("NEURON_RT_INSPECT_OUTPUT_DIR").value_or(knobs.save_folder);
  errors.take(get_env_number("NEURON_RT_EXEC_TIMEOUT"), [&](auto value) {
    knobs.timeout_seconds = static_cast<std::uint32_t>(value.value_or(knobs.timeout_seconds));
  });
  errors.take(get_env_number("NEURON_RT_IO_RING_CACHE_SIZE"), [&](auto value) {
    knobs.io_ring_sets = static_cast<std::uint32_t>(value.value_or(knobs.io_ring_sets));
  });
  constexpr const char* page_name = "NEURON_SCRATCHPAD_PAGE_SIZE";
  errors.take(get_env_number(page_name), [&](auto value) {
    if (!value) return;
    if (*value == 0 || *value % 512 != 0 || *value > 3584) {
      errors.add(bad_env(page_name, std::to_string(*value), "MiB, a multiple of 512 up to 3584"));
    } else {
      knobs.scratchpad_page_bytes = *value << 20;
    }
  });
  constexpr const char* packet_name = "NEURON_RT_DBG_DMA_PACKETIZATION_SIZE";
  errors.take(get_env_number(packet_name), [&](auto value) {
    if (!value) return;
    if (*value != 0 && (*value < least_packet_bytes || *value > most_packet_bytes)) {
      errors.add(bad_env(packet_name, std::to_string(*value),
                         fmt::format("0 or {} to {}", least_packet_bytes, most_packet_bytes)));
    } else {
      knobs.packet_bytes = *value;
    }
  });
  return errors.result(std::move(knobs));
}

}  // namespace neffld::nrt
