// SPDX-License-Identifier: Apache-2.0
#include "order.h"

#include <stddef.h>

static bool is_before(const struct rank *a, const struct rank *b)
{
    return a->key != b->key ? a->key < b->key : a->number < b->number;
}

// True if it was another.
static bool update_least(struct rank *at)
{
    int64_t least = at->value;

    if (at->left != NULL && at->left->least < least)
        least = at->left->least;
    if (at->right != NULL && at->right->least < least)
        least = at->right->least;
    const bool changes = at->least != least;
    at->least = least;
    return changes;
}

static void put_in_place_of(struct order *order, const struct rank *old, struct rank *at)
{
    if (at != NULL)
        at->up = old->up;
    if (old->up == NULL)
        order->root = at;
    else if (old->up->left == old)
        old->up->left = at;
    else
        old->up->right = at;
}

// One changes places with the one above it, in the same order.
static void rotate(struct order *order, struct rank *at)
{
    struct rank *above = at->up, *between;

    put_in_place_of(order, above, at);
    if (above->left == at) {
        between = above->left = at->right;
        at->right = above;
    } else {
        between = above->right = at->left;
        at->left = above;
    }
    if (between != NULL)
        between->up = above;
    above->up = at;
    at->least = above->least;
    (void)update_least(above);
}

// Looks drawn: the end of MurmurHash3 (A. Appleby).
static uint32_t weight_of(uint32_t task)
{
    task = (task ^ task >> 16) * 0x85ebca6b;
    task = (task ^ task >> 13) * 0xc2b2ae35;
    return task ^ task >> 16;
}

// Below `*up`.
static struct rank **place_of(struct order *order, const struct rank *rank, struct rank **up)
{
    struct rank **at = &order->root;

    *up = NULL;
    if (order->root != NULL && is_before(order->last, rank)) {
        *up = order->last;
        return &order->last->right;
    }
    while (*at != NULL) {
        *up = *at;
        at = is_before(rank, *at) ? &(*at)->left : &(*at)->right;
    }
    return at;
}

void order_add(struct order *order, struct rank *rank)
{
    struct rank *up, **place = place_of(order, rank, &up);

    *place = rank;
    rank->left = rank->right = NULL;
    rank->up = up;
    rank->least = rank->value;
    rank->weight = weight_of(rank->task + 1);
    if (order->first == NULL || is_before(rank, order->first))
        order->first = rank;
    if (order->last == NULL || is_before(order->last, rank))
        order->last = rank;
    for (; up != NULL && up->least > rank->value; up = up->up)
        up->least = rank->value;
    while (rank->up != NULL && rank->up->weight < rank->weight)
        rotate(order, rank);
}

static void move_ends(struct order *order, const struct rank *rank)
{
    if (order->first == rank) {
        order->first = rank->right != NULL ? rank->right : rank->up;
        while (rank->right != NULL && order->first->left != NULL)
            order->first = order->first->left;
    }
    if (order->last == rank) {
        order->last = rank->left != NULL ? rank->left : rank->up;
        while (rank->left != NULL && order->last->right != NULL)
            order->last = order->last->right;
    }
}

void order_remove(struct order *order, struct rank *rank)
{
    move_ends(order, rank);
    while (rank->left != NULL && rank->right != NULL)
        rotate(order, rank->left->weight > rank->right->weight ? rank->left : rank->right);
    put_in_place_of(order, rank, rank->left != NULL ? rank->left : rank->right);
    for (struct rank *up = rank->up; up != NULL && update_least(up);)
        up = up->up;
}

struct rank *order_first_within(const struct order *order, int64_t most)
{
    struct rank *at = order->root;

    while (at != NULL && at->least <= most) {
        if (at->left != NULL && at->left->least <= most)
            at = at->left;
        else if (at->value <= most)
            return at;
        else
            at = at->right;
    }
    return NULL;
}
