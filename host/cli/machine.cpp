#include "cli/machine.hpp"

#include <fstream>
#include <string>

namespace outrider::cli {
std::string describe_machine(const model::Transformer& target) {
  const int threads = target.pool().size();
  return kernels::processor_name() + ", " + std::string(kernels::isa_name(target.isa())) + ", " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads");
}

size_t available_memory() {
  std::ifstream info("/proc/meminfo");  // "MemAvailable:   24030328 kB"
  std::string name;
  for (size_t kilobytes = 0; info >> name >> kilobytes; info.ignore(64, '\n')) {
    if (name == "MemAvailable:") return kilobytes * 1024;
  }
  return 0;
}

}  // namespace outrider::cli
