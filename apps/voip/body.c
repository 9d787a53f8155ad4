// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "body.h"

#include <string.h>
#include <strings.h>

enum { BOUNDARY_BYTES = 70, DEPTH_MAX = 4 };

static bool begins_with(const char *text, size_t bytes, const char *word)
{
    const size_t n = strlen(word);

    return bytes >= n && strncasecmp(text, word, n) == 0;
}

// The first line of a text, without its end, which is CRLF, LF or CR; takes it off the text.
static struct body next_line(struct body *text)
{
    struct body line = { text->at, 0 };

    while (line.bytes < text->bytes && text->at[line.bytes] != '\r' && text->at[line.bytes] != '\n')
        line.bytes++;
    size_t end = line.bytes;
    end += end < text->bytes && text->at[end] == '\r';
    end += end < text->bytes && text->at[end] == '\n';
    text->at += end;
    text->bytes -= end;
    return line;
}

// ---- Parts --------------------------------------------------------------------------------------

static bool find_boundary(const char *type, size_t bytes, struct body *boundary)
{
    static const char name[] = "boundary=";
    const char *const end = type + bytes;

    for (; (size_t)(end - type) >= sizeof name - 1; type++)
        if (begins_with(type, (size_t)(end - type), name))
            break;
    if ((size_t)(end - type) < sizeof name - 1)
        return false;
    type += sizeof name - 1;
    const bool is_quoted = type < end && *type == '"';
    type += is_quoted;
    boundary->at = type;
    while (type < end && (is_quoted ? *type != '"' : !strchr("; \t", *type)))
        type++;
    boundary->bytes = (size_t)(type - boundary->at);
    return boundary->bytes > 0 && boundary->bytes <= BOUNDARY_BYTES;
}

static bool is_delimiter(struct body line, struct body boundary)
{
    return line.bytes >= boundary.bytes + 2 && memcmp(line.at, "--", 2) == 0 &&
           memcmp(line.at + 2, boundary.at, boundary.bytes) == 0;
}

// The type of a part, whose head is taken off it.
static struct body take_head(struct body *part)
{
    struct body type = { "text/plain", strlen("text/plain") };

    while (part->bytes > 0) {
        struct body line = next_line(part);
        static const char *const names[] = { "Content-Type:", "c:" };

        if (line.bytes == 0)
            break;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (begins_with(line.at, line.bytes, names[i])) {
                type.at = line.at + strlen(names[i]);
                type.bytes = line.bytes - strlen(names[i]);
            }
    }
    while (type.bytes > 0 && (*type.at == ' ' || *type.at == '\t')) {
        type.at++;
        type.bytes--;
    }
    return type;
}

static bool find_part(struct body *body, const char *type, size_t type_bytes, int depth)
{
    struct body boundary, text = *body, part = { NULL, 0 };

    if (depth == DEPTH_MAX || !find_boundary(type, type_bytes, &boundary))
        return false;
    for (bool is_over = false; !is_over;) {
        struct body line = next_line(&text);

        is_over = text.bytes == 0;
        if (!is_delimiter(line, boundary) && !(is_over && part.at))
            continue;
        // The line end before a delimiter is the delimiter's.
        if (part.at) {
            part.bytes = (size_t)((is_delimiter(line, boundary) ? line.at : text.at) - part.at);
            const struct body head = take_head(&part);
            *body = part;
            if (begins_with(head.at, head.bytes, "application/sdp") ||
                (begins_with(head.at, head.bytes, "multipart/") &&
                 find_part(body, head.at, head.bytes, depth + 1)))
                return true;
        }
        part.at = text.at;
    }
    return false;
}

bool body_find(struct body *body, const char *type, size_t type_bytes)
{
    const struct body whole = *body;
    const bool is_found = find_part(body, type, type_bytes, 0);

    if (!is_found)
        *body = whole;
    return is_found;
}

// ---- Descriptions -------------------------------------------------------------------------------

static bool has(struct body line, const char *bytes)
{
    for (size_t i = 0; i < line.bytes; i++)
        if (line.at[i] != '\0' && strchr(bytes, line.at[i]))
            return true;
    return false;
}

// Whether the rest of a line is of a form that is understood; bandwidths do not matter here.
static bool is_formed(struct body line)
{
    if (begins_with(line.at, line.bytes, "a=rtpmap:"))
        return has(line, " ") && has(line, "/");
    if (begins_with(line.at, line.bytes, "a=fmtp:"))
        return has(line, " ");
    if (begins_with(line.at, line.bytes, "a=rtcp:"))
        return line.bytes > strlen("a=rtcp:") && strchr("123456789", line.at[strlen("a=rtcp:")]);
    return !begins_with(line.at, line.bytes, "b=");
}

// Writes `m=audio 5004/1 RTP/AVP 0` without `/1`: more than one pair of ports is of no use.
static size_t write_media(struct body line, char *out)
{
    const char *port = memchr(line.at, ' ', line.bytes);
    const char *const end = line.at + line.bytes;
    size_t n = 0;

    for (const char *at = line.at; at < end; at++) {
        if (port && at > port && *at == '/') {
            while (at < end && *at != ' ')
                at++;
            if (at == end)
                break;
        }
        if (port && at > port && *at == ' ')
            port = NULL;
        out[n++] = *at;
    }
    while (n > 0 && (out[n - 1] == ' ' || out[n - 1] == '\t'))
        n--;
    return n;
}

bool body_is_held(const char *text, size_t bytes)
{
    static const char *const held[] = { "c=IN IP4 0.0.0.0", "c=IN IP6 ::", "c=IN IP6 0::0" };
    static const char invalid[] = ".invalid";
    struct body rest = { text, bytes };

    while (rest.bytes > 0) {
        struct body line = next_line(&rest);

        line.bytes -= line.bytes > 0 && line.at[line.bytes - 1] == '.';
        for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
            if (line.bytes == strlen(held[i]) && begins_with(line.at, line.bytes, held[i]))
                return true;
        if (begins_with(line.at, line.bytes, "c=") && line.bytes >= sizeof invalid &&
            begins_with(line.at + line.bytes - (sizeof invalid - 1), sizeof invalid - 1, invalid))
            return true;
    }
    return false;
}

size_t body_tidy(const char *text, size_t bytes, char *out)
{
    struct body rest = { text, bytes };
    size_t n = 0;

    while (rest.bytes > 0) {
        struct body line = next_line(&rest);

        while (line.bytes > 0 && strchr(" \t", line.at[line.bytes - 1]) &&
               line.at[line.bytes - 1] != '\0')
            line.bytes--;
        if (line.bytes == 0 || !is_formed(line))
            continue;
        if (begins_with(line.at, line.bytes, "m="))
            n += write_media(line, out + n);
        else {
            memcpy(out + n, line.at, line.bytes);
            n += line.bytes;
        }
        memcpy(out + n, "\r\n", 2);
        n += 2;
    }
    return n;
}
