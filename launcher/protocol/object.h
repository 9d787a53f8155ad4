// SPDX-License-Identifier: Apache-2.0
// JSON as plain data, by tables: each kind of object is a table of its members, and each member
// goes to a field of a struct. What a table does not have is refused.
#ifndef WB_OBJECT_H
#define WB_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yyjson.h"

struct parse_error {
    char key[96], text[160];  // which member is wrong, as `plan.tasks[3].priority`, and what it is
};

// Memory for many small objects: an allocation of its own may take a page at least.
struct room {
    unsigned char *at;
    size_t left;
};

struct parser {
    const yyjson_alc *memory;  // for what structs point to
    struct room *room;         // of it; NULL: each object is an allocation
    struct parse_error *error;
};

// Where in the message, from the inside out.
struct place {
    const struct place *in;
    const char *name;  // NULL: an element of a list
    size_t index;
};

enum kind { UINT32, UINT64, BOOL, NUMBER, TEXT, WORD, OBJECT, POINTER, OTHER };

struct field {
    const char *name;
    enum kind kind;
    size_t at;
    size_t n_at;                  // of a list: where its length goes; else 0
    bool needed;                  // null or nothing stands for 0 elsewhere
    uint64_t most;                // of a number; 0: what its type holds
    const char *const *words;     // WORD: stands for the number of its place; NULL ends them
    const struct object *object;  // OBJECT: which lies there; POINTER: which is pointed to
    // OTHER: takes the value by itself.
    bool (*take)(const struct parser *parser, const struct place *place, yyjson_val *value,
                 void *to);
};

struct object {
    size_t bytes;
    uint32_t n_fields;  // at most 64
    const struct field *fields;
};

#define FIELD(tag, text, type, member, ...)                                                        \
    {                                                                                              \
        .name = text, .kind = type, .at = offsetof(struct tag, member), __VA_ARGS__                \
    }
#define LIST(tag, text, type, list, n, ...)                                                        \
    FIELD(tag, text, type, list, .n_at = offsetof(struct tag, n), __VA_ARGS__)
#define NEEDED .needed = true
#define OPTIONAL .needed = false
#define OBJECT_OF(tag, fields)                                                                     \
    {                                                                                              \
        sizeof(struct tag), sizeof(fields) / sizeof(fields)[0], fields                             \
    }

/// Fills a struct, zeroed before, from an object.
///
/// Memory:  lists are allocated; texts stay where they are, in the memory of the message.
/// Returns: true; or false with the parser's error filled in.
bool object_take(const struct parser *parser, const struct place *place,
                 const struct object *object, yyjson_val *value, void *to);

/// Zeroed memory of the parser; NULL: there is none.
void *object_allocate(const struct parser *parser, size_t n, size_t bytes);

/// Fills in the parser's error. False, always.
__attribute__((format(printf, 3, 4))) bool
object_refuse(const struct parser *parser, const struct place *place, const char *format, ...);

#endif
