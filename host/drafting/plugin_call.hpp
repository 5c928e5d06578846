// Calling into a plugin: whatever it does short of crashing becomes an outcome. An exception that leaves a plugin is a breach of the
// contract and is marked as such.
#pragma once

#include <cstring>
#include <exception>
#include <string>

#include "outrider/status.h"

namespace outrider::drafting {

struct CallOutcome {
  outrider_status status = OUTRIDER_OK;
  bool threw = false;
  std::string text;  // why, when status is negative

  [[nodiscard]] bool failed() const { return status < 0; }
};

inline std::string status_text(outrider_status status) {
  switch (status) {
    case OUTRIDER_E_INVALID:
      return "invalid argument";
    case OUTRIDER_E_UNSUPPORTED:
      return "not supported";
    case OUTRIDER_E_NO_MEMORY:
      return "out of memory";
    case OUTRIDER_E_INTERNAL:
      return "internal error";
    case OUTRIDER_E_DEADLINE:
      return "deadline missed";
    case OUTRIDER_E_STATE:
      return "wrong state";
    case OUTRIDER_E_CONFIG:
      return "wrong configuration";
    case OUTRIDER_E_IO:
      return "input or output failed";
    case OUTRIDER_E_EXCEPTION:
      return "an exception inside the plugin";
    default:
      return "status " + std::to_string(status);
  }
}

// `call` takes an outrider_error* and returns a status. A status the contract does not know is an error.
template <class Call>
CallOutcome call_plugin(Call&& call) {
  outrider_error error;
  error.struct_size = sizeof error;
  error.code = OUTRIDER_OK;
  error.message[0] = '\0';
  CallOutcome outcome;
  try {
    outcome.status = call(&error);
  } catch (const std::exception& e) {
    return {OUTRIDER_E_EXCEPTION, true, std::string("an exception left it: ") + e.what()};
  } catch (...) {
    return {OUTRIDER_E_EXCEPTION, true, "an exception left it"};
  }
  if (outcome.status == OUTRIDER_OK || outcome.status == OUTRIDER_NO_DRAFT) {
    if (error.message[0] != '\0') outcome.text.assign(error.message, strnlen(error.message, sizeof error.message));
    return outcome;
  }
  if (outcome.status > 0)
    return {OUTRIDER_E_INTERNAL, false, "it returned status " + std::to_string(outcome.status) + ", which the contract does not know"};
  outcome.text = status_text(outcome.status);
  if (error.message[0] != '\0') outcome.text += ": " + std::string(error.message, strnlen(error.message, sizeof error.message));
  return outcome;
}

// For functions that return nothing and must not fail; false when an exception left it.
template <class Call>
bool call_plugin_void(Call&& call) {
  try {
    call();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace outrider::drafting
