// SPDX-License-Identifier: Apache-2.0
// The policy `asked`: who started the simulation decides, by messages (`decide` and `decision` of
// docs/kernels-linux-protocol.md).
#ifndef WB_ASKED_H
#define WB_ASKED_H

#include "helper.h"

/// Names who asks. Before any plan is read.
void asked_by(struct helper *helper);

#endif
