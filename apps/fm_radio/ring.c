// SPDX-License-Identifier: Apache-2.0
// Rings, and the ends of them that tasks have.
#define _POSIX_C_SOURCE 200809L
#include "ring.h"

#include <stdbool.h>
#include <unistd.h>

#include "live.h"

enum { PIECE_SAMPLES = 1024, POLL_NS = 5000000 };

// One end of the memory after the other.
static void copy(const struct fm_ring *ring, char *samples, uint64_t n, uint64_t place, bool is_put)
{
    while (n > 0) {
        const uint64_t at = place % ring->capacity, rest = ring->capacity - at;
        const size_t bytes = (size_t)(n < rest ? n : rest) * ring->sample_bytes;
        const off_t from = (off_t)(at * ring->sample_bytes);
        const ssize_t done =
            is_put ? pwrite(ring->fd, samples, bytes, from) : pread(ring->fd, samples, bytes, from);

        if (done != (ssize_t)bytes)
            continue;  // by a signal
        samples += bytes;
        place += bytes / ring->sample_bytes;
        n -= bytes / ring->sample_bytes;
    }
}

void fm_ring_write(const struct fm_ring *ring, const void *samples, uint64_t n, uint64_t place)
{
    copy(ring, (char *)(uintptr_t)samples, n, place, true);
}

void fm_ring_read(const struct fm_ring *ring, void *samples, uint64_t n, uint64_t place)
{
    copy(ring, samples, n, place, false);
}

bool fm_live_has(struct fm_live *live, struct fm_input *input, uint32_t samples)
{
    // Acquire, and in this order: what came before the end is seen.
    const bool is_over = wb_word_load(&live->is_over, WB_ACQUIRE);
    const uint64_t head = wb_counter_get(&live->ring.head);

    if (is_over && head < input->end)
        input->end = head;
    return is_over || head >= input->end || head - input->at >= samples;
}

void fm_live_pass(struct fm_live *live, uint64_t place)
{
    wb_counter_set(&live->ring.tail, place);
}

static bool has_room(struct fm_speaker *speaker, uint64_t end)
{
    return wb_word_load(&speaker->is_over, WB_ACQUIRE) ||
           end <= wb_counter_get(&speaker->ring.tail) + speaker->ring.capacity;
}

void fm_speaker_play(struct fm_speaker *speaker, uint64_t place, const float *audio,
                     uint32_t samples)
{
    int16_t pcm[PIECE_SAMPLES];
    uint32_t n;

    for (uint32_t done = 0; done < samples; done += n) {
        n = samples - done < PIECE_SAMPLES ? samples - done : PIECE_SAMPLES;
        const uint64_t at = place + done;

        while (!has_room(speaker, at + n))
            wb_sleep_until(wb_now_ns() + POLL_NS);
        // After a restart some were put before: they are the same.
        if (at + n <= wb_counter_own(&speaker->ring.head))
            continue;
        fm_pcm16(audio + done, n, pcm);
        fm_ring_write(&speaker->ring, pcm, n, at);
        wb_counter_set(&speaker->ring.head, at + n);
    }
}
