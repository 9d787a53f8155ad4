// SPDX-License-Identifier: Apache-2.0
// What is in a module's file, read byte by byte, and the words for what is wrong with it.

#include <stdarg.h>

#include "image.h"

struct text {
    char *at, *end;  // `end`: the place for the zero
};

static void put_char(struct text *text, char c)
{
    if (text->at != text->end)
        *text->at++ = c;
}

// Names come from the file: what cannot be printed is not.
static void put_text(struct text *text, const char *from)
{
    for (; *from != '\0'; from++)
        put_char(text, *from >= ' ' && *from <= '~' ? *from : '?');
}

static void put_number(struct text *text, uint32_t number, uint32_t base)
{
    char digits[10];
    uint32_t n = 0;

    do
        digits[n++] = "0123456789abcdef"[number % base];
    while ((number /= base) != 0);
    while (n != 0)
        put_char(text, digits[--n]);
}

static void put_format(struct text *text, const char *format, va_list values)
{
    for (; *format != '\0'; format++) {
        if (*format != '%') {
            put_char(text, *format);
        } else if (*++format == 's') {
            put_text(text, va_arg(values, const char *));
        } else {
            const uint32_t number = va_arg(values, unsigned int);
            if (*format == 'x')
                put_text(text, "0x");
            put_number(text, number, *format == 'x' ? 16 : 10);
        }
    }
}

enum wb_status image_refuse(const struct image *image, const char *format, ...)
{
    struct text text = { image->request->why, image->request->why + WB_MODULE_WHY_BYTES - 1 };
    va_list values;

    put_text(&text, "module ");
    put_text(&text, image->request->file->name);
    put_text(&text, ": ");
    va_start(values, format);
    put_format(&text, format, values);
    va_end(values);
    *text.at = '\0';
    return WB_ERR_INVAL;
}

bool image_has(const struct image *image, uint32_t offset, uint32_t bytes)
{
    return offset <= image->size && bytes <= image->size - offset;
}

struct section image_section(const struct image *image, uint32_t i)
{
    const unsigned char *at = image->bytes + image->sections_at + i * SECTION_BYTES;

    return (struct section){ .name = wb_get32(at + SECTION_NAME),
                             .type = wb_get32(at + SECTION_TYPE),
                             .flags = wb_get32(at + SECTION_FLAGS),
                             .offset = wb_get32(at + SECTION_OFFSET),
                             .size = wb_get32(at + SECTION_SIZE),
                             .link = wb_get32(at + SECTION_LINK),
                             .info = wb_get32(at + SECTION_INFO),
                             .align = wb_get32(at + SECTION_ALIGN),
                             .entry_bytes = wb_get32(at + SECTION_ENTRY_BYTES) };
}

const char *image_text(const struct image *image, const struct section *texts, uint32_t offset)
{
    return offset < texts->size ? (const char *)image->bytes + texts->offset + offset : "?";
}

const char *image_section_name(const struct image *image, uint32_t i)
{
    return image_text(image, &image->names, image_section(image, i).name);
}

struct symbol image_symbol(const struct image *image, uint32_t i)
{
    const unsigned char *at =
        image->bytes + image_section(image, image->symbols).offset + i * SYMBOL_BYTES;

    return (struct symbol){
        .name = image_text(image, &image->symbol_names, wb_get32(at + SYMBOL_NAME)),
        .value = wb_get32(at + SYMBOL_VALUE),
        .type = at[SYMBOL_INFO] & 15,
        .bind = at[SYMBOL_INFO] >> 4,
        .section = wb_get16(at + SYMBOL_SECTION),
    };
}

bool section_is_relocations(const struct section *section)
{
    return section->type == TYPE_REL || section->type == TYPE_RELA;
}

bool section_is_loaded(const struct section *section)
{
    return (section->flags & FLAG_ALLOC) != 0 && !section_is_relocations(section);
}
