// SPDX-License-Identifier: Apache-2.0
//! The heap of the running task as an allocator of Rust.

use core::alloc::{GlobalAlloc, Layout};

use crate::sys;

/// What `malloc()` aligns to.
const ALIGN: usize = 16;

/// The heap of the running task (`heap` of app.toml), which moves with it, for `alloc`:
///
/// ```
/// extern crate alloc;
///
/// #[global_allocator]
/// static HEAP: whimbrel_task::Heap = whimbrel_task::Heap;
/// # fn main() {}
/// ```
///
/// Nothing that it allocates outlives its task. A global with a block in it is therefore for one
/// task alone: [`Mutex`](crate::Mutex) and channels carry plain data.
#[derive(Debug, Clone, Copy)]
pub struct Heap;

// SAFETY: a task's heap aligns to 16 bytes, is used by its task alone, and takes blocks back from
// any task.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGN {
            // SAFETY: it has no conditions.
            unsafe { sys::malloc(layout.size()).cast() }
        } else {
            // C wants a size that is a multiple; the sum stays within isize::MAX by Layout's rule.
            let bytes = layout.pad_to_align().size();
            // SAFETY: the alignment is a power of two.
            unsafe { sys::aligned_alloc(layout.align(), bytes).cast() }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller gives a block of alloc() or realloc().
        unsafe { sys::free(block.cast()) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if layout.align() <= ALIGN {
            // SAFETY: the caller gives a block of alloc() or realloc().
            return unsafe { sys::realloc(block.cast(), bytes).cast() };
        }
        // SAFETY: the caller's `bytes`, rounded up to the alignment, are at most isize::MAX; both
        // blocks have as many bytes as are copied.
        unsafe {
            let grown = self.alloc(Layout::from_size_align_unchecked(bytes, layout.align()));
            if !grown.is_null() {
                grown.copy_from_nonoverlapping(block, layout.size().min(bytes));
                self.dealloc(block, layout);
            }
            grown
        }
    }
}
