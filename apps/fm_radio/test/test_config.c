// SPDX-License-Identifier: Apache-2.0
// Tests of dsp/config.h.
#include "../dsp/config.h"

#include <math.h>
#include <string.h>

#include "check.h"

static struct fm_config config;
static char why[FM_WHY_BYTES];

static bool with(const char *name, double value)
{
    fm_config_init(&config);
    *fm_config_field(&config, name) = value;
    return fm_config_check(&config, why);
}

TEST(the_defaults_make_a_radio)
{
    fm_config_init(&config);
    CHECK(fm_config_check(&config, why));
    CHECK(fm_config_audio_decimation(&config) == 5);
}

TEST(a_number_out_of_range_is_named_with_its_range)
{
    for (size_t i = 0; i < fm_param_count; i++) {
        CHECK(!with(fm_params[i].name, fm_params[i].min - 1));
        CHECK(strstr(why, fm_params[i].name) == why && strstr(why, "give a number from"));
        CHECK(!with(fm_params[i].name, fm_params[i].max * 2));
        CHECK(!with(fm_params[i].name, (double)NAN));
    }
    CHECK(!with("lpf_taps", 63.5));
    CHECK(strcmp(why, "lpf_taps is 63.5: give a whole number") == 0);
}

TEST(rates_that_do_not_divide_are_refused_with_their_ratio)
{
    CHECK(!with("audio_rate", 44100));
    CHECK(strstr(why, "audio_rate is 44100: sample_rate / decimation / audio_rate is 5.44218, "));
    CHECK(!with("audio_rate", 480000));
    CHECK(!with("audio_rate", 8000));
    CHECK(with("audio_rate", 240000));
    CHECK(with("audio_rate", 40000));
}

TEST(a_rate_too_low_for_broadcast_fm_is_refused)
{
    CHECK(!with("decimation", 2));
    CHECK(strstr(why, "decimation is 2: sample_rate / decimation is 120000 Hz") == why);
    CHECK(!with("sample_rate", 144000));
    CHECK(strstr(why, "sample_rate is 144000: ") == why);
}

TEST(a_cutoff_above_half_of_its_rate_is_refused)
{
    CHECK(!with("lpf_cutoff_hz", 120001));
    CHECK(strstr(why, "lpf_cutoff_hz") && strstr(why, "half of sample_rate"));
    CHECK(with("lpf_cutoff_hz", 120000));
    CHECK(!with("audio_cutoff_hz", 24001));
    CHECK(strstr(why, "audio_cutoff_hz") && strstr(why, "half of audio_rate"));
}

TEST(a_name_that_is_no_parameter_has_no_field)
{
    CHECK(fm_config_field(&config, "sample_rates") == NULL);
    CHECK(fm_config_field(&config, "") == NULL);
}

TEST(band_gains_are_one_number_for_each_band)
{
    fm_config_init(&config);
    CHECK(fm_config_gains(&config, "1,-0.5,2e1", why));
    CHECK(config.gain[0] == 1 && config.gain[1] == -0.5 && config.gain[2] == 20);
    CHECK(!fm_config_gains(&config, "1,2", why));
    CHECK(strstr(why, "each of the 3 bands"));
    CHECK(!fm_config_gains(&config, "1,2,3,4", why));
    CHECK(!fm_config_gains(&config, "1,x,3", why));
    CHECK(!fm_config_gains(&config, "", why));
}
