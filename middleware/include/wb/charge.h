// SPDX-License-Identifier: Apache-2.0
// How the middleware charges for what it does: by calling its kernel. A kernel for which nothing
// costs virtual time has another file of this name before this one on the include path
// (kernels/template/free), as with wb/word_ops.h.
#ifndef WB_CHARGE_H
#define WB_CHARGE_H

#endif
