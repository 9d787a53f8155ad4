// SPDX-License-Identifier: Apache-2.0
//! Nothing: the package is here for the sources that its dependency bundles.
