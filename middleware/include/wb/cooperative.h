// SPDX-License-Identifier: Apache-2.0
// Whether a task gives way only where it calls the kernel: then nothing of its core comes between
// two of its steps, and no step has to be taken again. What is linked with kernels that are all so
// may have another file of this name first in its include path, as that of kernels/riscv.
#ifndef WB_COOPERATIVE_H
#define WB_COOPERATIVE_H

enum { WB_COOPERATIVE = 0 };

#endif
