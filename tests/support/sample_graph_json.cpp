// SPDX-License-Identifier: MIT
// neff.json of synthetic NEFFs (spec 08 s2.2). Written as text: the document is small and its
// nested "list" pairs read best as they are.
#include <fmt/format.h>

#include "sample_json.hpp"

namespace neffld::sample {
namespace {

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string input_node(const Tensor& tensor) {
  return fmt::format(
      R"(        {{"op": "null", "name": "{0}", "inputs": [], "output_names": ["{0}"], "is_param": "0"}})",
      tensor.name);
}

}  // namespace

std::string neff_json(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                      std::size_t subgraphs) {
  std::vector<std::string> nodes, entries, output_names, heads, shapes, dtypes, storage, signature;
  std::vector<std::size_t> arguments, row_ptr = {0};
  const auto add_tensor = [&](const Tensor& tensor) {
    shapes.push_back(shape_text(tensor.shape));
    storage.push_back(std::to_string(dtypes.size()));
    dtypes.push_back('"' + tensor.dtype + '"');
  };
  for (const auto& input : inputs) {
    const std::size_t node = nodes.size();
    nodes.push_back(input_node(input));
    entries.push_back(fmt::format("[{}, 0, 0]", node));
    signature.push_back(fmt::format(R"("{}": {{"id": {}, "dtype": "{}", "shape": {}}})", input.name,
                                    node, input.dtype, shape_text(input.shape)));
    arguments.push_back(node);
    add_tensor(input);
    row_ptr.push_back(dtypes.size());
  }
  // With two subgraphs every output is listed once for each; it is still one tensor.
  for (std::size_t copy = 0; copy < subgraphs; ++copy) {
    for (const auto& output : outputs) {
      heads.push_back(fmt::format("[{}, {}, 0]", nodes.size(), heads.size()));
      output_names.push_back('"' + output.name + '"');
      add_tensor(output);
    }
  }
  row_ptr.push_back(dtypes.size());
  nodes.push_back(fmt::format(
      R"(        {{"op": "tvm_op", "name": "sg_coreV10", "attrs": {{"func_name": "__kelf", "flatten_data": "0",
            "num_inputs": "{}", "kelf": "kelf-0.json", "num_outputs": "{}"}},
            "inputs": [{}], "output_names": [{}]}})",
      inputs.size(), heads.size(), fmt::join(entries, ", "), fmt::join(output_names, ", ")));
  return fmt::format(
      R"({{
    "nodes": [
{}
    ],
    "arg_nodes": [{}],
    "heads": [{}],
    "attrs": {{
        "shape": ["list_shape", [{}]],
        "storage_id": ["list_int", [{}]],
        "dltype": ["list_str", [{}]]
    }},
    "node_row_ptr": [{}],
    "metadata": {{"signatures": {{"default": {{"inputs": {{{}}}, "outputs": {{}}}}}}}}
}}
)",
      fmt::join(nodes, ",\n"), fmt::join(arguments, ", "), fmt::join(heads, ", "),
      fmt::join(shapes, ", "), fmt::join(storage, ", "), fmt::join(dtypes, ", "),
      fmt::join(row_ptr, ", "), fmt::join(signature, ", "));
}

}  // namespace neffld::sample
