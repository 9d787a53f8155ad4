// SPDX-License-Identifier: Apache-2.0
// Payloads, numbers of packets and files of which some bytes are others, again and again, under the
// sanitizers, which end it where anything outside of them is touched. VOIP_FUZZ says how often.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../body.h"
#include "../codec.h"
#include "../playout.h"
#include "../sdes.h"
#include "check.h"
#include "common/fuzz.h"
#include "common/wav.h"

enum { TRIES = 3000, MOST_CHANGES = 8 };

static uint32_t tries(void)
{
    return fuzz_tries("VOIP_FUZZ", TRIES);
}

static void decode_damaged(const struct codec *codec, uint32_t rate)
{
    const struct codec_format format = { rate, rate / 50, 2, 24000 };
    uint8_t payload[CODEC_PAYLOAD_BYTES];
    void *encoder = malloc(codec->encoder_bytes()), *decoder = malloc(codec->decoder_bytes());
    int16_t frame[CODEC_SAMPLES];
    uint32_t whole = 0;

    CHECK(encoder && decoder);
    CHECK(codec->encoder_start(encoder, &format) && codec->decoder_start(decoder, &format));
    for (uint32_t i = tries(); i > 0; i--) {
        for (uint32_t j = 0; j < format.samples; j++)
            frame[j] = (int16_t)(random_below(8000) - 4000);
        const size_t made = codec->encode(encoder, &format, frame, payload);
        const size_t n = random_below(4) == 0 ? random_below((uint32_t)made) : made;
        uint8_t *some = damaged(payload, n, MOST_CHANGES);

        whole += codec->decode(decoder, &format, n ? some : NULL, n, frame);
        free(some);
    }
    printf("# %s: %u of %u payloads are decoded\n", codec->name, whole, tries());
    CHECK(whole > 0 && whole < tries());
    free(encoder);
    free(decoder);
}

TEST(no_damage_of_a_payload_has_anything_else_touched)
{
    for (int i = 0; i < CODECS; i++)
        for (uint32_t rate = 8000; codecs[i] && rate <= 16000; rate += 8000)
            if (codecs[i]->only_rate == 0 || codecs[i]->only_rate == rate)
                decode_damaged(codecs[i], rate);
}

TEST(packets_of_any_number_are_played_in_order)
{
    static struct playout playout;
    const struct playout_packet *packet;
    uint8_t payload[200] = { 0 };
    uint32_t played = 0;
    uint16_t number = 0;

    playout_start(&playout, random_below(5));
    for (uint32_t i = 20 * tries(); i > 0; i--) {
        if (random_below(200) == 0)
            number = (uint16_t)random_below(65536);
        playout_put(&playout, (uint16_t)(number++ + random_below(4)), random_below(50) == 0, 0,
                    payload, random_below(4) == 0 ? 0 : random_below(sizeof payload));
        const uint16_t due = playout.next;
        if (playout_take(&playout, &packet) == PLAYOUT_PACKET) {
            // Before it come those without sound alone.
            CHECK((uint16_t)(packet->number - due) < PLAYOUT_SLOTS);
            CHECK(packet->bytes > 0 && packet->bytes < sizeof payload);
            played++;
        }
    }
    printf("# %u of %u packets played\n", played, 20 * tries());
    CHECK(played > tries());
}

static const char description[] = "v=0\no=x 1 1 IN IP4 127.0.0.1\r\ns=-\rc=IN IP4 0.0.0.0\r\n"
                                  "t=0 0\r\nm=audio 9/2 RTP/AVP 0 \r\na=rtpmap:0 PCMU\r\n"
                                  "a=rtcp:9\r\nb=AS:64\r\na=sendonly";

TEST(a_description_is_written_as_the_standard_has_it)
{
    char out[BODY_ROOM(sizeof description)];
    const size_t n = body_tidy(description, sizeof description - 1, out);
    static const char tidied[] = "v=0\r\no=x 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 0.0.0.0\r\n"
                                 "t=0 0\r\nm=audio 9 RTP/AVP 0\r\na=rtcp:9\r\na=sendonly\r\n";

    CHECK(n == sizeof tidied - 1 && memcmp(out, tidied, n) == 0);
    CHECK(body_is_held(out, n));
    CHECK(!body_is_held("c=IN IP4 10.0.0.0\r\n", 19));
}

TEST(no_damage_of_a_description_has_anything_else_touched)
{
    uint32_t held = 0;

    for (uint32_t i = tries(); i > 0; i--) {
        const size_t all = sizeof description - 1;
        const size_t n = random_below(4) == 0 ? random_below((uint32_t)all) : all;
        uint8_t *some = damaged((const uint8_t *)description, n, MOST_CHANGES);
        char *out = malloc(BODY_ROOM(n)), *again = malloc(BODY_ROOM(BODY_ROOM(n)));

        CHECK(out && again);
        const size_t made = body_tidy((const char *)some, n, out);
        CHECK(made <= BODY_ROOM(n) && body_tidy(out, made, again) == made);
        CHECK(memcmp(out, again, made) == 0);
        held += body_is_held(out, made);
        free(some);
        free(out);
        free(again);
    }
    printf("# %u of %u descriptions are of a held call\n", held, tries());
    CHECK(held > 0 && held < tries());
}

TEST(no_damage_of_a_body_of_parts_has_anything_else_touched)
{
    static const char parts[] = "--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b\r\n"
                                "c: multipart/mixed;boundary=c\r\n\r\n--c\r\n"
                                "Content-Type: application/sdp\r\n\r\nv=0\r\n--c--\r\n--b--\r\n";
    static const char type[] = "multipart/mixed; boundary=\"b\"";
    uint32_t found = 0;

    for (uint32_t i = tries(); i > 0; i--) {
        const size_t all = sizeof parts - 1;
        const size_t n = random_below(4) == 0 ? random_below((uint32_t)all) : all;
        uint8_t *some = damaged((const uint8_t *)parts, n, MOST_CHANGES);
        uint8_t *kind = damaged((const uint8_t *)type, sizeof type - 1, random_below(2));
        struct body body = { (const char *)some, n };

        if (body_find(&body, (const char *)kind, sizeof type - 1)) {
            found++;
            CHECK(body.at >= (const char *)some && body.at + body.bytes <= (const char *)some + n);
        }
        free(some);
        free(kind);
    }
    printf("# %u of %u bodies have a description\n", found, tries());
    CHECK(found > 0 && found < tries());
}

struct memory {
    const uint8_t *bytes;
    size_t n;
};

static int64_t read(const void *file, void *data, size_t bytes, uint64_t place)
{
    const struct memory *memory = file;
    const size_t n = place >= memory->n                  ? 0
                     : bytes < memory->n - (size_t)place ? bytes
                                                         : memory->n - (size_t)place;

    if (n > 0)
        memcpy(data, memory->bytes + place, n);
    return (int64_t)n;
}

TEST(no_damage_of_a_file_has_anything_else_touched)
{
    uint8_t header[WAV_HEADER_BYTES], whole[sizeof header + 100] = { 0 };
    char why[WAV_WHY_BYTES];
    uint32_t found = 0;
    struct wav wav;

    wav_header(header, 8000, 1000);
    memcpy(whole, header, sizeof header);
    for (uint32_t i = tries(); i > 0; i--) {
        const size_t n = random_below(4) == 0 ? random_below(sizeof whole) : sizeof whole;
        uint8_t *some = damaged(whole, n, MOST_CHANGES);

        const struct memory memory = { some, n };
        found += wav_find(&wav, &(struct wav_file){ read, &memory, n }, why);
        free(some);
    }
    printf("# %u of %u files have a sound\n", found, tries());
    CHECK(found > 0 && found < tries());
}

// ---- Lines of keys ------------------------------------------------------------------------------

static const char key30[] = "inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj";

TEST(a_line_of_keys_is_taken_only_where_all_that_it_asks_for_can_be_done)
{
    static const struct {
        const char *tail;
        bool is_taken;
    } known[] = {
        { "", true },
        { "|2^20", true },
        { " WSH=64", true },
        { "  -unknown", true },
        { "|2^20|1:4", false },  // an identifier of the key
        { "|1:4", false },
        { ";inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj", false },
        { " UNENCRYPTED_SRTP", false },
        { " KDR=1", false },
        { "AAAA", false },  // longer than the suite's
    };
    struct sdes_line line;
    char text[256];

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        snprintf(text, sizeof text, "7 AES_CM_128_HMAC_SHA1_80 %s%s", key30, known[i].tail);
        CHECK(sdes_read(text, &line) == known[i].is_taken);
        CHECK(!known[i].is_taken || (line.tag == 7 && line.key[0] == 'w' && line.key[29] == '#'));
    }
    snprintf(text, sizeof text, "1 aes_cm_128_hmac_sha1_32 %s", key30);
    CHECK(sdes_read(text, &line));
    snprintf(text, sizeof text, "1 F8_128_HMAC_SHA1_80 %s", key30);
    CHECK(!sdes_read(text, &line));
    CHECK(!sdes_read("", &line) && !sdes_read("x AES_CM_128_HMAC_SHA1_80", &line));
}

TEST(no_damage_of_a_line_of_keys_has_anything_else_touched)
{
    char text[160] = "";
    struct sdes_line line;
    uint32_t taken = 0;

    for (uint32_t i = tries(); i > 0; i--) {
        snprintf(text, sizeof text, "1 AES_CM_128_HMAC_SHA1_80 %s|2^20 WSH=64", key30);
        const size_t n = random_below(4) == 0 ? random_below(sizeof text) : strlen(text);
        uint8_t *some = damaged(text, n, MOST_CHANGES);
        char *whole = calloc(n + 1, 1);

        CHECK(whole);
        if (n > 0)
            memcpy(whole, some, n);
        taken += sdes_read(whole, &line);
        free(whole);
        free(some);
    }
    printf("# %u of %u lines are taken\n", taken, tries());
    CHECK(taken > 0 && taken < tries());
}
