// SPDX-License-Identifier: Apache-2.0
// In the place of the middleware's file of this name: interrupts of this kernel call nothing of the
// middleware, and switch to nobody.
#ifndef WB_COOPERATIVE_H
#define WB_COOPERATIVE_H

enum { WB_COOPERATIVE = 1 };

#endif
