// SPDX-License-Identifier: MIT
#include "neffld/compatibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>

#include "isa/record.hpp"
#include "neffld/text.hpp"
#include "translator.hpp"

namespace neffld {
namespace {

/// What this version does with programs that use a feature. The bits decide nothing (spec 08 s8.9):
/// the records are checked one by one.
std::string_view feature_state(unsigned bit) {
  constexpr unsigned supported[] = {0, 4, 5, 9, 10, 11, 12, 13, 14, 15, 21, 25};
  constexpr unsigned refused[] = {1, 2, 3, 6, 7, 8, 16, 17, 20, 22};
  if (std::find(std::begin(supported), std::end(supported), bit) != std::end(supported)) {
    return "supported";
  }
  if (std::find(std::begin(refused), std::end(refused), bit) != std::end(refused)) {
    return "not supported";
  }
  return "unknown";
}

// Runtime interface steps (spec 06 "Version handshake").
constexpr std::uint32_t renumbering = 5, linear_rings = 7, split_misc_ram = 10;
// The same in all releases from 2.24 to 2.30.
constexpr DriverRange v2_range = {5, 7}, v3_range = {10, 11};
constexpr std::uint32_t first_release = 24, last_release = 30;

tl::unexpected<Error> bad_range(std::string_view text) {
  return fail(Status::invalid, ErrorClass::usage, {.path = "--driver"},
              fmt::format("found '{}', expected interface versions like 10..11 or driver releases "
                          "from 2.24 to 2.30",
                          one_line(text.substr(0, 40))));
}

std::optional<std::uint32_t> whole_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || rest != text.data() + text.size()) return {};
  return value;
}

/// Groups the same problem of many records.
class ProblemList {
 public:
  explicit ProblemList(std::vector<Problem>& out) : out_(out) {}
  /// A shortage of this machine says nothing about the file.
  Result<void> add(const Error& error) {
    if (is_host_shortage(error)) return tl::unexpected<Error>(error);
    const auto [found, inserted] =
        index_.try_emplace(error.where.member + '\n' + error.text, out_.size());
    if (!inserted) {
      ++out_[found->second].count;
      return {};
    }
    Problem problem{error.where.member, error.text, error.where.record, 1};
    if (!error.where.path.empty() && error.where.path != "slot") {
      problem.text = error.where.path + ": " + problem.text;
    }
    out_.push_back(std::move(problem));
    return {};
  }

 private:
  std::vector<Problem>& out_;
  std::map<std::string, std::size_t> index_;
};

/// Bad bytes are an error; what is only unsupported or too large becomes a problem.
bool is_answer(const Error& error) {
  return error.error_class == ErrorClass::unsupported || error.error_class == ErrorClass::resource;
}

class Checker {
 public:
  Checker(Bytes file, const CompatibilityOptions& options)
      : file_(file), options_(options), problems_(out_.problems) {}

  Result<Compatibility> run() {
    NEFFLD_TRY(read_header());
    if (!out_.problems.empty()) return std::move(out_);
    ParseOptions parse = options_.parse;
    parse.until = Stage::graph;
    NEFFLD_ASSIGN(auto graph, answered(parse_model(file_, Arch::any, parse)));
    if (!graph) return std::move(out_);
    out_.target = graph->manifest.target;
    out_.file_arch = out_.arch = graph->manifest.arch;
    NEFFLD_TRY(check_architecture(*graph));
    parse.until = Stage::build;
    parse.build.allow_legacy = parse.build.allow_legacy || out_.arch != out_.file_arch;
    NEFFLD_ASSIGN(auto model, answered(parse_model(file_, out_.arch, parse)));
    if (!model) return std::move(out_);
    NEFFLD_TRY(check_records(*model));
    NEFFLD_TRY(check_plan(*model));
    NEFFLD_TRY(check_driver());
    return std::move(out_);
  }

 private:
  /// Passes a value on; turns an answer-like error into a problem and nothing.
  template <class T>
  Result<std::optional<T>> answered(Result<T> result) {
    if (result) return std::optional<T>(std::move(*result));
    if (!is_answer(result.error())) return tl::unexpected<Error>(std::move(result.error()));
    NEFFLD_TRY(problems_.add(result.error()));
    return std::optional<T>();
  }

  Result<void> read_header() {
    const auto checked = check_header(file_);
    if (!checked && !is_answer(checked.error())) return tl::unexpected<Error>(checked.error());
    if (file_.size() >= sizeof out_.header) {
      std::memcpy(&out_.header, file_.data(), sizeof out_.header);
    }
    for (std::uint64_t bits = out_.header.feature_bits; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(bits));
      out_.features.push_back({bit, feature_names(1ull << bit).front(), feature_state(bit)});
    }
    if (!checked) NEFFLD_TRY(problems_.add(checked.error()));
    return {};
  }

  Result<void> check_architecture(const ParsedModel& graph) {
    if (options_.arch == Arch::any) return {};
    Manifest manifest = graph.manifest;
    const auto fits = check_arch(manifest, options_.arch, options_.parse.build.allow_legacy);
    out_.arch = options_.arch;
    if (!fits) NEFFLD_TRY(problems_.add(fits.error()));
    return {};
  }

  Result<void> check_records(const ParsedModel& model) {
    for (const Kbin& kbin : model.kbins) {
      for (const Engine engine : all_engines) {
        const RecordChecker checker(kbin, arch_table(out_.arch), engine);
        const EngineProgram& program = kbin.engine(engine);
        for (std::uint64_t slot = 0; slot < program.slot_count(); ++slot) {
          const isa::Record record(program.slots.subspan(slot * isa::slot_bytes, isa::slot_bytes));
          ++out_.records;
          if (const auto treated = checker.check(record, slot); !treated) {
            NEFFLD_TRY(problems_.add(treated.error()));
          }
        }
      }
    }
    return {};
  }

  Result<void> check_plan(ParsedModel& model) {
    if (!arch_table(out_.arch).caps.staging) {
      NEFFLD_TRY(problems_.add({Status::invalid,
                                ErrorClass::unsupported,
                                {.path = std::string(arch_name(out_.arch))},
                                "staging is not supported on this architecture"}));
    }
    auto plan = plan_parsed_model(model, {});
    if (!plan) {  // a record that was found already stops the plan as well
      if (out_.problems.empty() || is_host_shortage(plan.error())) {
        NEFFLD_TRY(problems_.add(plan.error()));
      }
      return {};
    }
    needs(out_.arch == Arch::v2 ? renumbering : split_misc_ram);
    for (const KbinPlan& kbin : plan->kbins) {
      for (const RingPlan& ring : kbin.rings) {
        if (!std::has_single_bit(ring.allocated) && ring.allocated != 0) needs(linear_rings);
      }
      for (const QueueSetPlan& set : kbin.queue_sets) {
        if (set.uses_cast) {
          note("DMA cast blocks: only the simulated device knows their encoding");
        }
      }
      if (!kbin.queue_sets.empty()) {
        note("initialising queues on hardware needs --experimental");
      }
    }
    return {};
  }

  Result<void> check_driver() {
    if (options_.driver.empty()) return {};
    NEFFLD_ASSIGN(out_.driver, parse_driver_range(options_.driver, out_.arch));
    const std::uint32_t low =
        std::max({out_.driver->min, oldest_runtime_interface, out_.needs_interface});
    const std::uint32_t high = std::min(out_.driver->max, newest_runtime_interface);
    if (low <= high) return {};
    return problems_.add(
        {Status::failure,
         ErrorClass::unsupported,
         {.path = "driver"},
         fmt::format("accepts runtime interfaces {} to {}, this loader speaks {} to {} "
                     "and the file needs {} at least",
                     out_.driver->min, out_.driver->max, oldest_runtime_interface,
                     newest_runtime_interface, out_.needs_interface)});
  }

  void needs(std::uint32_t version) {
    out_.needs_interface = std::max(out_.needs_interface, version);
  }
  void note(std::string text) {
    if (std::find(out_.notes.begin(), out_.notes.end(), text) == out_.notes.end()) {
      out_.notes.push_back(std::move(text));
    }
  }

  Bytes file_;
  const CompatibilityOptions& options_;
  Compatibility out_;
  ProblemList problems_;
};

}  // namespace

Result<DriverRange> parse_driver_range(std::string_view text, Arch arch) {
  const std::size_t dots = text.find("..");
  const std::string_view first = text.substr(0, dots);
  const std::string_view last = dots == std::string_view::npos ? first : text.substr(dots + 2);
  if (first.starts_with("2.") && last.starts_with("2.")) {
    const auto low = whole_number(first.substr(2)), high = whole_number(last.substr(2));
    if (!low || !high || *low > *high || *low < first_release || *high > last_release) {
      return bad_range(text);
    }
    return arch == Arch::v2 ? v2_range : v3_range;
  }
  const auto low = whole_number(first), high = whole_number(last);
  if (!low || !high || *low > *high) return bad_range(text);
  return DriverRange{*low, *high};
}

Result<Compatibility> check_compatibility(Bytes file, const CompatibilityOptions& options) {
  return guarded([&]() -> Result<Compatibility> {
    if (!options.driver.empty()) NEFFLD_TRY(parse_driver_range(options.driver, options.arch));
    return Checker(file, options).run();
  });
}

}  // namespace neffld
