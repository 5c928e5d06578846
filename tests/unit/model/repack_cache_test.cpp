// Weights kept repacked on disk: the same bits as without, and no state of the file that stands in the way of loading.
#include "model/repack_cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>

#include "model/transformer.hpp"
#include "support/tiny_gguf.hpp"

using namespace outrider;
namespace fs = std::filesystem;

namespace {

// A model file of its own and the place of its repacked weights, both gone at the end.
struct Fixture {
  fs::path folder, model, kept;
  kernels::ThreadPool pool{2};

  Fixture() {
    char name[] = "/tmp/outrider-repack-XXXXXX";
    folder = ::mkdtemp(name);
    model = folder / "tiny.gguf";
    testing::write_tiny_gguf(model);
    kept = model::repack_cache_file(folder / "kept", model);
  }
  ~Fixture() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  [[nodiscard]] formats::GgufFile gguf() const {
    auto file = formats::GgufFile::open(model);
    REQUIRE(file.ok());
    return *std::move(file);
  }
  [[nodiscard]] uint64_t key() const { return model::repack_key(gguf()); }
  [[nodiscard]] bool usable() { return model::RepackCache::open(kept, key(), pool).ok(); }
  [[nodiscard]] std::string refusal() {
    const auto read = model::RepackCache::open(kept, key(), pool);
    return read.ok() ? "" : read.error().message;
  }

  // Logits of a few tokens of the loaded model.
  std::vector<float> logits(const fs::path& repack_cache = {}) {
    auto target = model::Transformer::load(gguf(), pool, kernels::best_isa(), repack_cache);
    REQUIRE(target.ok());
    model::KvCache cache((*target)->architecture(), kernels::KvType::f16, 64);
    auto sequence = cache.reserve(8);
    model::Batch batch;
    for (int32_t i = 0; i < 8; ++i) batch.add_contiguous(7 * i + 3, i, &*sequence, model::Want::logits);
    const auto out = (*target)->forward(batch, cache).logits;
    return {out.begin(), out.end()};
  }
};

std::vector<char> contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void overwrite(const fs::path& path, const std::vector<char>& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return !a.empty() && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("weights kept repacked give the same logits to the bit, and are what is loaded") {
  Fixture f;
  const auto plain = f.logits();
  CHECK(same_bits(f.logits(f.kept), plain));  // packs and writes
  REQUIRE(f.usable());
  const auto written = fs::last_write_time(f.kept);
  CHECK(same_bits(f.logits(f.kept), plain));  // reads
  CHECK(fs::last_write_time(f.kept) == written);
  CHECK_FALSE(fs::exists(f.kept.string() + ".part"));

  // That the second load read the file shows when the file holds another matrix under the model's own key.
  const auto gguf = f.gguf();
  auto architecture = model::read_architecture(gguf);
  auto weights = model::load_weights(gguf, *architecture, f.pool);
  REQUIRE(weights.ok());
  std::swap(weights->layers[0].gate, weights->layers[0].up);
  const model::RepackedTensor swapped[] = {{"blk.0.ffn_gate.weight", &weights->layers[0].gate},
                                           {"blk.0.ffn_up.weight", &weights->layers[0].up}};
  REQUIRE(model::write_repack_cache(f.kept, f.key(), swapped, f.pool).ok());
  CHECK_FALSE(same_bits(f.logits(f.kept), plain));
}

TEST_CASE("kept weights that are damaged anywhere, short, long, empty or foreign are refused, and loading makes them anew") {
  Fixture f;
  const auto plain = f.logits(f.kept);
  const std::vector<char> good = contents(f.kept);
  const auto heals = [&](const std::vector<char>& bad) {
    overwrite(f.kept, bad);
    CHECK_FALSE(f.usable());
    CHECK(same_bits(f.logits(f.kept), plain));
    CHECK(contents(f.kept) == good);
  };
  // A bit of every byte of the header and of every hundredth byte beyond: the file has none that may change unseen.
  for (size_t at = 0; at < good.size(); at += at < 64 ? 1 : 97) {
    CAPTURE(at);
    std::vector<char> bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
    overwrite(f.kept, bad);
    CHECK_FALSE(f.usable());
  }
  std::vector<char> bad = good;
  bad.back() = static_cast<char>(bad.back() ^ 0x80);
  heals(bad);
  heals({good.begin(), good.end() - 1});
  heals({good.begin(), good.begin() + 20});
  heals({});
  bad = good;
  bad.push_back(0);
  heals(bad);
  heals(contents(f.model));
  fs::remove(f.kept);
  fs::create_directory(f.kept);
  CHECK_FALSE(f.usable());
  CHECK(same_bits(f.logits(f.kept), plain));
}

TEST_CASE("a file of another layout or of another key says so") {
  Fixture f;
  (void)f.logits(f.kept);
  std::vector<char> bytes = contents(f.kept);
  bytes[8] = static_cast<char>(bytes[8] + 1);
  overwrite(f.kept, bytes);
  CHECK_THAT(f.refusal(), Catch::Contains("another version's layout"));
  bytes = contents(f.kept);
  bytes[8] = static_cast<char>(bytes[8] - 1);
  overwrite(f.kept, bytes);
  CHECK(f.usable());
  const auto other = model::RepackCache::open(f.kept, f.key() + 1, f.pool);
  REQUIRE_FALSE(other.ok());
  CHECK_THAT(other.error().message, Catch::Contains("another state of the model file"));
}

TEST_CASE("the key changes with the model's time, metadata and weights") {
  Fixture f;
  const uint64_t key = f.key();
  CHECK(f.key() == key);
  const auto time = fs::last_write_time(f.model);
  fs::last_write_time(f.model, time + std::chrono::seconds(1));
  CHECK(f.key() != key);
  fs::last_write_time(f.model, time);
  CHECK(f.key() == key);

  const std::vector<char> bytes = contents(f.model);
  std::vector<char> changed = bytes;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  overwrite(f.model, changed);
  fs::last_write_time(f.model, time);
  CHECK(f.key() != key);

  testing::write_tiny_gguf(f.model, 255);  // a number in the metadata, and nothing else
  fs::last_write_time(f.model, time);
  CHECK(contents(f.model).size() == bytes.size());
  CHECK(f.key() != key);
  overwrite(f.model, bytes);
  fs::last_write_time(f.model, time);
  CHECK(f.key() == key);
}

TEST_CASE("a changed model file is loaded, not the weights kept of the one before") {
  Fixture f;
  const auto before = f.logits(f.kept);
  std::vector<char> changed = contents(f.model);
  changed[changed.size() - 2] = static_cast<char>(changed[changed.size() - 2] ^ 0x40);
  overwrite(f.model, changed);
  const auto plain = f.logits();
  CHECK_FALSE(same_bits(plain, before));
  CHECK(same_bits(f.logits(f.kept), plain));
  CHECK(f.usable());
}

TEST_CASE("a folder that cannot be written to and a full disk cost the file alone") {
  Fixture f;
  const auto plain = f.logits();
  const fs::path below_a_file = f.model / "kept" / "weights";  // no folder can be made there, whoever we are
  CHECK(same_bits(f.logits(below_a_file), plain));

  // A limit on the size of files stands for a full disk: a write stops in the middle.
  (void)f.logits(f.kept);
  const std::vector<char> good = contents(f.kept);
  fs::last_write_time(f.model, fs::last_write_time(f.model) + std::chrono::seconds(5));  // the kept weights are old now
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit little = before;
  little.rlim_cur = good.size() / 2;
  ::setrlimit(RLIMIT_FSIZE, &little);
  const auto logits = f.logits(f.kept);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(same_bits(logits, plain));
  CHECK(contents(f.kept) == good);  // the old file stands, whole
  CHECK_FALSE(fs::exists(f.kept.string() + ".part"));
}

TEST_CASE("while one process writes the file another neither waits nor disturbs it, and what a dead one left is written over") {
  Fixture f;
  const auto plain = f.logits();
  fs::create_directories(f.kept.parent_path());
  const fs::path part = f.kept.string() + ".part";
  overwrite(part, {'h', 'a', 'l', 'f'});
  const int writer = ::open(part.c_str(), O_RDWR);
  REQUIRE(::flock(writer, LOCK_EX | LOCK_NB) == 0);
  CHECK(same_bits(f.logits(f.kept), plain));
  CHECK_FALSE(fs::exists(f.kept));
  CHECK(contents(part) == std::vector<char>{'h', 'a', 'l', 'f'});
  ::close(writer);  // it died
  CHECK(same_bits(f.logits(f.kept), plain));
  CHECK(f.usable());
  CHECK_FALSE(fs::exists(part));
}

TEST_CASE("models of one name in two folders have files of their own") {
  Fixture a, b;
  CHECK(model::repack_cache_file("/kept", a.model) != model::repack_cache_file("/kept", b.model));
  CHECK(model::repack_cache_file("/kept", a.model) == model::repack_cache_file("/kept", a.folder / "." / "tiny.gguf"));
}
