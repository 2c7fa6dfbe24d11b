// SPDX-License-Identifier: MIT
#include "trace_compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "capture.hpp"
#include "command_table.hpp"
#include "no_throw.hpp"
#include "trace_text.hpp"

namespace neffld {
namespace shim {
namespace {

/// Collects the differences of one pair of calls.
class Pair {
 public:
  Pair(const TraceCall& first, const TraceCall& second, CompareReport& report)
      : first_(first), second_(second), report_(report), info_(find_command(first.command)) {}

  bool same_command() {
    if (first_.command == second_.command) return true;
    add("command", command_name(first_.command), command_name(second_.command));
    return false;
  }

  void arguments() {
    if (first_.argument != second_.argument) {
      add("argument", state_name(first_.argument), state_name(second_.argument));
      return;
    }
    fields("sent ", first_.sent, second_.sent, false);
    if (info_ == nullptr) return;
    for (const PointerRule& rule : info_->pointers) {
      const auto a = field_value(first_.sent, rule.offset, 8);
      const auto b = field_value(second_.sent, rule.offset, 8);
      if (a == b) continue;
      add("sent " + pointer_name(*info_, rule), state_name(static_cast<PointerState>(a)),
          state_name(static_cast<PointerState>(b)));
    }
  }

  void results() {
    if (first_.replied != second_.replied) {
      add("reply", first_.replied ? "there" : "none", second_.replied ? "there" : "none");
    } else if (first_.result != second_.result) {
      add("result", result_name(first_.result), result_name(second_.result));
    } else if (first_.replied) {
      fields("", first_.received, second_.received, true);
    }
  }

  /// Payloads that flow one way, matched by pointer.
  void payloads(bool sent, bool contents) {
    if (!sent && (first_.result != 0 || second_.result != 0)) return;
    for (const TracePayload& a : first_.payloads) {
      if (a.sent != sent) continue;
      const TracePayload* b = find(second_, a);
      if (b == nullptr) {
        add(name(a), fmt::format("{} bytes", a.length), "nothing");
      } else if (!contents && is_contents(a)) {
        ++report_.not_compared;
      } else {
        payload(a, *b);
      }
    }
    for (const TracePayload& b : second_.payloads) {
      if (b.sent == sent && find(first_, b) == nullptr) {
        add(name(b), "nothing", fmt::format("{} bytes", b.length));
      }
    }
  }

 private:
  static const char* state_name(PointerState state) {
    switch (state) {
      case PointerState::null:
        return "null";
      case PointerState::good:
        return "given";
      case PointerState::bad:
        return "unmapped";
    }
    return "unknown";
  }

  static const TracePayload* find(const TraceCall& call, const TracePayload& like) {
    for (const TracePayload& payload : call.payloads) {
      if (payload.pointer == like.pointer && payload.sent == like.sent) return &payload;
    }
    return nullptr;
  }

  bool is_contents(const TracePayload& payload) const {
    return info_ != nullptr && payload.pointer < info_->pointers.size() &&
           info_->pointers[payload.pointer].payload == Payload::contents;
  }

  std::string name(const TracePayload& payload) const {
    const bool known = info_ != nullptr && payload.pointer < info_->pointers.size();
    const std::string pointer = known ? pointer_name(*info_, info_->pointers[payload.pointer])
                                      : fmt::format("pointer {}", payload.pointer);
    return (payload.sent ? "sent " : "") + pointer;
  }

  void payload(const TracePayload& a, const TracePayload& b) {
    if (a.length != b.length) {
      add(name(a), fmt::format("{} bytes", a.length), fmt::format("{} bytes", b.length));
      return;
    }
    if (a.has_bytes && b.has_bytes) {
      if (a.bytes == b.bytes) return;
      if (a.bytes.size() != b.bytes.size()) {  // a damaged trace keeps another number than it says
        add(name(a), fmt::format("{} bytes kept", a.bytes.size()),
            fmt::format("{} bytes kept", b.bytes.size()));
        return;
      }
      const auto [left, right] = std::mismatch(a.bytes.begin(), a.bytes.end(), b.bytes.begin());
      if (a.bytes.size() == 8) {
        add(name(a), word_value(name(a), field_value(a.bytes, 0, 8)),
            word_value(name(a), field_value(b.bytes, 0, 8)));
        return;
      }
      add(fmt::format("{} at byte {:#x}", name(a), left - a.bytes.begin()),
          fmt::format("{:#04x}", *left), fmt::format("{:#04x}", *right));
      return;
    }
    const auto hash = [](const TracePayload& p) { return p.has_bytes ? sha256(p.bytes) : p.hash; };
    if (hash(a) != hash(b)) add(name(a), "other bytes", "than these (only hashes are known)");
  }

  void fields(const std::string& prefix, Bytes a, Bytes b, bool replies) {
    if (info_ == nullptr || a.empty() || b.empty()) {
      if (a.size() != b.size()) {
        add(prefix + "argument", fmt::format("{} bytes", a.size()),
            fmt::format("{} bytes", b.size()));
      }
      return;
    }
    for_each_field(*info_, a, [&](const CommandField& field, std::uint32_t offset, int record) {
      // A process number that is an input comes back as it is.
      if (field.reply != replies || field.kind == FieldKind::changing ||
          field.kind == FieldKind::pointer) {
        return;
      }
      std::string left = value_of(field, offset, a), right = value_of(field, offset, b);
      const bool same = field.bytes <= 8 ? left == right : same_bytes(a, b, offset, field.bytes);
      if (same) return;
      add(record < 0 ? prefix + field.name : fmt::format("{}[{}].{}", prefix, record, field.name),
          std::move(left), std::move(right));
    });
  }

  static bool same_bytes(Bytes a, Bytes b, std::size_t offset, std::size_t count) {
    const auto inside = [&](Bytes x) { return offset <= x.size() && count <= x.size() - offset; };
    if (!inside(a) || !inside(b)) return inside(a) == inside(b);
    return std::equal(a.begin() + static_cast<std::ptrdiff_t>(offset),
                      a.begin() + static_cast<std::ptrdiff_t>(offset + count),
                      b.begin() + static_cast<std::ptrdiff_t>(offset));
  }

  void add(std::string what, std::string a, std::string b) {
    report_.differences.push_back(
        {first_.number, command_name(first_.command), std::move(what), std::move(a), std::move(b)});
  }

  const TraceCall& first_;
  const TraceCall& second_;
  CompareReport& report_;
  const CommandInfo* info_;
};

/// The next call or mapping, over the facts.
Result<std::unique_ptr<TraceEvent>> next_action(TraceReader& reader) {
  for (;;) {
    NEFFLD_ASSIGN(auto event, reader.next());
    if (!event || !event->info) return event;
  }
}

}  // namespace

void compare_calls(const TraceCall& first, const TraceCall& second, Compared what, bool contents,
                   CompareReport& report) {
  Pair pair(first, second, report);
  ++report.calls;
  if (!pair.same_command()) return;
  if (what == Compared::everything) {
    pair.arguments();
    pair.payloads(true, true);
  }
  pair.results();
  pair.payloads(false, contents);
}

void compare_mappings(const TraceMapping& first, const TraceMapping& second, std::uint64_t call,
                      CompareReport& report) {
  const std::string a = to_line(first), b = to_line(second);
  if (a != b) report.differences.push_back({call, "after this call", "mapping", a, b});
}

}  // namespace shim

Result<CompareReport> diff_traces(TraceReader& first, TraceReader& second,
                                  const CompareOptions& options) {
  using namespace shim;
  return no_throw([&]() -> Result<CompareReport> {
    CompareReport report;
    while (options.all || report.differences.empty()) {
      NEFFLD_ASSIGN(const auto a, next_action(first));
      NEFFLD_ASSIGN(const auto b, next_action(second));
      if (!a && !b) break;
      if (!a || !b || a->call.has_value() != b->call.has_value()) {
        const auto words = [](const std::unique_ptr<TraceEvent>& event) -> std::string {
          if (!event) return "the trace is over";
          return event->call ? command_name(event->call->command) : to_line(*event->mapping);
        };
        report.differences.push_back(
            {report.calls + 1, "trace", "what happens", words(a), words(b)});
        break;
      }
      if (a->call) {
        compare_calls(*a->call, *b->call, Compared::everything, true, report);
      } else {
        compare_mappings(*a->mapping, *b->mapping, report.calls, report);
      }
    }
    return report;
  });
}

}  // namespace neffld
