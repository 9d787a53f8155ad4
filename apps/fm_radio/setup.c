// SPDX-License-Identifier: Apache-2.0
// The hooks around a run: reads the parameters, opens the files, finishes the sound.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "devices.h"

_Static_assert((int)WB_ERROR_BYTES >= (int)FM_WHY_BYTES, "a reason must fit app->error");

static bool read_gains(const struct wb_app *app, struct fm_config *config, char why[FM_WHY_BYTES])
{
    static const char key[] = "band_gains";
    const uint32_t bands = (uint32_t)config->bands;

    if (!wb_param_text(app, key, NULL))
        return true;
    for (uint32_t i = 0; i < bands; i++)
        config->gain[i] = wb_param_element(app, key, i, (double)NAN);
    if (!isnan(config->gain[bands - 1]) && isnan(wb_param_element(app, key, bands, (double)NAN)))
        return true;
    snprintf(why, FM_WHY_BYTES, "%s is %.100s: give one number for each of the %u tasks bpf", key,
             wb_param_text(app, key, ""), bands);
    return false;
}

// A restarted filter refills its memory from one frame, so a frame must hold all of it.
static bool frames_suffice(const struct fm_config *config, char why[FM_WHY_BYTES])
{
    const double lpf = ceil(config->lpf_taps / config->decimation);
    const double bpf = config->bpf_taps + fm_config_audio_decimation(config);
    const double least = fmax(lpf, bpf);

    if (config->frame_samples >= least)
        return true;
    snprintf(why, FM_WHY_BYTES, "frame_samples is %g: the filters are longer, give at least %.0f",
             config->frame_samples, least);
    return false;
}

static bool configure(const struct wb_app *app, struct fm_config *config, char why[FM_WHY_BYTES])
{
    fm_config_init(config);
    for (size_t i = 0; i < fm_param_count; i++) {
        double *field = fm_config_field(config, fm_params[i].name);

        *field = wb_param_number(app, fm_params[i].name, *field);
    }
    config->bands = 0;
    while (wb_task_find(app, "bpf", (uint32_t)config->bands))
        config->bands++;
    return fm_config_check(config, why) && frames_suffice(config, why) &&
           read_gains(app, config, why);
}

static bool open_input(struct wb_app *app, struct fm_radio *radio, double plays)
{
    const char *path = wb_param_text(app, "input", "");

    if (strcmp(path, "-") == 0 || strstr(path, "://")) {
        const struct fm_devices *devices = fm_devices_load(app);

        return devices && devices->live_open(app, radio);
    }
    if (!fm_input_open(&radio->input, path, wb_param_text(app, "format", ""), (uint64_t)plays,
                       app->error) ||
        !fm_input_tune(&radio->input, path, &radio->config, app->error))
        return false;
    if (radio->input.is_cut)
        fprintf(stderr, "warning: input \"%s\": it is cut off: it is played to there\n", path);
    return true;
}

static bool open_card(struct wb_app *app, struct fm_radio *radio)
{
    if (wb_param_text(app, "card", "")[0] == '\0')
        return true;
    const struct fm_devices *devices = fm_devices_load(app);

    return devices && devices->speaker_open(app, radio);
}

// A run that does not begin keeps its own reason.
static void stop_source(struct wb_app *app, struct fm_radio *radio)
{
    char reason[sizeof app->error];

    memcpy(reason, app->error, sizeof reason);
    if (radio->live)
        fm_devices_load(app)->live_finish(app, radio);
    memcpy(app->error, reason, sizeof reason);
}

enum wb_status wb_app_setup(struct wb_app *app)
{
    struct fm_radio *radio = wb_app_alloc(app, sizeof *radio);

    if (!radio) {
        snprintf(app->error, sizeof app->error, "[app] memory is too small for the radio");
        return WB_ERR_NOMEM;
    }
    const double plays = wb_param_number(app, "plays", 1);
    if (!(plays >= 1 && plays <= 1e9)) {
        snprintf(app->error, sizeof app->error, "plays is %g: give a number from 1 to 1e9", plays);
        return WB_ERR_INVAL;
    }
    if (!configure(app, &radio->config, app->error) || !open_input(app, radio, plays))
        return WB_ERR_INVAL;
    if (!fm_output_open(&radio->output, wb_param_text(app, "output", ""), radio->config.audio_rate,
                        app->error) ||
        !open_card(app, radio)) {
        stop_source(app, radio);
        return WB_ERR_INVAL;
    }
    app->state = radio;
    return WB_OK;
}

enum wb_status wb_app_finish(struct wb_app *app)
{
    struct fm_radio *radio = app->state;

    if (!radio)
        return WB_OK;
    bool done = fm_output_finish(&radio->output, app->error);
    if (radio->live)
        done = fm_devices_load(app)->live_finish(app, radio) && done;
    if (radio->speaker)
        done = fm_devices_load(app)->speaker_finish(app, radio) && done;
    fm_output_close(&radio->output);
    fm_input_close(&radio->input);
    return done ? WB_OK : WB_ERR_INVAL;
}
