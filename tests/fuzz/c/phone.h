// SPDX-License-Identifier: Apache-2.0
// The phone of apps/voip without a run around it: what it takes of the middleware, and one state of
// the application.
#ifndef FUZZ_PHONE_H
#define FUZZ_PHONE_H

#include "voip/media.h"
#include "voip/voip.h"

/// The application's state, with all codecs, and libre ready.
///
/// Context: any number of times.
struct voip *phone_state(void);

/// The other phone's description of itself, as text.
extern const char phone_description[];

#endif
