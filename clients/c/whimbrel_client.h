// SPDX-License-Identifier: Apache-2.0
// libwhimbrel-client: a process that is no kernel sends to and receives from channels of a run.
//
//     struct wb_client *scope;
//
//     if (wb_client_open(&scope, "fm_radio", "scope", "in", 0, 1000) == WB_OK)
//         while (wb_client_receive(scope, frame, WB_CLIENT_FOREVER) == WB_OK)
//             draw(frame);
//
// A client has the ports of a task that app.toml declares with `client = true`. It may come and go:
// messages wait in the channel meanwhile. What it has sent is the run's, whatever becomes of it;
// what the run has handed to its socket, some ten messages at most, goes with it. If the kernel of
// its task is killed, the client attaches again: docs/clients.md says what may be lost then. It
// shares no memory with the run, so nothing that it does harms it.
#ifndef WHIMBREL_CLIENT_H
#define WHIMBREL_CLIENT_H

#include <stdint.h>

#include "wb/status.h"

WB_BEGIN_C

#define WB_CLIENT_FOREVER (-1)

// One port of a client.
struct wb_client;

/// Attaches to a port: element `index` of `port` of the task `task`, which may be NAME.INDEX.
///
/// `run` is the run's name, as `whimbrel ps` prints it, or the path of its folder.
/// Context: any process of the user who started the run. Blocks for at most `timeout_ms` until the
///          run is there and the port has no other client.
/// Memory:  `*client` is the caller's until wb_client_close().
/// Returns: WB_OK; WB_ERR_GONE when there is no such run or client by then, or the port is closed;
///          WB_ERR_BUSY when another has the port; WB_ERR_INVAL: the task has no such port, or a
///          name is too long; WB_ERR_DENIED: the folder or the run is another user's;
///          WB_ERR_NOMEM.
WB_MUST_USE enum wb_status wb_client_open(struct wb_client **client, const char *run,
                                          const char *task, const char *port, uint32_t index,
                                          int timeout_ms);

/// The size of a message, in bytes. It never changes.
uint32_t wb_client_bytes(const struct wb_client *client);

/// A descriptor for poll, epoll and their like: readable when a message is there, writable when
/// there is room for one, ready as well while the client has to attach again, so that a call tries.
/// It is the client's, and another one after that.
int wb_client_fd(const struct wb_client *client);

/// Sends one message, of wb_client_bytes().
///
/// Context: blocks for at most `timeout_ms` while there is no room; 0 does not block, except for an
///          attempt to attach again, of at most a second.
/// Returns: WB_OK: the run will have it; WB_ERR_FULL (timeout 0) or WB_ERR_TIMEOUT; WB_ERR_GONE:
///          the receiver or the run is over; WB_ERR_INVAL: the client receives here, or another run
///          has the name by now, where the port has another size or direction; WB_ERR_DENIED: that
///          is another user's; WB_ERR_NOMEM.
WB_MUST_USE enum wb_status wb_client_send(struct wb_client *client, const void *message,
                                          int timeout_ms);

/// Receives one message into `message`, of wb_client_bytes().
///
/// Context: blocks for at most `timeout_ms` while there is none; 0 as in wb_client_send().
/// Returns: WB_OK; WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT; WB_ERR_GONE: no more will come;
///          WB_ERR_INVAL: the client sends here, or as wb_client_send(); WB_ERR_DENIED and
///          WB_ERR_NOMEM as there.
WB_MUST_USE enum wb_status wb_client_receive(struct wb_client *client, void *message,
                                             int timeout_ms);

/// Closes the port for good: whoever receives from it sees the end of the stream.
///
/// Context: as wb_client_send().
/// Returns: as wb_client_send().
enum wb_status wb_client_end(struct wb_client *client, int timeout_ms);

/// Detaches, and frees the client; NULL is allowed. The port stays open for the next one.
void wb_client_close(struct wb_client *client);

WB_END_C

#endif
