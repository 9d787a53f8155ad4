// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- Errors -------------------------------------------------------------------------------------

static size_t print_place(char *to, size_t bytes, const struct place *place)
{
    if (place == NULL)
        return 0;
    const size_t used = print_place(to, bytes, place->in);
    if (used >= bytes)
        return used;
    // Not %zu: newlib may be without the formats of C99.
    const unsigned long index = place->index;
    const int n = place->name == NULL ? snprintf(to + used, bytes - used, "[%lu]", index)
                                      : snprintf(to + used, bytes - used, "%s%s",
                                                 used == 0 ? "" : ".", place->name);
    return used + (size_t)n;
}

bool object_refuse(const struct parser *parser, const struct place *place, const char *format, ...)
{
    struct parse_error *error = parser->error;
    va_list arguments;

    *error = (struct parse_error){ .key = "" };
    print_place(error->key, sizeof error->key, place);
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

// ---- Values -------------------------------------------------------------------------------------

// From the room, where that pays; NULL: it does not.
static void *take_room(const struct parser *parser, size_t bytes)
{
    enum { ROOM = 1 << 16, SMALL = 1 << 10, ALIGNED = 16 };
    struct room *room = parser->room;
    const size_t needed = (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;

    if (room == NULL || bytes > SMALL)
        return NULL;
    if (room->left < needed) {
        room->at = parser->memory->malloc(parser->memory->ctx, ROOM);
        room->left = room->at != NULL ? ROOM : 0;
        if (room->at == NULL)
            return NULL;
    }
    void *memory = room->at;
    room->at += needed;
    room->left -= needed;
    return memory;
}

void *object_allocate(const struct parser *parser, size_t n, size_t bytes)
{
    const size_t all = n * bytes + 1;
    void *memory = take_room(parser, all);

    if (memory == NULL)
        memory = parser->memory->malloc(parser->memory->ctx, all);
    return memory != NULL ? memset(memory, 0, all) : NULL;
}

static bool take_uint(const struct parser *parser, const struct place *place,
                      const struct field *field, yyjson_val *value, void *to)
{
    const uint64_t most = field->most != 0        ? field->most
                          : field->kind == UINT32 ? UINT32_MAX
                                                  : UINT64_MAX;

    if (!yyjson_is_uint(value) || yyjson_get_uint(value) > most)
        return object_refuse(parser, place, "is not a whole number from 0 to %" PRIu64, most);
    if (field->kind == UINT32)
        *(uint32_t *)to = (uint32_t)yyjson_get_uint(value);
    else
        *(uint64_t *)to = yyjson_get_uint(value);
    return true;
}

static bool take_text(const struct parser *parser, const struct place *place, yyjson_val *value,
                      const char **to)
{
    if (!yyjson_is_str(value) || strlen(yyjson_get_str(value)) != yyjson_get_len(value))
        return object_refuse(parser, place, "is not a text");
    *to = yyjson_get_str(value);
    if (parser->room == NULL)
        return true;
    // The text of a plan is not kept.
    char *copy = object_allocate(parser, 1, yyjson_get_len(value));
    if (copy == NULL)
        return object_refuse(parser, place, "there is no memory for it");
    *to = memcpy(copy, *to, yyjson_get_len(value));
    return true;
}

static bool take_word(const struct parser *parser, const struct place *place,
                      const struct field *field, yyjson_val *value, uint32_t *to)
{
    for (*to = 0; field->words[*to] != NULL; ++*to)
        if (yyjson_equals_str(value, field->words[*to]))
            return true;
    return object_refuse(parser, place, "is none of the words that it may be");
}

static bool take_pointer(const struct parser *parser, const struct place *place,
                         const struct field *field, yyjson_val *value, void **to)
{
    *to = object_allocate(parser, 1, field->object->bytes);
    return *to != NULL ? object_take(parser, place, field->object, value, *to)
                       : object_refuse(parser, place, "there is no memory for it");
}

static bool take_value(const struct parser *parser, const struct place *place,
                       const struct field *field, yyjson_val *value, void *to)
{
    switch (field->kind) {
    case UINT32:
    case UINT64:
        return take_uint(parser, place, field, value, to);
    case BOOL:
        *(bool *)to = yyjson_is_true(value);
        return yyjson_is_bool(value) || object_refuse(parser, place, "is neither true nor false");
    case NUMBER:
        *(double *)to = yyjson_get_num(value);
        return yyjson_is_num(value) || object_refuse(parser, place, "is not a number");
    case TEXT:
        return take_text(parser, place, value, to);
    case WORD:
        return take_word(parser, place, field, value, to);
    case OBJECT:
        return object_take(parser, place, field->object, value, to);
    case POINTER:
        return take_pointer(parser, place, field, value, to);
    case OTHER:
        return field->take(parser, place, value, to);
    }
    return false;
}

static size_t bytes_of(const struct field *field)
{
    static const size_t bytes[] = {
        [UINT32] = sizeof(uint32_t), [UINT64] = sizeof(uint64_t), [BOOL] = sizeof(bool),
        [NUMBER] = sizeof(double),   [TEXT] = sizeof(char *),     [WORD] = sizeof(uint32_t),
        [POINTER] = sizeof(void *)
    };

    return field->kind == OBJECT ? field->object->bytes : bytes[field->kind];
}

static bool take_list(const struct parser *parser, const struct place *place,
                      const struct field *field, yyjson_val *value, char *object)
{
    struct place element = { .in = place };
    char *to = object_allocate(parser, yyjson_arr_size(value), bytes_of(field));
    yyjson_arr_iter iter = yyjson_arr_iter_with(value);
    yyjson_val *next;

    if (!yyjson_is_arr(value))
        return object_refuse(parser, place, "is not a list");
    if (to == NULL)
        return object_refuse(parser, place, "there is no memory for it");
    *(void **)(void *)(object + field->at) = to;
    *(uint32_t *)(void *)(object + field->n_at) = (uint32_t)yyjson_arr_size(value);
    for (; (next = yyjson_arr_iter_next(&iter)) != NULL; element.index++)
        if (!take_value(parser, &element, field, next, to + element.index * bytes_of(field)))
            return false;
    return true;
}

// ---- Objects ------------------------------------------------------------------------------------

// Members mostly come in the order of the table: `next` is the one after the last.
static const struct field *find_field(const struct object *object, uint32_t next, yyjson_val *key)
{
    for (uint32_t i = 0; i < object->n_fields; i++) {
        const struct field *field = &object->fields[(next + i) % object->n_fields];
        if (yyjson_equals_str(key, field->name))
            return field;
    }
    return NULL;
}

bool object_take(const struct parser *parser, const struct place *place,
                 const struct object *object, yyjson_val *value, void *to)
{
    yyjson_obj_iter iter = yyjson_obj_iter_with(value);
    uint64_t seen = 0;
    uint32_t next = 0;
    yyjson_val *key;

    if (!yyjson_is_obj(value))
        return object_refuse(parser, place, "is not an object");
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        const struct field *field = find_field(object, next, key);
        const struct place member = { .in = place, .name = yyjson_get_str(key) };
        yyjson_val *of_key = yyjson_obj_iter_get_val(key);
        next = field != NULL ? (uint32_t)(field - object->fields) : 0;
        if (field == NULL || (seen & (uint64_t)1 << next) != 0)
            return object_refuse(parser, &member, field == NULL ? "is not known" : "comes twice");
        seen |= (uint64_t)1 << next++;
        if (yyjson_is_null(of_key) && !field->needed)
            continue;
        if (field->n_at != 0 ? !take_list(parser, &member, field, of_key, to)
                             : !take_value(parser, &member, field, of_key, (char *)to + field->at))
            return false;
    }
    for (uint32_t i = 0; i < object->n_fields; i++)
        if (object->fields[i].needed && (seen & (uint64_t)1 << i) == 0)
            return object_refuse(parser,
                                 &(struct place){ .in = place, .name = object->fields[i].name },
                                 "is missing");
    return true;
}
