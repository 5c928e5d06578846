// Repacked weights kept on disk, so that a later start maps them instead of repacking the model again. One file a model: the matrices in
// the layout of kernels/cpu/layout.hpp, which is the same for every instruction set, under a key that says which model file they came from,
// with a checksum of every piece. A file that is missing, old, foreign, short or damaged counts as none.
//
// As with model files, one that another program shortens or writes over while it is mapped ends this process or spoils its output; Outrider
// itself only ever replaces the file, by renaming.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "base/result.hpp"
#include "formats/gguf.hpp"
#include "kernels/cpu/matmul.hpp"

namespace outrider::model {

// Where a model's repacked weights belong in `folder`: the model file's name and a hash of its absolute path.
std::filesystem::path repack_cache_file(const std::filesystem::path& folder, const std::filesystem::path& model_file);

// What tells one state of a model file from another: its size, its time of change, its metadata and tensor table, and bytes from the
// beginning, middle and end of each tensor. A change of weights alone that keeps size, time and all of these bytes goes unseen.
uint64_t repack_key(const formats::GgufFile& model);

struct RepackedTensor {
  std::string name;  // the model's
  const kernels::PackedMatrix* matrix;
};

class RepackCache {
 public:
  // Maps and checks the whole file with the pool's threads. Errors name the file and why it is of no use.
  static Result<RepackCache> open(const std::filesystem::path& file, uint64_t key, kernels::ThreadPool& pool);

  // Takes the tensor of that name, type and shape out, which keeps the mapping alive; absent when there is none such.
  std::optional<kernels::PackedMatrix> take(const std::string& name, kernels::TensorType type, int64_t rows, int64_t cols);

 private:
  std::unordered_map<uint64_t, kernels::PackedMatrix> matrices_;  // by the name's hash
};

// Writes FILE.part and renames it: readers see the old file or the new one, whole. While another process writes the same file, nothing is
// done. Errors name the file and leave no part behind.
Result<void> write_repack_cache(const std::filesystem::path& file, uint64_t key, std::span<const RepackedTensor> tensors,
                                kernels::ThreadPool& pool);

}  // namespace outrider::model
