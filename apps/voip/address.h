// SPDX-License-Identifier: Apache-2.0
// The addresses that a user gives, checked before they are used: the reason has its cure in a
// second line.
#ifndef VOIP_ADDRESS_H
#define VOIP_ADDRESS_H

#include <stddef.h>

#include "rtc.h"

/// Context: any. Never blocks.
/// Returns: true where it will not do, with the reason in `why`.
bool address_check_listen(const char *listen, char *why, size_t bytes);

/// The same of a peer that is called from an address.
bool address_check_peer(const char *peer, const struct sa *local, char *why, size_t bytes);

/// Why a call to a peer does not begin: libre's `error` with its cause and cure.
///
/// Context: any. Never blocks.
void address_explain_peer(const char *peer, int error, char *why, size_t bytes);

#endif
