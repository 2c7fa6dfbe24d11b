// SPDX-License-Identifier: MIT
#include "collectives.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "environment.hpp"
#include "nrt/nrt.h"

namespace neffld::nrt {
namespace {

constexpr const char* root_name = "NEURON_RT_ROOT_COMM_ID";

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port != 0;
}

/// "10.1.2.3:62128" or "[fe80::1]:62128".
bool is_endpoint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || !is_port(std::string_view(text).substr(colon + 1))) {
    return false;
  }
  std::string host = text.substr(0, colon);
  const bool six = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (six) host = host.substr(1, host.size() - 2);
  in6_addr address;  // has room for both kinds
  return inet_pton(six ? AF_INET6 : AF_INET, host.c_str(), &address) == 1;
}

Result<void> check_root() {
  const auto root = get_env(root_name);
  if (!root) {
    return fail(
        Status::invalid, ErrorClass::usage, {.path = root_name},
        fmt::format("a model of several ranks needs {}, address and port of rank 0", root_name));
  }
  if (is_endpoint(*root)) return {};
  return bad_env(root_name, *root, "an address and a port: 10.1.2.3:62128 or [fe80::1]:62128");
}

/// The rings between the devices of a trn1 instance close for these numbers only.
Result<void> check_trn1(std::uint32_t ranks) {
  if (ranks == 1 || ranks == 2 || ranks == 8 || ranks == 16 || ranks % 32 == 0) return {};
  return fail(Status::invalid, ErrorClass::unsupported, {},
              fmt::format("Unsupported topology. Supported number of Neuron Cores is 1, 2, 8, 16 "
                          "or a multiple of 32, found ctx_device_count {}",
                          ranks));
}

}  // namespace

Result<void> check_rank(const Rank& rank, const Topology& topology) {
  if (rank.id >= rank.count) {
    return fail(Status::invalid, ErrorClass::usage, {},
                fmt::format("ctx_device_id {} of ctx_device_count {}, expected a rank below a "
                            "count of at least 1",
                            rank.id, rank.count));
  }
  if (topology.family == NRT_INSTANCE_TRN1 || topology.family == NRT_INSTANCE_TRN1N) {
    NEFFLD_TRY(check_trn1(rank.count));
  }
  return rank.count > 1 ? check_root() : Result<void>();
}

}  // namespace neffld::nrt
