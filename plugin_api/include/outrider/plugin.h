/* Everything a plugin may use, in one include. Each header documents one concern; start with abi.h, entry.h and drafter.h. */
#ifndef OUTRIDER_PLUGIN_H
#define OUTRIDER_PLUGIN_H

#include "abi.h"
#include "clock.h"
#include "config.h"
#include "corpora.h"
#include "draft_runner.h"
#include "drafter.h"
#include "entry.h"
#include "host.h"
#include "log.h"
#include "memory.h"
#include "model.h"
#include "note.h"
#include "reconfigure.h"
#include "state.h"
#include "status.h"

#endif /* OUTRIDER_PLUGIN_H */
