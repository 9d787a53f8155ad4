// SPDX-License-Identifier: Apache-2.0
// What another phone says of the sound of a call: an offer, or after a first byte that is even an
// answer. Its next two bits say whether ours encrypts.
#include "phone.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct voip *voip = phone_state();
    struct media *media = NULL;
    struct sa local;

    if (bytes == 0)
        return 0;
    voip->srtp = (enum voip_srtp)((*data >> 1 & 3) % 3);
    MUST(sa_set_str(&local, "127.0.0.1", 0) == 0);
    MUST(media_open(&media, voip, &local) == 0);
    struct mbuf *description = mbuf_alloc(bytes);
    MUST(description != NULL && mbuf_write_mem(description, data + 1, bytes - 1) == 0);
    for (int i = 0; i < 2; i++) {
        mbuf_set_pos(description, 0);
        if (media_take(media, description, *data & 1) == 0)
            media_start(media, 1);
    }
    mem_deref(description);
    mem_deref(media);
    return 0;
}
