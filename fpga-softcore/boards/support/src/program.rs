//! The programs around the application: their one memory, and their panic handler.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// Memory of a program, in its image: built by the program it would need as much of the stack.
#[derive(Debug)]
pub struct Lent<T> {
    memory: UnsafeCell<T>,
    is_lent: AtomicBool,
}

// SAFETY: the memory is lent out once.
#[expect(unsafe_code, reason = "a static has to say that it can be shared")]
unsafe impl<T> Sync for Lent<T> {}

impl<T> Lent<T> {
    /// The memory.
    pub const fn new(memory: T) -> Self {
        Self { memory: UnsafeCell::new(memory), is_lent: AtomicBool::new(false) }
    }

    /// Lends the memory out.
    ///
    /// # Panics
    ///
    /// The second time.
    #[expect(clippy::mut_from_ref, reason = "it is lent out once")]
    #[expect(unsafe_code, reason = "it is lent out once")]
    pub fn lend(&self) -> &mut T {
        let is_lent = self.is_lent.load(Ordering::Relaxed);
        self.is_lent.store(true, Ordering::Relaxed);
        assert!(!is_lent, "the program's memory is lent out once");
        // SAFETY: there is one processor without interrupts, so that this is the only one.
        unsafe { &mut *self.memory.get() }
    }
}

/// The whole program of a board whose prototype is in software: `entry` is the attribute of the
/// start-up code, `board` makes the board, `restart` starts the program again.
#[macro_export]
macro_rules! software_program {
    (entry: $entry:path, board: $board:expr, restart: $restart:path) => {
        $crate::strata_firmware::embed_launch!();
        $crate::keep_panics!($restart);

        /// All memory but the stack.
        struct Memory {
            application: $crate::strata_firmware::ApplicationMemory,
            prototype: $crate::strata_firmware::SoftwarePrototype,
            scratch: LaunchScratch,
        }

        static MEMORY: $crate::Lent<Memory> = $crate::Lent::new(Memory {
            application: $crate::strata_firmware::ApplicationMemory::new(),
            prototype: $crate::strata_firmware::SoftwarePrototype::new(),
            scratch: LaunchScratch::new(),
        });

        #[$entry]
        fn main() -> ! {
            use $crate::strata_firmware::{Application, FaultRecord, Launch};

            let Memory { application, prototype, scratch } = MEMORY.lend();
            let (starts, fault) = $crate::with_record(FaultRecord::start);
            let launch = Launch { workload: &WORKLOAD, scratch };
            Application::new($board, prototype, launch, application, starts, fault).run()
        }
    };
}

/// Keeps a panic for the next start, and starts again.
#[macro_export]
macro_rules! keep_panics {
    ($restart:path) => {
        #[panic_handler]
        fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
            $crate::with_record(|record| record.put(info));
            $restart()
        }
    };
}
