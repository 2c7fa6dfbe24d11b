// SPDX-License-Identifier: MIT
#include "node_checks.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "neuron_abi/ioctl.h"

namespace neffld::shim {
namespace {

namespace fs = std::filesystem;

constexpr const char* any_device = "or use --device sim";

/// Runtime interface numbers this loader speaks, by architecture (spec 06 section 1).
struct OurVersions {
  std::uint32_t architecture, min, max;
};
constexpr OurVersions our_versions[] = {{2, 5, 7}, {3, 10, 11}, {4, 10, 11}};

tl::unexpected<Error> refuse(ErrorClass error_class, const std::string& path, std::string text) {
  return fail(Status::failure, error_class, {.member = path}, std::move(text));
}

tl::unexpected<Error> not_neuron(const std::string& path, std::string found) {
  return refuse(ErrorClass::device, path,
                fmt::format("is not a Neuron node: {}; give the path of a node made by the Neuron "
                            "driver or by neuron_sim, {}",
                            found, any_device));
}

const char* kind_of(mode_t mode) {
  if (S_ISREG(mode)) return "a regular file";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISBLK(mode)) return "a block device";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "something else";
}

/// -errno, 0, or the driver's positive result.
int ask(int fd, std::uint32_t command, void* argument) {
  const int result = ::ioctl(fd, command, argument);
  return result < 0 ? -errno : result;
}

std::string in_words(const std::vector<Holder>& holders) {
  if (holders.empty()) return "by processes that cannot be seen from here";
  std::string text = "by";
  for (std::size_t i = 0; i < std::min<std::size_t>(holders.size(), 4); ++i) {
    text += fmt::format("{} pid {} ({})", i == 0 ? "" : ",", holders[i].pid, holders[i].command);
  }
  return holders.size() > 4 ? fmt::format("{} and {} more", text, holders.size() - 4) : text;
}

/// The node a descriptor of another process names, or nothing.
std::optional<dev_t> number_behind(const fs::path& link) {
  struct stat info {};
  if (stat(link.c_str(), &info) != 0 || !S_ISCHR(info.st_mode)) return std::nullopt;
  return info.st_rdev;
}

bool has_open(const fs::path& process, dev_t number) {
  std::error_code error;
  for (fs::directory_iterator at(process / "fd", error), end; !error && at != end;
       at.increment(error)) {
    if (number_behind(at->path()) == number) return true;
  }
  return false;
}

std::string sysfs_of(dev_t number, const NodeOptions& options) {
  return fmt::format("{}/dev/char/{}:{}", options.sysfs_folder, major(number), minor(number));
}

/// Name of the class a node belongs to: "neuron_device" for the real driver, PREFIX_device for
/// neuron_sim; empty if sysfs does not tell.
std::string class_of(dev_t number, const NodeOptions& options) {
  std::error_code error;
  return fs::read_symlink(sysfs_of(number, options) + "/subsystem", error).filename();
}

}  // namespace

bool is_simulated(dev_t number, const NodeOptions& options) {
  std::ifstream file(sysfs_of(number, options) + "/simulated");
  std::string word;
  return file >> word && word == "neuron_sim";
}

Result<void> check_path(const std::string& path, const NodeOptions& options) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    const int error = errno;
    if (error == EACCES) return open_error(path, error, 0);
    return refuse(ErrorClass::file, path,
                  fmt::format("does not exist ({}): no driver has made the node; load the Neuron "
                              "driver or neuron_sim, give another path, {}",
                              std::strerror(error), any_device));
  }
  if (!S_ISCHR(info.st_mode)) {
    return not_neuron(path, fmt::format("it is {}", kind_of(info.st_mode)));
  }
  const std::string name = class_of(info.st_rdev, options);
  if (name.empty() || name.ends_with("_device")) return {};
  return not_neuron(path, fmt::format("character device {}:{} belongs to the class '{}'",
                                      major(info.st_rdev), minor(info.st_rdev), name));
}

tl::unexpected<Error> open_error(const std::string& path, int error, dev_t number) {
  if (error == EACCES || error == EPERM) {
    struct stat info {};
    const std::string owner = stat(path.c_str(), &info) == 0
                                  ? fmt::format("its owner is {}:{} and its mode {:04o}",
                                                info.st_uid, info.st_gid, info.st_mode & 07777)
                                  : std::string("its folder may not be entered");
    return refuse(ErrorClass::file, path,
                  fmt::format("may not be opened for reading and writing by user {}: {}; run as a "
                              "user who may, change the mode, {}",
                              geteuid(), owner, any_device));
  }
  if (error == EBUSY) {
    return refuse(
        ErrorClass::device, path,
        fmt::format("is busy: all {} process slots of the device are taken, {}; end one of "
                    "them, {}",
                    NEURON_MAX_ATTACHED_PROCESSES, in_words(holders_of(number)), any_device));
  }
  if (error == EINVAL) {
    return refuse(ErrorClass::device, path,
                  fmt::format("is in the driver's state 'invalid' because its last reset failed; "
                              "reset it (write 1 to the node's sysfs file 'reset') or reload the "
                              "driver, {}",
                              any_device));
  }
  if (error == ENXIO || error == ENODEV) {
    return not_neuron(path, "no driver serves it (the module was unloaded)");
  }
  return refuse(ErrorClass::device, path,
                fmt::format("cannot be opened: {}; {}", std::strerror(error), any_device));
}

Result<NodeFacts> ask_driver(int fd, const std::string& path, const NodeOptions& options) {
  NodeFacts facts;
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISCHR(info.st_mode)) {
    return not_neuron(path, "it was replaced while it was opened");
  }
  facts.number = info.st_rdev;
  neuron_compatible_version versions{};
  if (const int answer = ask(fd, NEURON_IOCTL_COMPATIBLE_VERSION, &versions); answer != 0) {
    const std::string words = answer < 0 ? std::strerror(-answer) : fmt::format("{}", answer);
    return not_neuron(path, fmt::format("the driver of character device {}:{} answers the question "
                                        "for its version with '{}'",
                                        major(info.st_rdev), minor(info.st_rdev), words));
  }
  facts.min_version = versions.min;
  facts.max_version = versions.max;
  neuron_device_basic_info basic{};
  if (ask(fd, NEURON_IOCTL_DEVICE_BASIC_INFO, &basic) != 0 || versions.min > versions.max) {
    return not_neuron(path, "its driver answers like no Neuron driver");
  }
  facts.architecture = basic.architecture;
  neuron_driver_info driver{};
  driver.size = sizeof driver;
  facts.has_driver_info = ask(fd, NEURON_IOCTL_DRIVER_INFO_GET, &driver) == 0;
  if (facts.has_driver_info) facts.features = driver.feature_flags1;
  facts.simulated = is_simulated(info.st_rdev, options);
  return facts;
}

Result<void> check_versions(const NodeFacts& facts, const std::string& path) {
  for (const OurVersions& ours : our_versions) {
    if (ours.architecture != facts.architecture) continue;
    if (facts.min_version <= ours.max && ours.min <= facts.max_version) return {};
    const bool driver_is_old = facts.max_version < ours.min;
    return refuse(
        ErrorClass::unsupported, path,
        fmt::format(
            "its driver accepts interface versions {} to {}, this program speaks {} "
            "to {} on v{}: upgrade {}",
            facts.min_version, facts.max_version, ours.min, ours.max, facts.architecture,
            driver_is_old ? "the driver (the one that runs, not only its package)" : "neffld"));
  }
  return refuse(ErrorClass::unsupported, path,
                fmt::format("is a device of architecture {}, this program supports 2 to 4; {}",
                            facts.architecture, any_device));
}

std::vector<Holder> holders_of(dev_t number) {
  std::vector<Holder> holders;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!has_open(at->path(), number)) continue;
    Holder holder;
    holder.pid = std::stoi(name);
    std::ifstream(at->path() / "comm") >> holder.command;
    holders.push_back(std::move(holder));
  }
  return holders;
}

}  // namespace neffld::shim
