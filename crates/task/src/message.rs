// SPDX-License-Identifier: Apache-2.0
//! What may leave the memory of one task.

use core::ffi::c_void;

/// A value that tasks may exchange: plain data, which means the same to each of them.
///
/// Numbers and arrays of them are; [`message!`](crate::message) makes structs of them.
///
/// # Safety
///
/// Every pattern of bytes is a value of the type: the sender may be a task in C. The value has no
/// address: that of a block would be invalid once the block's task has ended.
pub unsafe trait Message: Copy + 'static {}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        // SAFETY: a number is plain data.
        unsafe impl Message for $number {}
    )*};
}
numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

// SAFETY: an array is as plain as its elements.
unsafe impl<T: Message, const N: usize> Message for [T; N] {}

/// Defines structs that are a [`Message`], laid out as in C.
///
/// ```
/// whimbrel_task::message! {
///     /// Three values at a time.
///     pub struct Sample {
///         pub number: u64,
///         pub value: [f32; 3],
///     }
/// }
/// assert_eq!(size_of::<Sample>(), 24);
/// ```
///
/// A field that is no message is refused:
///
/// ```compile_fail,E0277
/// whimbrel_task::message! {
///     struct Sample {
///         name: &'static str,
///     }
/// }
/// ```
#[macro_export]
macro_rules! message {
    ($($(#[$of_struct:meta])* $sees:vis struct $name:ident {
        $($(#[$of_field:meta])* $sees_field:vis $field:ident: $type:ty,)*
    })*) => {$(
        $(#[$of_struct])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, PartialEq)]
        $sees struct $name {
            $($(#[$of_field])* $sees_field $field: $type,)*
        }
        // SAFETY: a struct is as plain as its fields, each of which `all` checks.
        unsafe impl $crate::Message for $name {}
        const _: () = {
            const fn all<T: $crate::Message>() {}
            $(all::<$type>();)*
        };
    )*};
}

/// What a port may carry: one [`Message`], or a block `[T]` of as many as a slot has room for.
pub trait Carried: sealed::Carried {}

impl<T: Message> Carried for T {}
impl<T: Message> Carried for [T] {}

pub(crate) mod sealed {
    use super::{Message, c_void};

    pub trait Carried {
        /// One message, or one of a block.
        type One: Message;
        /// Slots may be larger than one.
        const IS_BLOCK: bool;

        /// The message in a slot that has room for so many; the bytes are those of the slot.
        fn at(slot: *mut c_void, room: usize) -> *mut Self;
    }

    impl<T: Message> Carried for T {
        type One = T;
        const IS_BLOCK: bool = false;

        fn at(slot: *mut c_void, _: usize) -> *mut Self {
            slot.cast()
        }
    }

    impl<T: Message> Carried for [T] {
        type One = T;
        const IS_BLOCK: bool = true;

        fn at(slot: *mut c_void, room: usize) -> *mut Self {
            core::ptr::slice_from_raw_parts_mut(slot.cast(), room)
        }
    }
}
