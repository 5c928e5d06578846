// The file: Header, Entry[tensors], a checksum (uint64) for each kPiece of each tensor, and from header.data on the tensors' packed
// bytes, at offsets that are multiples of kAlignment. Numbers are the machine's own: another byte order does not find its magic.
#include "model/repack_cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "formats/mapped_file.hpp"

namespace outrider::model {
namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const std::byte>;

constexpr uint64_t kMagic = 0x0a6b63617065724f;  // "Orepack\n"
constexpr size_t kAlignment = 64;                // of packed groups
constexpr size_t kPiece = size_t{1} << 20;

struct Header {
  uint64_t magic, layout, key;
  uint64_t tensors;
  uint64_t data;  // where the data begins
  uint64_t file_bytes;
  uint64_t checksum;  // of this header with 0 here and of all up to the data
};

struct Entry {
  uint64_t name;  // its hash
  uint64_t type;  // kernels::TensorType
  int64_t rows, cols;
  uint64_t offset, bytes;  // in the file
};

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Not against forgers: against chance. Eight chains, so that the multiplier is never waited for; each step is a bijection of its chain, so
// that no change of a single word can be lost.
uint64_t hash_of(Bytes bytes, uint64_t seed = 0) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd
  const auto mix = [](uint64_t hash, uint64_t word) {
    hash ^= word;
    return (hash << 29 | hash >> 35) * kFactor;
  };
  std::array<uint64_t, 8> chains{};
  for (size_t i = 0; i < chains.size(); ++i) chains[i] = seed + i * kFactor;
  size_t at = 0;
  for (; at + 64 <= bytes.size(); at += 64) {
    std::array<uint64_t, 8> words;
    std::memcpy(words.data(), bytes.data() + at, 64);
    for (size_t i = 0; i < words.size(); ++i) chains[i] = mix(chains[i], words[i]);
  }
  std::array<uint64_t, 8> rest{};
  if (at < bytes.size()) std::memcpy(rest.data(), bytes.data() + at, bytes.size() - at);
  uint64_t hash = mix(seed, bytes.size());
  for (size_t i = 0; i < rest.size(); ++i) hash = mix(mix(hash, chains[i]), rest[i]);
  return hash ^ hash >> 32;
}

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

uint64_t table_checksum(Header header, Bytes table) {
  header.checksum = 0;
  return hash_of(table, hash_of(std::as_bytes(std::span(&header, 1))));
}

// A descriptor that closes itself, and with it gives back its lock.
struct Descriptor {
  int number;
  explicit Descriptor(int n) : number(n) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

// Writes a file from its beginning on in pieces of kStep at multiples of kStep: the page cache of a file system that can (ext4 of
// Linux 6.18 does) takes huge pages for them, and who maps the file reads through these.
class Writer {
 public:
  explicit Writer(int file) : file_(file) { buffer_.reserve(kStep); }

  bool add(Bytes bytes) {
    while (!bytes.empty()) {
      const size_t fitting = std::min(bytes.size(), kStep - buffer_.size());
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(fitting));
      bytes = bytes.subspan(fitting);
      if (buffer_.size() == kStep && !flush()) return false;
    }
    return true;
  }

  bool flush() {
    Bytes left(buffer_);
    while (!left.empty()) {
      const ssize_t written = ::write(file_, left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      left = left.subspan(static_cast<size_t>(written));
    }
    buffer_.clear();
    return true;
  }

 private:
  static constexpr size_t kStep = size_t{8} << 20;
  int file_;
  std::vector<std::byte> buffer_;
};

// Calls f(tensor, offset in it, bytes, number of the piece) for every piece of the tensors, on all threads.
template <class F>
void for_each_piece(const std::vector<Entry>& entries, kernels::ThreadPool& pool, F&& f) {
  struct Piece {
    size_t tensor, at, bytes;
  };
  std::vector<Piece> pieces;
  for (size_t i = 0; i < entries.size(); ++i)
    for (size_t at = 0; at < entries[i].bytes; at += kPiece) pieces.push_back({i, at, std::min(kPiece, entries[i].bytes - at)});
  std::atomic<size_t> next{0};
  pool.run([&](const kernels::Worker&) {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < pieces.size();)
      f(pieces[i].tensor, pieces[i].at, pieces[i].bytes, i);
  });
}

size_t piece_count(const std::vector<Entry>& entries) {
  size_t count = 0;
  for (const Entry& entry : entries) count += (entry.bytes + kPiece - 1) / kPiece;
  return count;
}

}  // namespace

fs::path repack_cache_file(const fs::path& folder, const fs::path& model_file) {
  std::error_code error;
  fs::path whole = fs::canonical(model_file, error);
  if (error) whole = model_file;
  char hash[24];
  std::snprintf(hash, sizeof hash, "-%016llx", static_cast<unsigned long long>(hash_of(bytes_of(whole.string()))));
  return folder / (whole.stem().string() + hash + ".repacked");
}

uint64_t repack_key(const formats::GgufFile& model) {
  std::error_code unknown;  // a model that is no file has no time
  const auto changed = fs::last_write_time(model.name(), unknown).time_since_epoch().count();
  const std::array<uint64_t, 2> state{model.file_bytes(), unknown ? 0 : static_cast<uint64_t>(changed)};
  uint64_t key = hash_of(model.header(), hash_of(std::as_bytes(std::span(state))));
  for (const auto& tensor : model.tensors()) {
    const size_t sample = std::min<size_t>(tensor.data.size(), 256), last = tensor.data.size() - sample;
    for (const size_t at : {size_t{0}, last / 2, last}) key = hash_of(tensor.data.subspan(at, sample), key);
    model.release(tensor);  // the system maps more than was touched
  }
  return key;
}

Result<RepackCache> RepackCache::open(const fs::path& path, uint64_t key, kernels::ThreadPool& pool) {
  const auto refuse = [&](const std::string& reason) { return Error{path.string() + ": " + reason}; };
  OUTRIDER_TRY(formats::MappedFile opened, formats::MappedFile::open(path));
  const auto mapping = std::make_shared<const formats::MappedFile>(std::move(opened));
  const Bytes file = mapping->bytes();
  mapping->wish_huge_pages();

  Header header;
  if (file.size() < sizeof header) return refuse("too short for a header");
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != kMagic) return refuse("not a file of repacked weights");
  if (header.layout != kernels::kPackedLayout) return refuse("of another version's layout");
  if (header.key != key) return refuse("of another state of the model file");
  if (header.file_bytes != file.size())
    return refuse("expected " + std::to_string(header.file_bytes) + " bytes, found " + std::to_string(file.size()));
  const Error damaged = refuse("its header is damaged");
  if (header.data > file.size() || header.data < sizeof header) return damaged;
  const Bytes table = file.subspan(sizeof header, header.data - sizeof header);
  if (table_checksum(header, table) != header.checksum) return damaged;
  if (header.tensors > table.size() / sizeof(Entry)) return damaged;
  std::vector<Entry> entries(header.tensors);
  std::memcpy(entries.data(), table.data(), entries.size() * sizeof(Entry));
  std::vector<uint64_t> checksums((table.size() - entries.size() * sizeof(Entry)) / sizeof(uint64_t));
  std::memcpy(checksums.data(), table.data() + entries.size() * sizeof(Entry), checksums.size() * sizeof(uint64_t));
  if (checksums.size() < piece_count(entries)) return damaged;

  RepackCache cache;
  for (const Entry& entry : entries) {
    const auto type = static_cast<kernels::TensorType>(entry.type);
    if (!kernels::type_traits(static_cast<uint32_t>(entry.type)) || entry.offset % kAlignment != 0 || entry.offset > file.size() ||
        entry.bytes > file.size() - entry.offset || kernels::PackedMatrix::packed_bytes(type, entry.rows, entry.cols) != entry.bytes)
      return damaged;
    cache.matrices_.emplace(entry.name,
                            kernels::PackedMatrix::borrow(type, entry.rows, entry.cols, file.subspan(entry.offset, entry.bytes), mapping));
  }
  std::atomic<bool> whole{true};
  for_each_piece(entries, pool, [&](size_t tensor, size_t at, size_t bytes, size_t piece) {
    if (hash_of(file.subspan(entries[tensor].offset + at, bytes)) != checksums[piece]) whole = false;
  });
  if (!whole) return refuse("its weights are damaged");
  return cache;
}

std::optional<kernels::PackedMatrix> RepackCache::take(const std::string& name, kernels::TensorType type, int64_t rows, int64_t cols) {
  const auto found = matrices_.find(hash_of(bytes_of(name)));
  if (found == matrices_.end()) return std::nullopt;
  const kernels::PackedMatrix& m = found->second;
  if (m.type() != type || m.rows() != rows || m.cols() != cols) return std::nullopt;
  return std::move(matrices_.extract(found).mapped());
}

Result<void> write_repack_cache(const fs::path& file, uint64_t key, std::span<const RepackedTensor> tensors, kernels::ThreadPool& pool) {
  const auto failed = [&file](const std::string& reason) {
    return Error{file.string() + ": cannot be written (" + reason +
                 "); check the folder's permissions and the disk, or set model.repack_cache to false"};
  };
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const std::string part_name = file.string() + ".part";
  const Descriptor part(::open(part_name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (part.number < 0) return failed(std::strerror(errno));
  // Whoever holds the lock writes. The name may meanwhile stand for another file than the one that was opened: the last writer renamed it.
  struct stat opened = {}, named = {};
  if (::flock(part.number, LOCK_EX | LOCK_NB) != 0 || ::fstat(part.number, &opened) != 0 || ::stat(part_name.c_str(), &named) != 0 ||
      opened.st_ino != named.st_ino || opened.st_dev != named.st_dev)
    return {};

  std::vector<Entry> entries;
  for (const RepackedTensor& tensor : tensors) {
    const kernels::PackedMatrix& m = *tensor.matrix;
    entries.push_back({hash_of(bytes_of(tensor.name)), static_cast<uint64_t>(m.type()), m.rows(), m.cols(), 0, m.bytes()});
  }
  std::vector<uint64_t> checksums(piece_count(entries));
  for_each_piece(entries, pool, [&](size_t tensor, size_t at, size_t bytes, size_t piece) {
    checksums[piece] = hash_of({tensors[tensor].matrix->group(0) + at, bytes});
  });
  const Bytes checksum_bytes = std::as_bytes(std::span(checksums));
  Header header{kMagic, kernels::kPackedLayout, key, entries.size(), 0, 0, 0};
  header.data = aligned(sizeof header + std::as_bytes(std::span(entries)).size() + checksum_bytes.size());
  size_t end = header.data;
  for (Entry& entry : entries) {
    entry.offset = end;
    end += entry.bytes;  // a multiple of kAlignment, as header.data is
  }
  header.file_bytes = end;
  const Bytes entry_bytes = std::as_bytes(std::span(entries));
  std::vector<std::byte> table(header.data - sizeof header);
  std::copy(checksum_bytes.begin(), checksum_bytes.end(), std::copy(entry_bytes.begin(), entry_bytes.end(), table.begin()));
  header.checksum = table_checksum(header, table);

  // Nothing waits for the disk: what a crash of the machine leaves behind a finished name has wrong checksums.
  Writer out(part.number);
  bool written = ::ftruncate(part.number, 0) == 0 && out.add(std::as_bytes(std::span(&header, 1))) && out.add(table);
  for (const RepackedTensor& tensor : tensors) written = written && out.add({tensor.matrix->group(0), tensor.matrix->bytes()});
  written = written && out.flush();
  if (!written || ::rename(part_name.c_str(), file.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(part_name.c_str());
    return failed(reason);
  }
  return {};
}

}  // namespace outrider::model
