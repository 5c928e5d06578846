// Writes the sample GGUF files into a folder, as the fuzz target's seeds.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "support/gguf_samples.hpp"

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  for (auto& [name, writer] : outrider::testing::all_gguf_samples()) {
    const auto bytes = writer.build();
    std::ofstream out(folder / (name + ".gguf"), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) {
      std::fprintf(stderr, "%s: cannot be written\n", (folder / (name + ".gguf")).c_str());
      return 1;
    }
  }
  return 0;
}
