// outrider-probe LIBRARY: opens a plugin and takes its first steps, so that whatever goes wrong there goes wrong here. See probe.hpp.
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <string>

#include "drafting/probe.hpp"
#include "outrider/entry.h"

namespace {

void say(const std::string& line) {
  const std::string text = line + "\n";
  // A full pipe or a parent that has gone: there is nobody left to tell.
  if (::write(outrider::drafting::kProbePipe, text.data(), text.size()) < 0) ::_exit(1);
}

[[noreturn]] void fail(const std::string& text) {
  say(outrider::drafting::kProbeError + text);
  ::_exit(1);  // no destructors: the plugin's are not ours to run
}

}  // namespace

int main(int argc, char** argv) {
  using namespace outrider::drafting;
  if (argc != 2) {
    const char usage[] = "usage: outrider-probe LIBRARY (started by outrider; speaks on file descriptor 3)\n";
    return ::write(STDERR_FILENO, usage, sizeof usage - 1) < 0 ? 3 : 2;
  }
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  try {
    void* library = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(::dlerror());
    say(kProbeOpened);
    void* symbol = ::dlsym(library, OUTRIDER_ENTRY_SYMBOL);
    if (symbol == nullptr) fail(::dlerror());
    decltype(&outrider_entry_get_v1) get = nullptr;
    std::memcpy(&get, &symbol, sizeof get);
    const outrider_entry_v1* entry = get();
    if (entry == nullptr) fail("its entry function returned NULL");
    if (!OUTRIDER_HAS(outrider_entry_v1, entry, descriptor) || entry->descriptor() == nullptr) fail("it has no descriptor");
    say(kProbeOk);
  } catch (const std::exception& e) {
    fail(std::string("an exception left it: ") + e.what());
  } catch (...) {
    fail("an exception left it");
  }
  ::_exit(0);
}
