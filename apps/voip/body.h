// SPDX-License-Identifier: Apache-2.0
// The body of a SIP message: the part of it that is a description, with what strangers leave out
// of one put right.
#ifndef VOIP_BODY_H
#define VOIP_BODY_H

#include <stdbool.h>
#include <stddef.h>

struct body {
    const char *at;
    size_t bytes;
};

/// Finds the first part of a multipart body (RFC 2046, 5.1) that is a session description, in parts
/// of parts, too.
///
/// `type` is the value of Content-Type.
/// Context: any. Never blocks.
/// Returns: false when there is none; `*body` is then as it was.
bool body_find(struct body *body, const char *type, size_t type_bytes);

/// Writes a description as RFC 8866 has it: each line ends in CRLF, also the last; no number of
/// ports is behind the port; attributes that have not their form are left out, as unknown ones are.
///
/// Context: any. Never blocks.
/// Returns: its bytes, at most BODY_ROOM(bytes).
size_t body_tidy(const char *text, size_t bytes, char *out);

/// Whether a description has an address of zeros, as one that is to be sent nothing (RFC 3264, 8.4;
/// RFC 6157, 5.1: or a name in `.invalid`).
///
/// Context: any. Never blocks.
bool body_is_held(const char *text, size_t bytes);

#define BODY_ROOM(bytes) (2 * (bytes) + 2)

#endif
