// SPDX-License-Identifier: Apache-2.0
#include "order.h"

#include <stddef.h>

static bool is_before(const struct rank *a, const struct rank *b)
{
    return a->key != b->key ? a->key < b->key : a->number < b->number;
}

static void update(struct rank *at)
{
    at->least = at->value;
    if (at->left != NULL && at->left->least < at->least)
        at->least = at->left->least;
    if (at->right != NULL && at->right->least < at->least)
        at->least = at->right->least;
}

// All before `by` to `*left`, the others to `*right`.
static void split(struct rank *at, const struct rank *by, struct rank **left, struct rank **right)
{
    if (at == NULL) {
        *left = *right = NULL;
    } else if (is_before(at, by)) {
        split(at->right, by, &at->right, right);
        *left = at;
        update(at);
    } else {
        split(at->left, by, left, &at->left);
        *right = at;
        update(at);
    }
}

static struct rank *merge(struct rank *left, struct rank *right)
{
    if (left == NULL || right == NULL)
        return left != NULL ? left : right;
    if (left->weight >= right->weight) {
        left->right = merge(left->right, right);
        update(left);
        return left;
    }
    right->left = merge(left, right->left);
    update(right);
    return right;
}

static struct rank *add_rank(struct rank *at, struct rank *rank)
{
    if (at == NULL || at->weight < rank->weight) {
        split(at, rank, &rank->left, &rank->right);
        update(rank);
        return rank;
    }
    if (is_before(rank, at))
        at->left = add_rank(at->left, rank);
    else
        at->right = add_rank(at->right, rank);
    update(at);
    return at;
}

static struct rank *without(struct rank *at, const struct rank *rank)
{
    if (at == rank)
        return merge(at->left, at->right);
    if (is_before(rank, at))
        at->left = without(at->left, rank);
    else
        at->right = without(at->right, rank);
    update(at);
    return at;
}

// Looks drawn: the end of MurmurHash3 (A. Appleby).
static uint32_t weight_of(uint32_t task)
{
    task = (task ^ task >> 16) * 0x85ebca6b;
    task = (task ^ task >> 13) * 0xc2b2ae35;
    return task ^ task >> 16;
}

void order_add(struct order *order, struct rank *rank)
{
    rank->weight = weight_of(rank->task + 1);
    order->root = add_rank(order->root, rank);
}

void order_remove(struct order *order, struct rank *rank)
{
    order->root = without(order->root, rank);
}

struct rank *order_first(const struct order *order)
{
    struct rank *at = order->root;

    while (at != NULL && at->left != NULL)
        at = at->left;
    return at;
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
