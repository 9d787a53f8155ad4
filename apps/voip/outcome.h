// SPDX-License-Identifier: Apache-2.0
// How a call ended, in words: its cause, and what to do about it.
#ifndef VOIP_OUTCOME_H
#define VOIP_OUTCOME_H

#include "rtc.h"

enum outcome_of { OUTCOME_CALLED, OUTCOME_CALLER, OUTCOME_TALK };

/// Tells how a call ended: ours, another's before it was taken up, or one that was under way.
///
/// `error` is libre's, `answer` the other phone's, or NULL.
/// Context: the agent. Blocks as a terminal does.
/// Returns: what to do about a call of ours that failed; NULL: nothing.
const char *outcome_tell(enum outcome_of call, int error, const struct sip_msg *answer);

#endif
