// SPDX-License-Identifier: Apache-2.0
#include "requests.h"

#include <errno.h>

#include "body.h"

enum { LIST_BYTES = 128 };

static bool is_method(const struct sip_msg *message, const char *const *methods)
{
    for (; *methods; methods++)
        if (pl_strcmp(&message->met, *methods) == 0)
            return true;
    return false;
}

void request_answer(struct sip *sip, const struct sip_msg *message, uint16_t status,
                    const char *reason, const char *headers)
{
    (void)sip_treplyf(NULL, NULL, sip, message, false, status, reason,
                      "%s"
                      "Content-Length: 0\r\n\r\n",
                      headers);
}

// ---- Extensions ---------------------------------------------------------------------------------

// The phone has no extension (RFC 3261, 8.2.2.3), so it lists all that are required.
static bool list_required(const struct sip_hdr *header, const struct sip_msg *message, void *arg)
{
    struct mbuf *list = arg;

    (void)message;
    return header->val.l > 0 && mbuf_printf(list, "Unsupported: %r\r\n", &header->val) != 0;
}

static bool refuse_extensions(struct sip *sip, const struct sip_msg *message)
{
    struct mbuf *list = mbuf_alloc(LIST_BYTES);

    if (!list)
        return false;
    (void)sip_msg_hdr_apply(message, true, SIP_HDR_REQUIRE, list_required, list);
    const bool is_refused = list->end > 0;
    if (is_refused)
        (void)sip_treplyf(NULL, NULL, sip, message, false, 420, "Bad Extension",
                          "%b"
                          "Content-Length: 0\r\n\r\n",
                          list->buf, list->end);
    mem_deref(list);
    return is_refused;
}

// ---- Bodies -------------------------------------------------------------------------------------

static bool is_optional(const struct sip_msg *message)
{
    const struct sip_hdr *header = sip_msg_hdr(message, SIP_HDR_CONTENT_DISPOSITION);
    struct pl handling;

    return header && msg_param_decode(&header->val, "handling", &handling) == 0 &&
           pl_strcasecmp(&handling, "optional") == 0;
}

static bool is_encoded(const struct sip_msg *message)
{
    const struct sip_hdr *header = sip_msg_hdr(message, SIP_HDR_CONTENT_ENCODING);

    return header && header->val.l > 0 && pl_strcasecmp(&header->val, "identity") != 0;
}

static bool find_description(const struct sip_msg *message)
{
    const struct sip_hdr *type = sip_msg_hdr(message, SIP_HDR_CONTENT_TYPE);
    struct mbuf *buffer = message->mb;
    struct body body = { (const char *)mbuf_buf(buffer), mbuf_get_left(buffer) };

    if (is_encoded(message))
        return false;
    if (msg_ctype_cmp(&message->ctyp, "application", "sdp"))
        return true;
    if (!type || pl_strcasecmp(&message->ctyp.type, "multipart") != 0 ||
        !body_find(&body, type->val.p, type->val.l))
        return false;
    buffer->pos = (size_t)((const uint8_t *)body.at - buffer->buf);
    buffer->end = buffer->pos + body.bytes;
    return true;
}

int request_take_body(const struct sip_msg *message)
{
    struct mbuf *buffer = message->mb;
    const size_t told = message->clen.l > 0 ? pl_u32(&message->clen) : mbuf_get_left(buffer);

    if (told > mbuf_get_left(buffer))
        return EBADMSG;
    buffer->end = buffer->pos + told;
    if (told == 0 || find_description(message))
        return 0;
    if (!is_optional(message))
        return EPROTONOSUPPORT;
    buffer->end = buffer->pos;
    return 0;
}

static bool refuse_body(struct sip *sip, const struct sip_msg *message)
{
    const int error = request_take_body(message);

    if (error == EBADMSG)
        request_answer(sip, message, 400, "Body Shorter Than Content-Length", "");
    else if (error)
        request_answer(sip, message, 415, "Unsupported Media Type",
                       "Accept: application/sdp, multipart/mixed\r\n"
                       "Accept-Encoding: identity\r\n");
    return error != 0;
}

// ---- Requests -----------------------------------------------------------------------------------

static bool refuse_method(struct sip *sip, const struct sip_msg *message)
{
    static const char *const served[] = { "INVITE", "BYE", "OPTIONS", "UPDATE", NULL };
    static const char *const known[] = { "REGISTER", "INFO",      "MESSAGE", "NOTIFY", "PRACK",
                                         "PUBLISH",  "SUBSCRIBE", "REFER",   NULL };

    if (is_method(message, served))
        return false;
    if (is_method(message, known))
        request_answer(sip, message, 405, "Method Not Allowed", REQUESTS_ABILITIES);
    else
        request_answer(sip, message, 501, "Not Implemented", REQUESTS_ABILITIES);
    return true;
}

bool request_refuse(struct sip *sip, const struct sip_msg *message)
{
    static const char *const described[] = { "INVITE", "UPDATE", NULL };

    if (pl_strcmp(&message->met, "ACK") == 0) {
        (void)request_take_body(message);
        return false;
    }
    // Of one that libre knows it has not passed the CANCEL on.
    if (pl_strcmp(&message->met, "CANCEL") == 0) {
        (void)sip_reply(sip, message, 481, "Transaction Does Not Exist");
        return true;
    }
    return refuse_method(sip, message) || refuse_extensions(sip, message) ||
           (is_method(message, described) && refuse_body(sip, message));
}
