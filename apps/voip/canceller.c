// SPDX-License-Identifier: Apache-2.0
// Takes the echo of the loudspeaker, and noise, off what the microphone has: SpeexDSP's adaptive
// filter and its preprocessor.
//
// What SpeexDSP allocates comes from the task's heap and moves along. It allocates at the first
// start alone; a task that starts again has it begin anew with the same memory, for a frame may
// have been half done.
#include <speex/speex_echo.h>
#include <speex/speex_preprocess.h>
#include <string.h>

#include "common/tasks.h"
#include "voip.h"

struct canceller {
    uint32_t call;
    SpeexEchoState *echo;
    SpeexPreprocessState *preprocess;
};

static void allocate(struct wb_task *self, struct canceller *canceller)
{
    const struct voip *voip = voip_of(self);
    const int samples = (int)voip->format.samples;
    spx_int32_t rate = (spx_int32_t)voip->format.rate, suppresses = voip->suppresses;

    if (!canceller->echo)
        canceller->echo = speex_echo_state_init(samples, (int)voip->tail_samples);
    if (!canceller->preprocess)
        canceller->preprocess = speex_preprocess_state_init(samples, rate);
    if (!canceller->echo || !canceller->preprocess)
        wb_task_fail(self, "its heap is too small for the filters: raise heap in app.toml");
    speex_echo_ctl(canceller->echo, SPEEX_ECHO_SET_SAMPLING_RATE, &rate);
    speex_preprocess_ctl(canceller->preprocess, SPEEX_PREPROCESS_SET_DENOISE, &suppresses);
    speex_preprocess_ctl(canceller->preprocess, SPEEX_PREPROCESS_SET_ECHO_STATE,
                         voip->cancels ? canceller->echo : NULL);
}

static void cancel(struct canceller *canceller, const struct voip *voip,
                   const struct voip_frame *captured, int16_t *clean)
{
    const size_t n = voip->format.samples;

    if (captured->head.call != canceller->call)
        speex_echo_state_reset(canceller->echo);
    canceller->call = captured->head.call;
    if (voip->cancels)
        speex_echo_cancellation(canceller->echo, captured->samples, captured->samples + n, clean);
    else
        memcpy(clean, captured->samples, n * sizeof *clean);
    if (voip->suppresses)
        speex_preprocess_run(canceller->preprocess, clean);
}

int canceller(struct wb_task *self)
{
    const struct voip *voip = voip_of(self);
    struct canceller *canceller = task_keep(self, sizeof *canceller);
    struct wb_service service;
    struct wb_request request;

    allocate(self, canceller);
    canceller->call = 0;
    voip_serve(self, "clean", &service);
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        const struct voip_frame *captured = request.data;
        struct voip_frame *clean = request.answer;

        clean->head = captured->head;
        if (wb_compute(self))
            cancel(canceller, voip, captured, clean->samples);
        wb_service_answer(&service, (int32_t)voip_frame_bytes(voip));
        wb_checkpoint();
    }
    return 0;
}
