// SPDX-License-Identifier: Apache-2.0
//! Short names for long texts and for files.

/// FNV-1a in hexadecimal: the same on every machine and in every version, which `DefaultHasher`
/// does not promise.
pub fn fingerprint(text: &str) -> String {
    fingerprint_of(text.as_bytes())
}

/// The same of bytes.
pub fn fingerprint_of(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
