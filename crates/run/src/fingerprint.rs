// SPDX-License-Identifier: Apache-2.0
//! Short names for long texts.

/// FNV-1a in hexadecimal: the same on every machine and in every version, which `DefaultHasher`
/// does not promise.
pub fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
