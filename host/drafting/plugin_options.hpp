// A plugin's options: what it declares (outrider_option), what [drafter.NAME] says, and the values that follow. All faults of a table
// are reported together, each with its place and the nearest valid name.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.hpp"
#include "config/server_args.hpp"
#include "outrider/config.h"

namespace outrider::drafting {

// The value of every option that is set or has a default. `table` may be null (no [drafter.NAME] in the configuration). Errors list
// unknown keys, wrong types, values out of range, and required options that are missing; also a declaration that contradicts itself.
Result<std::map<std::string, config::OptionValue>> option_values(std::span<const outrider_option* const> declared,
                                                                 const config::DrafterTable* table, const std::string& drafter);

}  // namespace outrider::drafting
