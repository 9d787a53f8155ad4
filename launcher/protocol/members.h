// SPDX-License-Identifier: Apache-2.0
// The members of one object of JSON that is being made, in the order in which they are added.
#ifndef WB_MEMBERS_H
#define WB_MEMBERS_H

#include "wb/word.h"
#include "yyjson.h"

struct members {
    yyjson_mut_doc *doc;
    yyjson_mut_val *object;
};

static inline void text(struct members *out, const char *name, const char *value)
{
    yyjson_mut_obj_add_str(out->doc, out->object, name, value);
}

static inline void number(struct members *out, const char *name, uint64_t value)
{
    yyjson_mut_obj_add_uint(out->doc, out->object, name, value);
}

static inline void negative(struct members *out, const char *name, int64_t value)
{
    yyjson_mut_obj_add_sint(out->doc, out->object, name, value);
}

static inline void nothing(struct members *out, const char *name)
{
    yyjson_mut_obj_add_null(out->doc, out->object, name);
}

static inline void flag(struct members *out, const char *name, bool value)
{
    yyjson_mut_obj_add_bool(out->doc, out->object, name, value);
}

static inline void counter(struct members *out, const char *name, const struct wb_counter *value)
{
    number(out, name, wb_counter_get(value));
}

static inline void stamp(struct members *out, const char *name, const struct wb_stamp *value)
{
    number(out, name, wb_stamp_get(value));
}

/// An object, to be filled.
static inline struct members object(struct members *out, const char *name)
{
    return (struct members){ .doc = out->doc,
                             .object = yyjson_mut_obj_add_obj(out->doc, out->object, name) };
}

/// A list, to be filled by yyjson_mut_arr_add_…() or by element().
static inline yyjson_mut_val *list(struct members *out, const char *name)
{
    return yyjson_mut_obj_add_arr(out->doc, out->object, name);
}

/// One more object at the end of a list.
static inline struct members element(struct members *out, yyjson_mut_val *list)
{
    return (struct members){ .doc = out->doc, .object = yyjson_mut_arr_add_obj(out->doc, list) };
}

#endif
