//! ABI: what a page calls. It writes a catalogue, an input and a choice one after the other to
//! [`input`], calls [`explore`] with their lengths, and reads the answer at [`output`].

use alloc::format;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::{MARK, MAX_BYTES};

/// Largest answer. Unit: bytes.
const MAX_ANSWER: usize = 64 << 10;

static INPUT: [AtomicU8; MAX_BYTES] = [const { AtomicU8::new(0) }; MAX_BYTES];
static OUTPUT: [AtomicU8; MAX_ANSWER] = [const { AtomicU8::new(0) }; MAX_ANSWER];
static VERSIONS: [u32; MARK.len()] = MARK;
static LENGTH: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

macro_rules! exported {
    ($(
        $(#[doc = $doc:literal])+
        fn $name:ident($($of:ident: $type:ty),*) -> $to:ty $body:block
    )+) => {$(
        $(#[doc = $doc])+
        #[expect(unsafe_code, reason = "a page finds it by this name, which nothing else has")]
        #[unsafe(no_mangle)]
        extern "C" fn $name($($of: $type),*) -> $to $body
    )+};
}

exported! {
    /// Where [`MARK`] lies.
    fn mark() -> *const u32 { VERSIONS.as_ptr() }

    /// Where a page writes, and for how many bytes: [`MAX_BYTES`].
    fn input() -> *const AtomicU8 { INPUT.as_ptr() }

    /// How many bytes it may write there.
    fn capacity() -> usize { MAX_BYTES }

    /// Where the answer lies.
    fn output() -> *const AtomicU8 { OUTPUT.as_ptr() }

    /// How long it is. Unit: bytes of UTF-8.
    fn output_length() -> usize { LENGTH.load(Ordering::Relaxed) }

    /// Answers, and says whether it is an answer (1) or a problem in words (0).
    fn explore(catalogue: usize, input: usize, choice: usize) -> u32 {
        let answer = answer([catalogue, input, choice]);
        let (text, good) = match answer {
            Ok(text) => (text, 1),
            Err(problem) => (problem, 0),
        };
        let bytes = text.as_bytes();
        let shown = bytes.get(..bytes.len().min(MAX_ANSWER)).unwrap_or_default();
        for (to, byte) in OUTPUT.iter().zip(shown) {
            to.store(*byte, Ordering::Relaxed);
        }
        LENGTH.store(shown.len(), Ordering::Relaxed);
        u32::from(good == 1 && shown.len() == bytes.len())
    }
}

fn answer(lengths: [usize; 3]) -> Result<alloc::string::String, alloc::string::String> {
    let mut begin = 0_usize;
    let mut parts: [Vec<u8>; 3] = Default::default();
    for (part, length) in parts.iter_mut().zip(lengths) {
        let end = begin.checked_add(length);
        let bytes = end.and_then(|end| INPUT.get(begin..end));
        let bytes = bytes.ok_or_else(|| format!("more than {MAX_BYTES} bytes"))?;
        *part = bytes.iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
        begin += length;
    }
    let [catalogue, input, choice] = parts;
    crate::explore(&catalogue, &input, &choice).map_err(|problem| format!("{problem}"))
}
