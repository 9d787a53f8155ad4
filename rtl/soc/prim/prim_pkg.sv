// SPDX-License-Identifier: Apache-2.0
// Ibex asks for primitives of a technology; this folder has plain ones.

package prim_pkg;

  typedef enum logic {
    ImplGeneric = 1'b0
  } impl_e;

endpackage
