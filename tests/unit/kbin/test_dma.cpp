// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "model.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

const std::string in_block = R"("id":0,"queue":"qIn")";

std::string side(const std::string& prefix, const std::string& variable, const std::string& offset,
                 const std::string& sizes, const std::string& steps) {
  return "\"" + prefix + "\":\"" + variable + "\",\"" + prefix + "_off\":" + offset + ",\"" +
         prefix + "_sizes\":[" + sizes + "],\"" + prefix + "_steps\":[" + steps + "]";
}

/// 128 rows of 512 bytes between x and the SBUF: all of x.
const std::string from_x = side("from", "x", "0", "512,128", "1,512");
const std::string to_sb = side("to", "SB", "0", "512,128", "1,262144");

Files with_sp(const std::string& json, const std::string& target = "sunda") {
  Files files = model(target);
  files.set("sg00/SP.json", json);
  return files;
}

Files with_descriptor(const std::string& descriptor, const std::string& target = "sunda") {
  return with_sp(block_json(in_block, descriptor), target);
}

DmaDescriptor descriptor_of(const std::string& text) {
  const Kbin kbin = built(with_descriptor(text));
  REQUIRE(kbin.descriptors.size() == 1);
  return kbin.descriptors[0];
}

std::string values_of(const AccessPattern& side) {
  return fmt::format("var {} dims {} dtype {} offset {} sizes {} steps {}", side.var_id, side.dims,
                     side.dtype, side.offset, fmt::join(side.sizes, ","),
                     fmt::join(side.steps, ","));
}

std::string values_of(const DmaDescriptor& d) {
  return fmt::format("{} tiling {} class {} element {} shape {} from {} to {} compute {}",
                     dma_op_name(d.op), d.tiling_dims, d.priority_class, d.transpose_element_size,
                     fmt::join(d.transpose_shape, ","), values_of(d.from), values_of(d.to),
                     d.cce.has_value());
}

struct DmaRow {
  std::string text;
  std::string path, fragment;
};

}  // namespace

TEST_CASE("a broken block is refused at the broken key") {
  const std::vector<DmaRow> rows = {
      {R"("queue":"qIn")", "", "Failed to parse, key: id"},
      {R"("id":-1,"queue":"qIn")", ".id", "found -1"},
      {R"("id":4294967296,"queue":"qIn")", ".id", "at most 4294967295"},
      {R"("id":0)", "", "DMA block 0 names neither queue nor instance_name"},
      {R"("id":0,"queue":"q")", ".queue", "no queue set is called q"},
      {R"("id":0,"queue":"qIn","instance_name":"i")", ".instance_name",
       "no ring instance is called i"},
      {R"("id":0,"queue":"qDyn")", ".queue", "qDyn is dynamic"},
      {R"("id":0,"queue":"qIn","semaphore":1)", ".semaphore", "semaphore 1 is the"},
      {R"("id":0,"queue":"qIn","semaphore":243)", ".semaphore", "semaphore 243 is the"},
      {R"("id":0,"queue":"qIn","remote_semaphores":[8,2])", ".remote_semaphores[1]",
       "semaphore 2 is the"},
      {R"("id":0,"queue":"qIn","event":256)", ".event", "at most 255"},
      {R"("id":0,"queue":"qIn","event":3)", ".event", "needs a queue set of one queue"},
      {R"("id":0,"queue":"qIn","priority_class":256)", ".priority_class", "at most 255"},
      {R"("id":0,"queue":"qIn","section_start_desc":"y")", ".section_start_desc", "found \"y\""},
      {R"("id":0,"queue":"qIn","id":1)", ".id", "duplicate key"},
  };
  for (const DmaRow& row : rows) {
    const auto result = build(with_sp(block_json(row.text, from_x + "," + to_sb)));
    check_refused(result, "sg00/SP.json", "$.dma[0]" + row.path, row.fragment);
  }
  check_refused(build(with_sp(R"({"instr":"code.bin","dma":[{"id":0,"queue":"qIn"}]})")),
                "sg00/SP.json", "$.dma[0]", "Failed to parse, key: desc");
  check_refused(build(with_sp(R"({"instr":"code.bin","dma":{}})")), "sg00/SP.json", "$.dma",
                "found an object, expected an array");
  check_refused(
      build(with_sp(
          R"({"instr":"code.bin","dma":[{"id":7,"queue":"qIn","desc":[]},{"id":7,"queue":"qIn","desc":[]}]})")),
      "sg00/def.json", "$.dma_queue.qIn", "block id 7 occurs twice in ring instance qIn");
  // MAIN and a function number their blocks apart, and a function's name holds for later blocks.
  CHECK(build(with_sp(
      R"({"instr":"code.bin","dma":[{"id":7,"queue":"qIn","desc":[]},{"id":7,"queue":"qIn","function_start":"fill","desc":[]}]})")));
  check_refused(
      build(with_sp(
          R"({"instr":"code.bin","dma":[{"id":7,"queue":"qIn","function_start":"fill","desc":[]},{"id":7,"queue":"qIn","desc":[]}]})")),
      "sg00/def.json", "$.dma_queue.qIn", "block id 7 occurs twice in ring instance qIn");
}

TEST_CASE("a broken descriptor is refused at the broken key") {
  const std::string big = "9223372036854775807";
  const std::vector<DmaRow> rows = {
      {to_sb, "", "Failed to parse, key: from"},
      {from_x, "", "Failed to parse, key: to"},
      {from_x + "," + to_sb + R"(,"op":"move")", ".op", "Unknown dma operation: move"},
      {side("from", "nobody", "0", "512", "1") + "," + to_sb, ".from",
       "no variable is called nobody"},
      {from_x + "," + side("to", "nobody", "0", "512", "1"), ".to", "no variable is called nobody"},
      {side("from", "x", "-1", "512,128", "1,512") + "," + to_sb, ".from_off", "found -1"},
      {side("from", "x", "0", "0,128", "1,512") + "," + to_sb, ".from_sizes[0]",
       "Size cannot be 0"},
      {side("from", "x", "0", "512,0", "1,512") + "," + to_sb, ".from_sizes[1]",
       "Size cannot be 0"},
      {side("from", "x", "0", "512,1.5", "1,512") + "," + to_sb, ".from_sizes[1]", "found 1.5"},
      {side("from", "x", "0", "1,1,1,1,1", "1,1,1,1,1") + "," + to_sb, ".from_sizes[4]",
       "more than 4 dimensions"},
      {side("from", "x", "0", "512,128", "1") + "," + to_sb, ".from_sizes", "2 sizes and 1 steps"},
      {side("from", "x", "0", "", "") + "," + to_sb, ".from_sizes", "0 sizes and 0 steps"},
      {R"("from":"x",)" + to_sb, ".from_sizes", "0 sizes and 0 steps"},
      {R"("from":"x","from_sizes":[512,128],)" + to_sb, ".from_sizes", "2 sizes and 0 steps"},
      {side("from", "x", "0", "512,128", "2,512") + "," + to_sb, ".from_steps[0]",
       "the innermost step is 2, it must be 1"},
      {side("from", "x", "0", "512,128", "0,512") + "," + to_sb, ".from_steps[0]", "step is 0"},
      {from_x + "," + side("to", "SB", "0", "512,128", "-1,262144"), ".to_steps[0]", "step is -1"},
      {from_x + "," + to_sb + R"(,"from_dtype":"float")", ".from_dtype",
       "Unsupported data type!: float"},
      {from_x + "," + to_sb + R"(,"to_dtype":6)", ".to_dtype", "found 6, expected a string"},
      {from_x + "," + to_sb + R"(,"num_tiling_dimensions":0)", ".num_tiling_dimensions",
       "found 0, allowed are 1 to 4"},
      {from_x + "," + to_sb + R"(,"num_tiling_dimensions":5)", ".num_tiling_dimensions",
       "found 5, allowed are 1 to 4"},
      // Bounds of HBM sides.
      {side("from", "x", "1", "512,128", "1,512") + "," + to_sb, ".from_off",
       "bytes 1 to 65536, outside the 65536 bytes of variable x"},
      {side("from", "x", "0", "512,128", "1,513") + "," + to_sb, ".from_off", "bytes 0 to 65662"},
      {side("from", "x", "0", "512,128", "1,-512") + "," + to_sb, ".from_off",
       "bytes -65024 to 511"},
      {side("from", "x", "18446744073709551615", "512,128", "1,512") + "," + to_sb, ".from_off",
       "more than 63 bits"},
      {side("from", "x", "9223372036854775807", "512,128", "1,512") + "," + to_sb, ".from_off",
       "more than 63 bits"},
      {side("from", "x", "0", "512,128", "1," + big) + "," + to_sb, ".from_off",
       "more than 63 bits"},
      {side("from", "x", "0", "512,128", "1,-9223372036854775808") + "," + to_sb, ".from_off",
       "more than 63 bits"},
      {side("from", "x", "0", "18446744073709551615", "1") + "," +
           side("to", "SB", "0", "18446744073709551615", "1"),
       ".from_off", "more than 63 bits"},
      // Bounds of SBUF sides.
      {from_x + "," + side("to", "SB", "262144", "512,128", "1,262144"), ".to_off",
       "partitions 1 to 128, there are 128"},
      {from_x + "," + side("to", "SB", "0", "512,128", "1,-262144"), ".to_off",
       "partitions -127 to 0"},
      {from_x + "," + side("to", "SB", "196097", "512,128", "1,262144"), ".to_off",
       "bytes 196097 to 196608 of a partition, usable are 196608"},
      {from_x + "," + side("to", "SB", "0", "512,128", "1,2048"), ".to_off", "of a partition"},
      {from_x + "," + side("to", "SB", "0", "512,128", "1,-512"), ".to_off", "bytes -65024 to 511"},
      {from_x + "," + side("to", "SB", "33554432", "512,128", "1,0"), ".to_off",
       "partitions 128 to 128"},
      // Consistency of the two sides.
      {from_x + "," + side("to", "SB", "0", "512,64", "1,262144"), ".to_sizes",
       "found [512,64] and from_sizes [512,128], a copy needs equal sizes"},
      {from_x + "," + side("to", "SB", "0", "1024,64", "1,262144"), ".to_sizes",
       "a copy needs equal sizes"},
      {from_x + R"(,"op":"cast","from_dtype":"int8","to_dtype":"float32",)" + to_sb, ".to_sizes",
       "a cast needs equal element counts"},
      {side("from", "x", "0", "510,128", "1,512") +
           R"(,"op":"cast","from_dtype":"float32","to_dtype":"float16",)" + to_sb,
       ".from_sizes", "510 bytes are not whole elements of 4"},
      {side("from", "x", "0", "1,4294967296,4294967296", "1,0,0") + "," +
           side("to", "SB", "0", "1,4294967296,4294967296", "1,0,0"),
       ".from_sizes", "more than 268435200 elements"},
      // Compute.
      {R"("op":"add",)" + to_sb, "", "Failed to parse, key: from_arr"},
      {R"("op":"add","from_arr":[{)" + from_x + "}]," + to_sb, ".from_arr[0].from_dtype",
       "Invalid cce desc ap without dtype"},
      {R"("op":"add","from_arr":[{"from_dtype":"float32",)" + from_x + "}]," + to_sb, ".to_dtype",
       "Invalid cce desc ap without dtype"},
      {R"("op":"fma","scale_dtype":"float16","from_arr":[],)" + to_sb, ".scale_dtype",
       "expected float32"},
      {R"("op":"min","constant_dtype":"int8","from_arr":[],)" + to_sb, ".constant_dtype",
       "expected float32, int32 or uint32"},
      {R"("op":"max","to_dtype":"int32","from_arr":[{"from_dtype":"int32",)" + from_x +
           R"(},{"from_dtype":"int32",)" + side("from", "x", "0", "256,128", "1,512") + "}]," +
           to_sb,
       ".from_arr[1].from_sizes", "equal sizes on all sides"},
      {R"("op":"max","to_dtype":"int32","from_arr":[{"from_dtype":"int32",)" + from_x +
           R"(},{"from_dtype":"int32",)" + side("from", "x", "8", "512,128", "1,512") + "}]," +
           to_sb,
       ".from_arr[1].from_off", "outside the 65536 bytes of variable x"},
  };
  for (const DmaRow& row : rows) {
    INFO(row.text);
    check_refused(build(with_descriptor(row.text)), "sg00/SP.json", "$.dma[0].desc[0]" + row.path,
                  row.fragment);
  }
}

TEST_CASE("a compute descriptor has 1 to 16 sources") {
  for (const int count : {0, 1, 2, 15, 16, 17, 65536}) {
    INFO(count << " sources");
    std::string sources;
    for (int i = 0; i < count; ++i) {
      sources +=
          (i ? R"(,{"from_dtype":"float32",)" : R"({"from_dtype":"float32",)") + from_x + "}";
    }
    const auto kbin = build(with_descriptor(R"("op":"add","to_dtype":"float32","from_arr":[)" +
                                            sources + "]," + to_sb));
    if (count == 0) {
      check_refused(kbin, "sg00/SP.json", "$.dma[0].desc[0]", "Failed to parse, key: from_arr");
    } else if (count > 16) {
      check_refused(kbin, "sg00/SP.json", "$.dma[0].desc[0].from_arr[16]", "more than 16 sources");
    } else {
      REQUIRE(kbin);
      CHECK((*kbin)[0].cce.at(0).extra_sources.size() == static_cast<std::size_t>(count) - 1);
    }
  }
}

TEST_CASE("list and table variables cannot be a side") {
  Files files = with_descriptor(side("from", "t", "0", "8", "1") + "," + to_sb);
  files.set("sg00/def.json",
            def_json(base_vars + R"(,"t":{"type":"dge-table","var_id":3,"list":[1]})"));
  check_refused(build(files), "sg00/SP.json", "$.dma[0].desc[0].from",
                "variable t is a dge-table and cannot be moved by DMA");
}

TEST_CASE("the last byte of every memory can be reached, the next one cannot") {
  const auto sb = [](const std::string& offset) {
    return side("from", "x", "0", "512,128", "1,512") + "," +
           side("to", "SB", offset, "512,128", "1,262144");
  };
  CHECK(build(with_descriptor(sb("196096"))));
  CHECK_FALSE(build(with_descriptor(sb("196097"))));
  CHECK(build(with_descriptor(sb("228856"), "cayman")));
  CHECK_FALSE(build(with_descriptor(sb("228857"), "cayman")));
  // Without the reservation (legacy) the whole partition is usable.
  Files files = with_descriptor(sb("228864"), "cayman");
  files.set("sg00/def.json", def_json());
  BuildOptions legacy;
  legacy.allow_legacy = true;
  CHECK(build(files, legacy));
  files.set("sg00/SP.json", block_json(in_block, sb("228865")));
  CHECK_FALSE(build(files, legacy));
}

TEST_CASE("negative and meaningless steps count as they move") {
  const DmaDescriptor reversed =
      descriptor_of(side("from", "x", "65024", "512,128", "1,-512") + "," +
                    side("to", "SB", "33292288", "512,128", "1,-262144"));
  CHECK(reversed.from.steps[1] == -512);
  // The step of a dimension of size 1 never moves; real files have large ones there.
  CHECK(build(with_descriptor(side("from", "x", "0", "4,1", "1,33554432") + "," +
                              side("to", "SB", "0", "4,1", "1,33554432"))));
  // Dimensions of size 1 at the end do not make two sides differ.
  CHECK(build(with_descriptor(side("from", "x", "0", "4", "1") + "," +
                              side("to", "SB", "0", "4,1,1", "1,1,1"))));
}

TEST_CASE("op decides what a descriptor is, and transpose keys do without op") {
  CHECK(descriptor_of(from_x + "," + to_sb).op == DmaOp::copy);
  CHECK(descriptor_of(from_x + R"(,"op":"copy",)" + to_sb).op == DmaOp::copy);
  const DmaDescriptor cast =
      descriptor_of(side("from", "x", "0", "128,128", "1,128") +
                    R"(,"op":"cast","from_dtype":"int8","to_dtype":"float32",)" + to_sb);
  CHECK(cast.op == DmaOp::cast);
  CHECK(cast.from.dtype == 2);
  CHECK(cast.to.dtype == 10);
  CHECK(descriptor_of(from_x + R"(,"cast":true,)" + to_sb).op == DmaOp::cast);
}

TEST_CASE("a transpose needs tiles that fit both sides") {
  const std::string from = side("from", "x", "0", "256,128,2,1", "1,512,256,65536");
  const std::string to = side("to", "SB", "0", "512,64,2,1", "1,262144,16777216,512");
  const std::string keys =
      R"(,"num_tiling_dimensions":2,"transpose_op":"WZXY","transpose_element_size":4,)"
      R"("transpose_shape":[1,1,128,64],)";
  const DmaDescriptor good = descriptor_of(from + keys + to);
  CHECK(good.op == DmaOp::transpose);
  CHECK(good.tiling_dims == 2);
  CHECK(good.transpose_element_size == 4);
  CHECK(good.transpose_shape == std::array<std::uint32_t, 4>{1, 1, 128, 64});
  const auto edited = [&](const std::string& find, const std::string& replace) {
    std::string text = from + keys + to;
    return text.replace(text.find(find), find.size(), replace);
  };
  const std::vector<DmaRow> rows = {
      {edited(R"("transpose_shape":[1,1,128,64],)", ""), "",
       "Failed to parse, key: transpose_shape"},
      {edited(R"("transpose_element_size":4,)", ""), "",
       "Failed to parse, key: transpose_element_size"},
      {edited("[1,1,128,64]", "[1,1,128]"), ".transpose_shape", "found 3 numbers"},
      {edited("[1,1,128,64]", "[2,1,128,64]"), ".transpose_shape", "found [2,1,128,64]"},
      {edited("[1,1,128,64]", "[1,1,64,64]"), ".from_sizes", "the tile needs [256,64] first"},
      {edited("[1,1,128,64]", "[1,1,128,4294967295]"), ".from_sizes", "the tile needs"},
      {edited("_size\":4", "_size\":0"), ".transpose_element_size", "found 0"},
      {edited("_size\":4", "_size\":65537"), ".transpose_element_size", "1 to 65536 bytes"},
      {edited("[512,64,2,1]", "[256,128,2,1]"), ".to_sizes", "the tile needs [512,64] first"},
      {edited("[512,64,2,1]", "[512,64,1,1]"), ".to_sizes", "equal numbers of tiles"},
      {edited("dimensions\":2", "dimensions\":1"), ".num_tiling_dimensions", "found 1"},
      {edited("WZXY", "ZWXY"), ".transpose_op", "\"ZWXY\" is not supported"},
  };
  for (const DmaRow& row : rows) {
    check_refused(build(with_descriptor(row.text)), "sg00/SP.json", "$.dma[0].desc[0]" + row.path,
                  row.fragment);
  }
}

TEST_CASE("the legacy size key is one run") {
  const DmaDescriptor descriptor = descriptor_of(R"("from":"x","to":"SB","size":4096)");
  CHECK(descriptor.from.dims == 1);
  CHECK(descriptor.from.sizes[0] == 4096);
  CHECK(descriptor.to.steps[0] == 1);
  CHECK(descriptor.from.dtype == 3);
  check_refused(build(with_descriptor(R"("from":"x","to":"SB","size":0)")), "sg00/SP.json",
                "$.dma[0].desc[0].size", "Size cannot be 0");
}

TEST_CASE("compute descriptors keep all their sources out of line") {
  const std::string source =
      R"({"from_dtype":"float32","scale":0.5,"scale_dtype":"float32",)" + from_x + "}";
  const Kbin kbin = built(with_descriptor(
      R"("op":"max","to_dtype":"float32","constant":-1.5,"constant_dtype":"float32","from_arr":[)" +
      source + "," + source + "," + source + "]," + to_sb));
  REQUIRE(kbin.descriptors.size() == 1);
  REQUIRE(kbin.descriptors[0].cce);
  const CceInfo& cce = kbin.cce[*kbin.descriptors[0].cce];
  CHECK(kbin.descriptors[0].op == DmaOp::max);
  CHECK(kbin.descriptors[0].from.var_id == 1);
  CHECK(cce.extra_sources.size() == 2);
  CHECK(cce.scales == std::vector<double>{0.5, 0.5, 0.5});
  CHECK(cce.constant == -1.5);
}

TEST_CASE("every descriptor dtype has its instruction code and size") {
  const std::vector<std::tuple<std::string, int, std::uint32_t>> rows = {
      {"uint64", 1, 8},
      {"int8", 2, 1},
      {"uint8", 3, 1},
      {"int16", 4, 2},
      {"uint16", 5, 2},
      {"bfloat16", 6, 2},
      {"float16", 7, 2},
      {"int32", 8, 4},
      {"uint32", 9, 4},
      {"float32", 10, 4},
      {"float32r", 11, 4},
      {"int64", 12, 8},
      {"float8e3", 13, 1},
      {"float8e4", 14, 1},
      {"float8e5", 15, 1},
      {"float8_e4m3fn", 14, 1},
      {"float8_e4m3fn_x4", 9, 4},
      {"float8_e5m2_x4", 9, 4},
      {"float4_e2m1fn_x4", 5, 2}};
  for (const auto& [name, code, bytes] : rows) {
    const DmaDescriptor d = descriptor_of(from_x + ",\"to_dtype\":\"" + name + "\"," + to_sb);
    CHECK(d.to.dtype == code);
    CHECK(dtype_bytes(d.to.dtype) == bytes);
  }
  CHECK(dtype_bytes(0) == 0);
  CHECK(dtype_bytes(16) == 0);
}

TEST_CASE("blocks keep their order, queues, functions and signals") {
  Files files = model();
  files.set(
      "sg00/def.json",
      def_json(base_vars, R"("a":{"type":"data","queue_instances":["a0","a1"]},"b":{"type":"in"})",
               R"("dma":[{"id":9,"queue":"a","desc":[]}])"));
  files.set("sg00/PE.json", R"({"instr":"code.bin","dma":[
      {"id":0,"queue":"b","desc":[],"event":7,"priority_class":3}]})");
  files.set("sg00/SP.json", R"({"instr":"code.bin","dma":[
      {"id":0,"queue":"a","desc":[{"from":"x","to":"SB","size":4},{"from":"x","to":"SB","size":4}],
       "semaphore":8,"remote_semaphores":[9,10],"priority_class":200},
      {"id":1,"queue":"a","function_start":"f","desc":[],"section_start_desc":true},
      {"id":1,"queue":"b","desc":[]},
      {"id":0,"queue":"b","instance_name":"a1","desc":[{"from":"x","to":"SB","size":4}]}]})");
  const Kbin kbin = built(files);
  REQUIRE(kbin.blocks.size() == 6);
  CHECK(kbin.blocks[0].id == 9);
  CHECK(kbin.blocks[1].engine == Engine::pe);
  CHECK(kbin.blocks[1].event == 7u);
  const DmaBlock& first = kbin.blocks[2];
  CHECK(first.engine == Engine::sp);
  CHECK(first.first_descriptor == 0);
  CHECK(first.descriptor_count == 2);
  CHECK(first.semaphore == 8u);
  CHECK(first.remote_semaphores == std::vector<std::uint32_t>{9, 10});
  CHECK(first.function.empty());
  CHECK(kbin.descriptors[1].priority_class == 200);
  CHECK(kbin.descriptors[2].priority_class == 0);
  CHECK(kbin.blocks[3].function == "f");
  CHECK(kbin.blocks[3].section_start);
  CHECK(kbin.blocks[4].function.empty());  // another queue set
  CHECK(kbin.blocks[5].queue_set == 0);
  CHECK(kbin.blocks[5].instance == 1);
  CHECK(kbin.blocks[5].function == "f");  // the same queue set
  CHECK(kbin.blocks[5].first_descriptor == 2);
}

TEST_CASE("a descriptor like one before it is read as if it stood alone") {
  const std::string load = from_x + R"(,"op":"copy",)" + to_sb;
  const std::string store = side("from", "SB", "262144", "8,4", "1,262144") + "," +
                            side("to", "y", "65500", "8,4", "1,8");
  const std::vector<std::string> texts = {
      load,
      from_x + R"(,"op":"copy",)" + side("to", "SB", "1024", "512,128", "1,262144"),
      store,
      side("from", "SB", "32505856", "8,4", "1,262144") + "," + side("to", "y", "0", "8,4", "1,8"),
      load,
      side("from", "x", "64", "512,127", "1,512") + R"(,"op":"copy",)" +
          side("to", "SB", "0", "512,127", "1,262144"),
      R"("from":"x","to":"SB","size":4)",
      R"("from":"x","to":"SB","size":4)",
      R"("from":"x","to_off":7,"to":"SB","size":4,"#comment":"5")",
      R"("from":"x","to_off":8,"to":"SB","size":4,"#comment":"5")",
      load,
  };
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "},{") + text;
  const Kbin kbin = built(with_descriptor(all));
  REQUIRE(kbin.descriptors.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO("descriptor " << i);
    CHECK(values_of(kbin.descriptors[i]) == values_of(descriptor_of(texts[i])));
  }
}

TEST_CASE("a damaged descriptor is refused alike alone and behind the sound one") {
  const std::string sound = side("from", "x", "1234", "512,16", "1,512") + R"(,"op":"copy",)" +
                            side("to", "SB", "262144", "512,16", "1,262144");
  std::size_t refused = 0, accepted = 0;
  for (std::size_t i = 0; i < sound.size(); ++i) {
    for (const std::string damage : {"", "0", "9", "00", "123456789012345678901", "-", ".", " ",
                                     ",", "\"", "\\", "}", "x", "\xC3"}) {
      const std::string text = sound.substr(0, i) + damage + sound.substr(i + 1);
      INFO(text);
      auto alone = build(with_descriptor(text));
      const auto behind = build(with_descriptor(sound + "},{" + text));
      REQUIRE(alone.has_value() == behind.has_value());
      if (alone) {
        ++accepted;
        const auto& descriptors = behind->front().descriptors;
        REQUIRE(values_of(descriptors[1]) == values_of(alone->front().descriptors[0]));
        continue;
      }
      ++refused;
      Where& where = alone.error().where;
      const std::size_t place = where.path.find("desc[0]");
      if (place != std::string::npos) where.path.replace(place, 7, "desc[1]");
      if (where.offset) *where.offset += sound.size() + 3;
      REQUIRE(to_sentence(behind.error()) == to_sentence(alone.error()));
    }
  }
  CHECK(refused > 100);
  CHECK(accepted > 100);
}

TEST_CASE("block ids may come in any order but only once a ring and function") {
  const auto ids = [](const std::string& list) {
    return build(with_sp(R"({"instr":"code.bin","dma":[)" + list + "]}"));
  };
  const auto block = [](int id, const std::string& more = "") {
    return R"({"queue":"qIn","desc":[],"id":)" + std::to_string(id) + more + "}";
  };
  CHECK(ids(block(0) + "," + block(1) + "," + block(5)));
  CHECK(ids(block(5) + "," + block(0) + "," + block(1)));
  CHECK(ids(block(1) + "," + block(1, R"(,"function_start":"f")")));
  for (const auto& list : {block(1) + "," + block(1), block(1) + "," + block(0) + "," + block(1)}) {
    const auto refused = ids(list);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().text, Catch::Matchers::Contains("block id 1 occurs twice"));
  }
}

TEST_CASE("a descriptor uses a pointer's cell as a whole") {
  const auto with_pointer = [](const std::string& offset, const std::string& size) {
    Files files = with_descriptor(side("from", "p", offset, size, "1") + "," +
                                  side("to", "SB", "0", size, "1"));
    files.set("sg00/def.json",
              def_json(base_vars +
                       R"(,"p":{"type":"pointer","var_id":3,"size":8,"referenced_var_id":1})"));
    return build(files);
  };
  CHECK(with_pointer("0", "8"));
  CHECK(with_pointer("0", "4"));
  for (const char* offset : {"1", "4", "8"}) {
    const auto refused = with_pointer(offset, "4");
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().where.path, Catch::EndsWith(".from_off"));
    CHECK_THAT(refused.error().text, Catch::Contains("a pointer's cell is used as a whole"));
  }
  CHECK_FALSE(with_pointer("0", "9"));
}
