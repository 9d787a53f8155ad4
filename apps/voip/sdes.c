// SPDX-License-Identifier: Apache-2.0
#include "sdes.h"

#include <errno.h>
#include <string.h>

#include "line.h"

enum { SUITES = 3, LAYER = 10, TEXT_BYTES = 128 };

// The best first. Their names are those of RFC 4568 and RFC 6188.
static const struct suite {
    const char *name;
    enum srtp_suite id;
    size_t key_bytes;
} suites[SUITES] = {
    { "AES_CM_128_HMAC_SHA1_80", SRTP_AES_CM_128_HMAC_SHA1_80, 30 },
    { "AES_CM_128_HMAC_SHA1_32", SRTP_AES_CM_128_HMAC_SHA1_32, 30 },
    { "AES_256_CM_HMAC_SHA1_80", SRTP_AES_256_CM_HMAC_SHA1_80, 46 },
};

struct sdes {
    struct voip *voip;
    struct udp_sock *sound_socket, *report_socket;
    struct udp_helper *sound, *reports;
    const struct sdp_media *audio;  // that tells where packets come from
    struct srtp *out, *in;          // NULL: nothing is encrypted
    struct sdes_line agreed;        // with the other's key
    uint8_t keys[SUITES][SDES_KEY_BYTES];
};

// ---- Lines of keys ------------------------------------------------------------------------------

static bool read_suite(const struct pl *name, uint32_t *suite)
{
    for (*suite = 0; *suite < SUITES; (*suite)++)
        if (pl_strcasecmp(name, suites[*suite].name) == 0)
            return true;
    return false;
}

// A key, and maybe for how long it lasts; with an identifier of the key (a colon) packets would
// have it, too.
static bool read_key(const struct pl *text, size_t wanted, uint8_t *key)
{
    static const char method[] = "inline:";
    const size_t head = sizeof method - 1;
    size_t bytes = SDES_KEY_BYTES;

    if (text->l <= head || strncmp(text->p, method, head) != 0)
        return false;
    const char *at = text->p + head;
    const size_t left = text->l - head;
    const char *bar = memchr(at, '|', left);
    const size_t digits = bar ? (size_t)(bar - at) : left;
    return !memchr(at, ';', left) && !memchr(at, ':', left) && digits <= 64 &&
           base64_decode(at, digits, key, &bytes) == 0 && bytes == wanted;
}

// A hint for the window of replayed packets, and what may be passed over, ask for nothing.
static bool asks_for_more(struct pl rest)
{
    while (rest.l > 0) {
        struct pl word = rest;

        while (word.l > 0 && (*word.p == ' ' || *word.p == '\t'))
            pl_advance(&word, 1);
        rest = word;
        while (rest.l > 0 && *rest.p != ' ' && *rest.p != '\t')
            pl_advance(&rest, 1);
        word.l -= rest.l;
        if (word.l > 0 && *word.p != '-' && (word.l < 4 || strncmp(word.p, "WSH=", 4) != 0))
            return true;
    }
    return false;
}

bool sdes_read(const char *text, struct sdes_line *line)
{
    struct pl tag, suite, key, rest = PL_INIT;

    if (re_regex(text, strlen(text), "[0-9]+[ \t]+[^ \t]+[ \t]+[^ \t]+[^]*", &tag, NULL, &suite,
                 NULL, &key, &rest) != 0 ||
        tag.l > 9 || tag.p != text)
        return false;
    line->tag = pl_u32(&tag);
    return read_suite(&suite, &line->suite) &&
           read_key(&key, suites[line->suite].key_bytes, line->key) && !asks_for_more(rest);
}

static int write_line(const struct sdes *it, struct sdp_media *audio, uint32_t tag, uint32_t suite)
{
    char key[TEXT_BYTES];
    size_t bytes = sizeof key - 1;
    const int error = base64_encode(it->keys[suite], suites[suite].key_bytes, key, &bytes);

    if (error)
        return error;
    key[bytes] = '\0';
    return sdp_media_set_lattr(audio, false, "crypto", "%u %s inline:%s", tag, suites[suite].name,
                               key);
}

// ---- What the phones agree on -------------------------------------------------------------------

const char *sdes_profile(const struct sdes *it)
{
    return it && it->voip->srtp == VOIP_SRTP_REQUIRED ? sdp_proto_rtpsavp : sdp_proto_rtpavp;
}

int sdes_widen(const struct sdes *it, struct sdp_media *audio)
{
    return it ? sdp_media_set_alt_protos(audio, 3, sdp_proto_rtpavp, sdp_proto_rtpsavp, "RTP/SAVPF")
              : 0;
}

int sdes_describe(const struct sdes *it, struct sdp_media *audio)
{
    int error = 0;

    if (!it)
        return 0;
    sdp_media_del_lattr(audio, "crypto");
    if (it->in)
        error = write_line(it, audio, it->agreed.tag, it->agreed.suite);
    for (uint32_t i = 0; i < SUITES && !it->in && error == 0; i++)
        error = write_line(it, audio, i + 1, i);
    return error ? error : sdes_widen(it, audio);
}

struct choice {
    const struct sdes *it;
    bool is_offer, is_made;
    struct sdes_line line;
};

// An answer names a line of ours.
static bool is_ours(const struct sdes *it, const struct sdes_line *line)
{
    if (it->in)
        return line->tag == it->agreed.tag && line->suite == it->agreed.suite;
    return line->tag == line->suite + 1;
}

static bool choose(const char *name, const char *value, void *arg)
{
    struct choice *choice = arg;

    (void)name;
    choice->is_made = value && sdes_read(value, &choice->line) &&
                      (choice->is_offer || is_ours(choice->it, &choice->line));
    return choice->is_made;
}

static int agree(const struct sdes *it, const struct sdp_media *audio, struct choice *choice)
{
    const bool is_secure = strncmp(sdp_media_proto(audio), "RTP/S", 5) == 0;

    (void)sdp_media_rattr_apply(audio, "crypto", choose, choice);
    if (choice->is_made || (!is_secure && it->voip->srtp != VOIP_SRTP_REQUIRED))
        return 0;
    return EPROTOTYPE;
}

int sdes_check(const struct sdes *it, const struct sdp_media *audio, bool is_offer)
{
    struct choice choice = { .it = it, .is_offer = is_offer };

    return it ? agree(it, audio, &choice) : 0;
}

static int use(struct sdes *it, const struct sdes_line *line)
{
    const struct suite *suite = &suites[line->suite];
    const bool is_other = !it->in || it->agreed.suite != line->suite;
    int error = 0;

    if (is_other || memcmp(it->agreed.key, line->key, suite->key_bytes) != 0) {
        it->in = mem_deref(it->in);
        error = srtp_alloc(&it->in, suite->id, line->key, suite->key_bytes, 0);
    }
    if (error == 0 && is_other) {
        it->out = mem_deref(it->out);
        error = srtp_alloc(&it->out, suite->id, it->keys[line->suite], suite->key_bytes, 0);
        line_say("encrypts the sound by", suite->name);
    }
    it->agreed = *line;
    return error;
}

int sdes_take(struct sdes *it, struct sdp_media *audio, bool is_offer)
{
    struct choice choice = { .it = it, .is_offer = is_offer };
    // Sound that is given up may come back with the same keys.
    int error = it && sdp_media_rport(audio) > 0 ? agree(it, audio, &choice) : 0;

    if (!it || error || sdp_media_rport(audio) == 0)
        return error;
    it->audio = audio;
    if (choice.is_made)
        error = use(it, &choice.line);
    else
        it->in = mem_deref(it->in), it->out = mem_deref(it->out);
    if (error)
        return error;
    sdp_media_del_lattr(audio, "crypto");
    return it->in ? write_line(it, audio, it->agreed.tag, it->agreed.suite) : 0;
}

// ---- Packets ------------------------------------------------------------------------------------

static bool send_sound(int *error, struct sa *to, struct mbuf *packet, void *arg)
{
    struct sdes *it = arg;

    (void)to;
    *error = it->out ? srtp_encrypt(it->out, packet) : 0;
    return *error != 0;
}

static bool send_report(int *error, struct sa *to, struct mbuf *packet, void *arg)
{
    struct sdes *it = arg;

    (void)to;
    *error = it->out ? srtcp_encrypt(it->out, packet) : 0;
    return *error != 0;
}

// Strangers are kept out before their packets are looked at: each sender takes room in the context.
static bool is_stranger(struct sdes *it, const struct sa *from)
{
    const bool is = !it->audio || !sa_cmp(from, sdp_media_raddr(it->audio), SA_ADDR);

    it->voip->tally.agent.unwanted += is;
    return is;
}

static bool take_packet(struct sdes *it, const struct sa *from, struct mbuf *packet,
                        int (*decrypt)(struct srtp *, struct mbuf *))
{
    if (!it->in)
        return false;
    if (is_stranger(it, from))
        return true;
    const int error = decrypt(it->in, packet);
    it->voip->tally.agent.damaged += error && error != EALREADY && decrypt == srtp_decrypt;
    return error != 0;
}

static bool take_sound(struct sa *from, struct mbuf *packet, void *arg)
{
    return take_packet(arg, from, packet, srtp_decrypt);
}

static bool take_report(struct sa *from, struct mbuf *packet, void *arg)
{
    return take_packet(arg, from, packet, srtcp_decrypt);
}

// ---- Its life -----------------------------------------------------------------------------------

static void give_back(void *arg)
{
    struct sdes *it = arg;

    mem_deref(it->sound);
    mem_deref(it->reports);
    mem_deref(it->sound_socket);
    mem_deref(it->report_socket);
    mem_deref(it->out);
    mem_deref(it->in);
}

int sdes_open(struct sdes **opened, struct voip *voip, struct rtp_sock *rtp)
{
    if (voip->srtp == VOIP_SRTP_NONE)
        return 0;
    struct sdes *it = mem_zalloc(sizeof *it, give_back);
    if (!it)
        return ENOMEM;
    it->voip = voip;
    rand_bytes((uint8_t *)it->keys, sizeof it->keys);
    it->sound_socket = mem_ref(rtp_sock(rtp));
    it->report_socket = mem_ref(rtcp_sock(rtp));
    int error =
        udp_register_helper(&it->sound, it->sound_socket, LAYER, send_sound, take_sound, it);
    if (error == 0)
        error = udp_register_helper(&it->reports, it->report_socket, LAYER, send_report,
                                    take_report, it);
    if (error)
        mem_deref(it);
    else
        *opened = it;
    return error;
}
