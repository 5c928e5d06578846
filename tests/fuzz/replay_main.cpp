// Runs a fuzz target without libFuzzer: every file of the corpus, then random changes of them until the time is up. It has no
// coverage feedback, so it finds less in an hour than libFuzzer; it needs nothing but the compiler, so it runs everywhere.
//   TARGET [--seconds N] [--seed S] FILE_OR_FOLDER…
// The input at hand when the target dies is written to ./TARGET.crash; give that file alone to run it again.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using Bytes = std::vector<uint8_t>;

Bytes current;           // what the target is looking at
std::string crash_path;  // where to leave it if that is the end

void save_crash() {
  std::ofstream out(crash_path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(current.data()), static_cast<std::streamsize>(current.size()));
  out.close();
  std::fprintf(stderr, "the input is in %s\n", crash_path.c_str());
}

void run(Bytes input) {
  current = std::move(input);
  const auto exact = std::make_unique<uint8_t[]>(current.size());  // the sanitizer guards the end of exactly this
  std::copy(current.begin(), current.end(), exact.get());
  LLVMFuzzerTestOneInput(exact.get(), current.size());
}

// One to four changes of the kinds that break readers: a changed bit, byte or number, bytes lost, added, or taken from elsewhere.
Bytes mutate(Bytes bytes, const std::vector<Bytes>& corpus, std::mt19937_64& random) {
  static constexpr uint64_t kNumbers[] = {0, 1, 2, 7, 8, 31, 32, 64, 255, 256, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
                                          uint64_t{1} << 32, uint64_t{1} << 62, ~uint64_t{0} >> 1, uint64_t{1} << 63, ~uint64_t{0} - 31,
                                          ~uint64_t{0}};
  const auto below = [&](size_t bound) { return bound == 0 ? size_t{0} : static_cast<size_t>(random() % bound); };
  for (size_t change = 0, changes = 1 + below(4); change < changes; ++change) {
    if (bytes.empty()) bytes.push_back(static_cast<uint8_t>(random()));
    const size_t at = below(bytes.size());
    switch (below(7)) {
      case 0: bytes[at] = static_cast<uint8_t>(bytes[at] ^ (1U << below(8))); break;
      case 1: bytes[at] = static_cast<uint8_t>(random()); break;
      case 2: {  // a number of 4 or 8 bytes
        const uint64_t number = kNumbers[below(std::size(kNumbers))];
        const size_t size = below(2) == 0 ? 4 : 8;
        if (bytes.size() >= at + size) std::memcpy(&bytes[at], &number, size);
        break;
      }
      case 3: bytes[at] = static_cast<uint8_t>(bytes[at] + (below(2) == 0 ? 1 : 255)); break;
      case 4: bytes.resize(at); break;
      case 5: bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 1 + below(16), static_cast<uint8_t>(random())); break;
      default: {
        const Bytes& other = corpus[below(corpus.size())];
        const size_t from = below(other.size()), count = std::min(below(64), other.size() - from);
        if (bytes.size() >= at + count && count > 0) std::memcpy(&bytes[at], &other[from], count);
        break;
      }
    }
  }
  return bytes;
}

std::vector<Bytes> load(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // the same seed gives the same run
  std::vector<Bytes> corpus;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
      std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
      std::exit(2);
    }
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return corpus;
}

}  // namespace

int main(int argument_count, char** arguments) {
  double seconds = 0;
  uint64_t seed = 1;
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < argument_count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--seconds" && i + 1 < argument_count) seconds = std::atof(arguments[++i]);
    else if (argument == "--seed" && i + 1 < argument_count) seed = std::strtoull(arguments[++i], nullptr, 10);
    else paths.emplace_back(argument);
  }
  const std::vector<Bytes> corpus = load(paths);
  if (corpus.empty()) {
    std::fprintf(stderr, "usage: %s [--seconds N] [--seed S] FILE_OR_FOLDER…\nexpected a corpus, found no file in it\n", arguments[0]);
    return 2;
  }
  crash_path = std::filesystem::path(arguments[0]).filename().string() + ".crash";
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(save_crash);

  for (const Bytes& input : corpus) run(input);
  std::mt19937_64 random(seed);
  uint64_t runs = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    run(mutate(corpus[random() % corpus.size()], corpus, random));
    ++runs;
  }
  std::printf("%zu files and %llu changes of them (seed %llu): nothing broke\n", corpus.size(), static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(seed));
  return 0;
}
