// SPDX-License-Identifier: Apache-2.0
// The control: orders one piece after the other, as many as the stream has room for.
#include "common/tasks.h"
#include "image.h"

struct control {
    uint32_t ordered, done;  // pieces
};

static bool order(struct wb_task *self, struct control *control, struct wb_port *out)
{
    const struct image_order order = { control->ordered };

    (void)wb_compute(self);
    if (wb_port_send(out, &order, WB_FOREVER) != WB_OK)
        return false;
    control->ordered++;
    return true;
}

// A receipt may come once more after a restart, so it says how many are done in all.
static bool take_receipt(struct control *control, struct wb_port *in)
{
    struct image_receipt receipt;

    if (wb_port_receive(in, &receipt, WB_FOREVER) != WB_OK)
        return false;
    if (receipt.pieces > control->done)
        control->done = receipt.pieces;
    return true;
}

int control(struct wb_task *self)
{
    const struct image *image = image_of(self);
    struct control *control = task_keep(self, sizeof *control);
    struct wb_port *out = wb_port_find(self, "orders", 0, sizeof(struct image_order));
    struct wb_port *in = wb_port_find(self, "receipts", 0, sizeof(struct image_receipt));
    const uint32_t wanted = image->pieces * image->plays;
    bool going = true;

    while (going && control->ordered < wanted && !wb_stopping(self)) {
        if (control->ordered < control->done + IMAGE_WINDOW)
            going = order(self, control, out);
        else
            going = take_receipt(control, in);
        wb_checkpoint();
    }
    wb_port_close(out);
    while (going && control->done < control->ordered) {
        going = take_receipt(control, in);
        wb_checkpoint();
    }
    return 0;
}
