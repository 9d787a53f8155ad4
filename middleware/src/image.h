// SPDX-License-Identifier: Apache-2.0
#ifndef WB_IMAGE_H
#define WB_IMAGE_H

#include "wb/system.h"

/// Room for the task's images, and what its ports need for them. Once, when its ports are bound.
/// Returns: false without memory.
bool wb_images_init(struct wb_task *task);

/// Counts a checkpoint; true when it is to take an image. Ends the run when the task is not in a
/// state that an image can keep.
bool wb_image_is_due(struct wb_task *self);

/// Puts the ports of a killed task back to its newest image, from which it will go on.
///
/// Context: recovery.
/// Returns: false when there is none, or it is damaged.
bool wb_image_resume(struct wb_task *task);

/// Puts the memory of the task back to its newest image.
///
/// Context: the kernel that takes it in.
/// Returns: WB_OK, or WB_ERR_INVAL when there is none, or it has been damaged since.
WB_MUST_USE enum wb_status wb_image_load(struct wb_task *task);

#endif
