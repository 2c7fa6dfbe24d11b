// SPDX-License-Identifier: MIT
// Devices by name, and what stands between the loader and a device that is not the simulated one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "neffld/device_file.hpp"
#include "neffld/trace.hpp"

namespace neffld {

/// Where nodes and facts about them are; tests point these elsewhere.
struct NodeOptions {
  std::string prefix = "neuron";  ///< nodes are named PREFIX0, PREFIX1, ...
  std::string dev_folder = "/dev";
  std::string sysfs_folder = "/sys";
};

/// Opens a device node for reading and writing. Asks the driver who it is before attaching to it,
/// and uses older forms of the calls where the driver lacks the 64-bit ones. `traits().simulated`
/// is true if the node belongs to our own kernel module, which says so in sysfs. Errors name the
/// node, what is wrong and the next step: the node is absent, not permitted, busy (and by whom), no
/// Neuron node, or its driver speaks other interface versions (class file, device or unsupported).
Result<std::unique_ptr<DeviceFile>> open_node(const std::string& path,
                                              const NodeOptions& options = {});

struct GateOptions {
  /// Also allow what rests on choices of ours: resetting cores and initialising queues.
  bool experimental = false;
};

/// Guards a device that is not simulated (decision 24). Marks each core before the first call that
/// names it and takes the marks back at the end. Passes on only calls known to be harmless: no
/// pattern that kills the real kernel (spec 11 B.4), no handle that was not allocated here, nothing
/// that makes the device act. A refused call never reaches the device; it answers -EPERM, -EACCES,
/// -EBUSY or -EINVAL, and refusal() says why.
Result<std::unique_ptr<DeviceFile>> gate_hardware(std::unique_ptr<DeviceFile> device,
                                                  const GateOptions& options = {});

/// Takes one line of text without a line end.
using LineSink = std::function<void(std::string_view)>;

/// Prints calls instead of making them. The device is asked only for its versions, architecture and
/// features (COMPATIBLE_VERSION, DRIVER_INFO_GET, DEVICE_BASIC_INFO); every other answer is
/// invented by a simulated device of the same architecture that starts empty.
Result<std::unique_ptr<DeviceFile>> dry_run(std::unique_ptr<DeviceFile> device, LineSink print);

struct DeviceOptions {
  /// "sim" (of `sim_architecture`), "sim:v2", "sim:v3", "auto" or the path of a node. "auto" takes
  /// the first usable node by number, else "sim" (decision 43).
  std::string name = "sim";
  std::uint32_t sim_architecture = 3;
  SimCompute sim_compute = SimCompute::run;
  NodeOptions nodes;
  bool experimental = false;  ///< see GateOptions
  bool dry_run = false;
  std::string record;        ///< trace file to write, empty = none
  bool record_data = false;  ///< keep the bytes of buffer copies in the trace
  LineSink print;            ///< gets the lines of a dry run and what "auto" decided
};

struct OpenedDevice {
  std::unique_ptr<DeviceFile> file;
  std::shared_ptr<TraceWriter> trace;  ///< finish() it after `file` is closed; null = no recording
  std::shared_ptr<SimDevice> sim;      ///< behind `file`, see sim_control.hpp; null = it is a node
};

/// Opens a device by name with everything around it: gate, dry run, recorder.
Result<OpenedDevice> open_device(const DeviceOptions& options);

}  // namespace neffld
