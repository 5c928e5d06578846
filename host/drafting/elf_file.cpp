#include "drafting/elf_file.hpp"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "drafting/refusal.hpp"
#include "outrider/entry.h"
#include "outrider/note.h"

namespace outrider::drafting {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
constexpr const char* kMachineName = "x86-64";
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr const char* kMachineName = "AArch64";
#else
#error "The plugin contract is defined for x86-64 and AArch64."
#endif

std::string machine_name(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "AArch64";
    case EM_386:
      return "32-bit x86";
    case EM_ARM:
      return "32-bit ARM";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "PowerPC 64";
    default:
      return "machine number " + std::to_string(machine);
  }
}

// The bytes of a file; every read is checked.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] uint64_t size() const { return bytes_.size(); }
  [[nodiscard]] bool holds(uint64_t offset, uint64_t length) const { return offset <= size() && length <= size() - offset; }

  template <class T>
  [[nodiscard]] std::optional<T> at(uint64_t offset) const {
    if (!holds(offset, sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  // The NUL-terminated text at offset; empty when it does not end before `end`.
  [[nodiscard]] std::string_view text(uint64_t offset, uint64_t end) const {
    if (end > size() || offset >= end) return {};
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + offset;
    const void* nul = std::memchr(begin, 0, end - offset);
    return nul == nullptr ? std::string_view{} : std::string_view(begin);
  }

 private:
  std::span<const std::byte> bytes_;
};

struct Symbols {
  bool known = false;       // the file has a table of its dynamic symbols
  bool entry = false;       // it exports the entry of this ABI major
  std::string other_entry;  // or that of another
  std::string sanitizer;    // the sanitizer whose run time it needs
};

Symbols read_symbols(const Bytes& file, const Elf64_Ehdr& header) {
  Symbols found;
  for (uint64_t s = 0; s < header.e_shnum; ++s) {
    const auto section = file.at<Elf64_Shdr>(header.e_shoff + s * sizeof(Elf64_Shdr));
    if (!section || section->sh_type != SHT_DYNSYM || section->sh_link >= header.e_shnum) continue;
    const auto names = file.at<Elf64_Shdr>(header.e_shoff + uint64_t{section->sh_link} * sizeof(Elf64_Shdr));
    if (!names || !file.holds(section->sh_offset, section->sh_size) || !file.holds(names->sh_offset, names->sh_size)) continue;
    found.known = true;
    for (uint64_t i = 0; i < section->sh_size / sizeof(Elf64_Sym); ++i) {
      const auto symbol = file.at<Elf64_Sym>(section->sh_offset + i * sizeof(Elf64_Sym));
      if (!symbol || symbol->st_name >= names->sh_size) continue;
      const std::string_view name = file.text(names->sh_offset + symbol->st_name, names->sh_offset + names->sh_size);
      if (symbol->st_shndx != SHN_UNDEF) {
        if (name == OUTRIDER_ENTRY_SYMBOL)
          found.entry = true;
        else if (name.starts_with("outrider_entry_get_v"))
          found.other_entry = name;
      } else if (name == "__asan_init") {
        found.sanitizer = "AddressSanitizer";
      } else if (name == "__tsan_init") {
        found.sanitizer = "ThreadSanitizer";
      } else if (name == "__msan_init") {
        found.sanitizer = "MemorySanitizer";
      }
    }
  }
  return found;
}

// The sanitizer this host was built with.
constexpr std::string_view kOwnSanitizer =
#if defined(__SANITIZE_ADDRESS__)
    "AddressSanitizer";
#elif defined(__SANITIZE_THREAD__)
    "ThreadSanitizer";
#else
    "";
#endif

template <size_t N>
std::string fixed_text(const char (&field)[N]) {
  return std::string(field, strnlen(field, N));
}

std::optional<PluginNote> read_note(const Bytes& file, const Elf64_Ehdr& header) {
  for (uint64_t p = 0; p < header.e_phnum; ++p) {
    const auto segment = file.at<Elf64_Phdr>(header.e_phoff + p * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_NOTE || !file.holds(segment->p_offset, segment->p_filesz)) continue;
    const uint64_t align = segment->p_align == 8 ? 8 : 4;
    const auto padded = [align](uint64_t n) { return (n + align - 1) / align * align; };
    uint64_t offset = segment->p_offset;
    const uint64_t end = segment->p_offset + segment->p_filesz;
    while (end - offset >= sizeof(Elf64_Nhdr)) {
      const Elf64_Nhdr note = *file.at<Elf64_Nhdr>(offset);
      const uint64_t name_at = offset + sizeof note;
      const uint64_t text_at = name_at + padded(note.n_namesz);
      const uint64_t next = text_at + padded(note.n_descsz);
      if (next > end) break;
      if (file.text(name_at, name_at + note.n_namesz) == OUTRIDER_NOTE_NAME && note.n_type == OUTRIDER_NOTE_TYPE &&
          note.n_descsz >= sizeof(outrider_note_descriptor)) {
        const auto d = *file.at<outrider_note_descriptor>(text_at);
        return PluginNote{
            d.abi_major,      d.abi_minor,           d.min_host_minor,         d.capabilities_low | uint64_t{d.capabilities_high} << 32,
            fixed_text(d.id), fixed_text(d.version), fixed_text(d.sdk_version)};
      }
      offset = next;
    }
  }
  return std::nullopt;
}

std::string version(uint32_t major, uint32_t minor) { return std::to_string(major) + "." + std::to_string(minor); }

}  // namespace

AbiMismatch abi_mismatch(uint32_t major, uint32_t minor, uint32_t min_host_minor) {
  const std::string own = version(OUTRIDER_ABI_MAJOR, OUTRIDER_ABI_MINOR);
  if (major != OUTRIDER_ABI_MAJOR) {
    const bool newer = major > OUTRIDER_ABI_MAJOR;
    return {
        "it is built for plugin ABI " + version(major, minor) + ", this host speaks " + own,
        newer ? "use a newer host, or rebuild the plugin against this host's headers" : "rebuild the plugin against this host's headers"};
  }
  if (min_host_minor > OUTRIDER_ABI_MINOR) {
    return {"it needs a host of plugin ABI " + version(major, min_host_minor) + " or later, this host speaks " + own, "use a newer host"};
  }
  return {};
}

Result<PluginNote> read_plugin_file(std::span<const std::byte> bytes, const std::string& file) {
  const Bytes data(bytes);
  const auto cut = [&](const std::string& what) {
    return refused(file, "the file is cut or damaged: " + what + " lies beyond its " + std::to_string(data.size()) + " bytes",
                   "copy or build it again");
  };
  if (bytes.empty()) return refused(file, "the file is empty", "copy or build it again");
  const auto magic = data.at<uint32_t>(0);
  if (!magic || std::memcmp(&*magic, ELFMAG, SELFMAG) != 0) {
    return refused(file, "expected an ELF shared library, found a file of another type", "name the plugin's .so file");
  }
  const auto header = data.at<Elf64_Ehdr>(0);
  if (!header) return cut("the ELF header");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != kMachine) {
    return refused(file, "it is built for " + machine_name(header->e_machine) + ", this host is " + kMachineName,
                   std::string("build it for ") + kMachineName);
  }
  if (header->e_type != ET_DYN) {
    return refused(file, "expected an ELF shared library, found an ELF file of type " + std::to_string(header->e_type),
                   "link the plugin with outrider_add_plugin, or with -shared");
  }
  if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 || header->e_phnum == PN_XNUM ||
      !data.holds(header->e_phoff, uint64_t{header->e_phnum} * sizeof(Elf64_Phdr))) {
    return cut("the program header table");
  }
  for (uint64_t p = 0; p < header->e_phnum; ++p) {
    const auto segment = *data.at<Elf64_Phdr>(header->e_phoff + p * sizeof(Elf64_Phdr));
    if (!data.holds(segment.p_offset, segment.p_filesz)) return cut("segment " + std::to_string(p));
  }
  // The section table comes last in the file, so its absence shows a cut that the segments do not.
  if (header->e_shnum != 0 &&
      (header->e_shentsize != sizeof(Elf64_Shdr) || !data.holds(header->e_shoff, uint64_t{header->e_shnum} * sizeof(Elf64_Shdr)))) {
    return cut("the section header table");
  }

  const auto note = read_note(data, *header);
  if (!note) {
    return refused(file, "it is a shared library, but no Outrider plugin: it has no note named \"" OUTRIDER_NOTE_NAME "\"",
                   "end one source file of the plugin with OUTRIDER_PLUGIN or OUTRIDER_NOTE");
  }
  if (const AbiMismatch mismatch = abi_mismatch(note->abi_major, note->abi_minor, note->min_host_minor); !mismatch.reason.empty()) {
    return refused(file, mismatch.reason, mismatch.remedy);
  }
  const Symbols symbols = read_symbols(data, *header);
  if (!symbols.sanitizer.empty() && symbols.sanitizer != kOwnSanitizer) {
    return refused(file, "it is built with " + symbols.sanitizer + ", this host is not",
                   "build the plugin without it, or use a host built with it");
  }
  if (symbols.known && !symbols.entry) {
    if (!symbols.other_entry.empty()) {
      return refused(file, "it exports " + symbols.other_entry + ", this host asks for " OUTRIDER_ENTRY_SYMBOL,
                     "rebuild the plugin against this host's headers");
    }
    return refused(file, "it does not export the entry symbol " OUTRIDER_ENTRY_SYMBOL,
                   "define it, or end one source file of the plugin with OUTRIDER_PLUGIN, and link with outrider_add_plugin");
  }
  return *note;
}

}  // namespace outrider::drafting
