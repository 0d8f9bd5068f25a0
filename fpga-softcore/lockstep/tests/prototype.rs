//! The prototype over its bus: accesses as firmware makes them have the model's results.

/// Says in the test runner's summary that nothing was compared.
#[cfg(not(verilated))]
#[test]
#[cfg_attr(not(verilated), ignore = "verilator is not installed: cargo xtask setup")]
fn the_bus_shows_the_model() {}

#[cfg(verilated)]
#[path = "access_sequencer/shadow.rs"]
mod shadow;
#[cfg(verilated)]
#[path = "access_sequencer/stream.rs"]
mod stream;

#[cfg(verilated)]
mod prototype {
    use strata_core::prototype::cache_block::CacheOutcome;
    use strata_core::prototype::command::{Command, Operation};
    use strata_core::prototype::counters::{COUNTER_NAMES, COUNTERS, Counter};
    use strata_core::prototype::outcome::{MainOutcome, Outcome};
    use strata_core::prototype::queues::{Queues, Status};
    use strata_core::prototype::regmap::{ID, VERSION, field, register};
    use strata_core::prototype::sequencer::Prototype;
    use strata_core::prototype::settings::Settings;
    use strata_core::units::{LaneMask, RegisterId};
    use strata_lockstep::prototype::{CACHE, LANES, POOL, Rtl, WARPS};
    use strata_lockstep::random::Random;

    use super::shadow::Shadow;
    use super::stream::{Mix, Stream};

    type Model = Prototype<WARPS, CACHE, POOL>;

    /// Commands that a batch may have.
    const BATCH: usize = 128;

    /// The six entries of a cache with LRU and liveness, a pool of 10, and slow banks.
    const SETTINGS: u32 = bare(3)
        | field::SETTINGS_CACHE_ENTRIES.put(6)
        | field::SETTINGS_LRU.mask()
        | field::SETTINGS_LIVENESS.mask()
        | field::SETTINGS_SPLIT.mask()
        | field::SETTINGS_POOL_ENTRIES.put(10);

    /// 128 registers of each warp, and writes of this many cycles: no cache, and no pool.
    const fn bare(write_cycles: u32) -> u32 {
        field::SETTINGS_REGISTERS.put(128) | field::SETTINGS_WRITE_CYCLES.put(write_cycles)
    }

    struct Board {
        rtl: Rtl,
        /// Clocks between accesses of the bus; the results do not depend on it.
        pause: u32,
    }

    impl Board {
        fn new(settings: u32) -> Self {
            let mut board = Self { rtl: Rtl::default(), pause: 0 };
            board.configure(settings);
            board
        }

        fn configure(&mut self, settings: u32) {
            self.write(register::SETTINGS, settings);
            self.write(register::CONTROL, field::CONTROL_RESET.mask());
        }

        fn write(&mut self, address: u32, value: u32) {
            self.rtl.wait(self.pause);
            self.rtl.write(address, value);
        }

        fn read(&mut self, address: u32) -> u32 {
            self.rtl.wait(self.pause);
            self.rtl.read(address).0
        }

        fn push(&mut self, command: Command, words: &[u32; LANES]) {
            if command.operation.has_value() {
                for (lane, &word) in words.iter().enumerate() {
                    self.write(register::DATA + 4 * lane as u32, word);
                }
            }
            self.write(register::COMMAND, command.pack().unwrap());
        }

        fn run(&mut self) {
            self.write(register::CONTROL, field::CONTROL_RUN.mask());
            self.wait_for_the_end();
        }

        fn wait_for_the_end(&mut self) {
            let mut polls = 0;
            while self.status().running {
                polls += 1;
                assert!(polls < 10_000, "the batch does not end");
            }
        }

        fn status(&mut self) -> Status {
            Status::unpack(self.read(register::STATUS)).expect("bits that there are")
        }

        fn waiting(&mut self) -> u32 {
            u32::from(self.status().outcomes)
        }

        /// Commands queued.
        fn queued(&mut self) -> u32 {
            u32::from(self.status().commands)
        }

        fn counter(&mut self, index: usize) -> u64 {
            let address = register::COUNTERS + 8 * index as u32;
            u64::from(self.read(address)) | u64::from(self.read(address + 4)) << 32
        }
    }

    fn command(operation: Operation, register: u16) -> Command {
        Command { warp: 0, operation, register: RegisterId(register), lanes: LaneMask(0xf) }
    }

    const READ: Operation = Operation::Read { last_use: false, more: false };

    #[test]
    fn it_says_what_it_is() {
        let mut board = Board { rtl: Rtl::default(), pause: 0 };
        assert_eq!(board.read(register::ID), ID);
        assert_eq!(board.read(register::VERSION), VERSION);
        let parameters = board.read(register::PARAMETERS0);
        for (part, expected) in [
            (field::PARAMETERS0_WARPS, WARPS),
            (field::PARAMETERS0_CACHE_ENTRIES, CACHE),
            (field::PARAMETERS0_POOL_ENTRIES, POOL),
            (field::PARAMETERS0_LANES, LANES),
        ] {
            assert_eq!(part.get(parameters) as usize, expected);
        }
        let parameters = board.read(register::PARAMETERS1);
        assert_eq!(field::PARAMETERS1_BATCH.get(parameters), 128);
        assert_eq!(field::PARAMETERS1_BANKS.get(parameters), 16);
        assert_eq!(field::PARAMETERS1_ROWS.get(parameters), 64);
        // Before any reset by the bus it has neither cache nor pool.
        assert_eq!(board.read(register::SETTINGS), bare(1));
        // Between the registers there is nothing.
        assert_eq!(board.read(0x038), 0);
        assert_eq!(board.read(register::COUNTERS + 8 * COUNTERS as u32), 0);
    }

    #[test]
    fn the_bus_answers_in_time() {
        let mut board = Board::new(SETTINGS);
        assert_eq!(board.rtl.write(register::DATA, 1), 2);
        assert_eq!(board.rtl.write(register::CONTROL, 0), 3);
        assert_eq!(board.rtl.read(register::ID), (ID, 4));
        // An access right behind another is neither lost nor answered twice.
        let fifo = SETTINGS ^ field::SETTINGS_LRU.mask();
        assert_eq!(board.rtl.write(register::SETTINGS, fifo), 2);
        assert_eq!(board.rtl.read(register::SETTINGS), (fifo, 4));
        assert!(board.rtl.write(register::CONTROL, field::CONTROL_RESET.mask()) > 3);
    }

    /// Runs batches through board and model, and compares all that the bus shows.
    fn compare(board: &mut Board, settings: u32, seed: u64, batches: usize) {
        board.configure(settings);
        let settings = Settings::unpack(settings);
        let mut random = Random(seed);
        let mut model = Model::new(settings).unwrap();
        let mut shadow = Shadow::new(settings, WARPS, LANES);
        let mix = Mix::any(&mut random, 8, settings, LANES);
        let mut stream = Stream::new(random, mix);
        for batch in 0..batches {
            let length = [BATCH, 1 + stream.random.below(BATCH as u32) as usize][batch % 2];
            let commands = stream.batch(length);
            let mut expected = vec![([0; LANES], LaneMask::EMPTY); length];
            for (command, (values, defined)) in commands.iter().zip(&mut expected) {
                let mut words = [0; LANES];
                *defined = shadow.feed(command, &mut words, values);
                board.push(*command, &words);
            }
            let place = format!("seed {seed}, batch {batch}");
            assert_eq!(board.queued() as usize, length, "{place}");
            let mut outcomes = vec![Outcome::default(); length];
            let clocks = model.run(&commands, &mut outcomes);
            board.run();
            assert_eq!(u64::from(board.read(register::CLOCKS)), clocks, "{place}");
            for (index, outcome) in outcomes.iter().enumerate() {
                let place = format!("{place}, command {index}: {:?}", commands[index]);
                assert_eq!(board.waiting() as usize, length - index, "{place}");
                let (values, defined) = expected[index];
                for lane in (0..LANES).filter(|lane| defined.0 >> lane & 1 != 0) {
                    let read = board.read(register::READ_DATA + 4 * lane as u32);
                    assert_eq!(read, values[lane], "{place}, lane {lane}");
                }
                let word = board.read(register::OUTCOME);
                assert_eq!(Outcome::unpack(word), Some(*outcome), "{place}");
            }
        }
        for (index, (name, count)) in model.counters().named().enumerate() {
            assert_eq!(name, COUNTER_NAMES[index]);
            assert_eq!(board.counter(index), count, "seed {seed}: {name}");
        }
    }

    #[test]
    fn batches_give_what_the_model_says() {
        let pool = bare(2) | field::SETTINGS_POOL_ENTRIES.put(24);
        let cache = bare(2) | field::SETTINGS_CACHE_ENTRIES.put(3);
        let slow = SETTINGS | field::SETTINGS_WRITE_CYCLES.put(15);
        let mut board = Board::new(SETTINGS);
        for (seed, settings) in [SETTINGS, bare(2), pool, cache, slow].into_iter().enumerate() {
            board.pause = [0, 1, 0, 7, 2][seed];
            compare(&mut board, settings, seed as u64, 8);
        }
    }

    /// A batch that is asked for while the banks may still be written begins later, by the clocks
    /// that are left of 15; what it then takes is the same.
    #[test]
    fn a_batch_waits_for_the_banks() {
        let mut board = Board::new(bare(15));
        let mut clocks_until_done = |pause: u32| {
            board.push(command(Operation::Write, 1), &[1, 2, 3, 4]);
            board.rtl.wait(100);
            board.run();
            board.read(register::OUTCOME);
            board.push(command(READ, 1), &[0; LANES]);
            board.rtl.wait(pause);
            board.write(register::CONTROL, field::CONTROL_RUN.mask());
            let mut clocks = 0;
            loop {
                board.rtl.wait(1);
                let (status, took) = board.rtl.read(register::STATUS);
                clocks += 1 + took;
                if field::STATUS_RUNNING.get(status) == 0 {
                    break;
                }
            }
            assert_eq!(board.read(register::CLOCKS), 8);
            assert_eq!(board.read(register::READ_DATA), 1);
            let outcome = Outcome { main: MainOutcome::Bank, ..Outcome::default() };
            assert_eq!(Outcome::unpack(board.read(register::OUTCOME)), Some(outcome));
            clocks
        };
        let rested = clocks_until_done(100);
        let at_once = clocks_until_done(0);
        assert!(at_once > rested, "{at_once} clocks at once, {rested} after a rest");
        assert_eq!(clocks_until_done(15), rested);
    }

    /// Whatever is written at whatever time, STATUS is what the twin's queues say.
    #[test]
    fn the_queues_take_and_lose_what_the_model_says() {
        let mut board = Board::new(bare(2));
        let mut random = Random(5);
        let mut queues = Queues::new(BATCH as u8);
        let any = command(Operation::Write, 0).pack().unwrap();
        let mut seen = [0_u32; 4];
        for round in 0..3_000 {
            // Each command that is queued takes a clock at least: that many outlast a push.
            if queues.status().running && board.status().commands <= 20 {
                board.wait_for_the_end();
                queues.end();
            }
            let running = queues.status().running;
            match random.below(24) {
                0..12 => {
                    let place = usize::from(!queues.push()) + 2 * usize::from(running);
                    seen[place] += 1;
                    board.push(command(Operation::Write, 1), &[round; LANES]);
                }
                // Many at once, so that the queue is full now and then.
                12 if !running => {
                    for _ in 0..BATCH {
                        queues.push();
                        board.write(register::COMMAND, any);
                    }
                }
                13..15 => {
                    queues.run();
                    board.write(register::CONTROL, field::CONTROL_RUN.mask());
                }
                15..22 if !running => {
                    for _ in 0..64 {
                        assert_eq!(queues.take(), board.read(register::OUTCOME) != 0);
                    }
                }
                22 if random.below(8) == 0 => {
                    queues = Queues::new(BATCH as u8);
                    board.configure(bare(2));
                }
                _ if running => {
                    // Nothing but the bits of these is known before its end.
                    let shown = board.status();
                    assert_eq!(shown.lost, queues.status().lost, "round {round}");
                    board.wait_for_the_end();
                    queues.end();
                }
                _ => {}
            }
            if !queues.status().running {
                assert_eq!(board.status(), queues.status(), "round {round}");
            }
        }
        let [queued, full, _, in_batch] = seen;
        assert!(queued > 100 && full > 10 && in_batch > 10, "{seen:?}");
    }

    #[test]
    fn what_finds_no_room_is_lost_and_nothing_else() {
        let mut board = Board::new(bare(1));
        for number in 0..=BATCH as u16 {
            let value = u32::from(number) + 1;
            board.push(command(Operation::Write, number % 128), &[value; LANES]);
        }
        assert_eq!(board.queued() as usize, BATCH);
        assert!(board.status().lost, "129 commands do not fit");
        board.run();
        assert_eq!((board.queued(), board.waiting() as usize), (0, BATCH));
        // Nothing runs while outcomes are waiting.
        board.push(command(READ, 0), &[0; LANES]);
        board.run();
        assert_eq!((board.queued(), board.waiting() as usize), (1, BATCH));
        for _ in 0..BATCH {
            assert_ne!(board.read(register::OUTCOME), 0);
        }
        assert_eq!(board.read(register::OUTCOME), 0);
        assert_eq!(board.waiting(), 0);
        board.run();
        // The last write of the register was the one that was lost.
        assert_eq!(board.read(register::READ_DATA), 1);
        assert_ne!(board.read(register::OUTCOME), 0);
        assert_eq!(board.counter(Counter::Commands as usize), BATCH as u64 + 1);
        // An empty batch ends at once.
        board.run();
        assert_eq!((board.read(register::CLOCKS), board.waiting()), (0, 0));
    }

    #[test]
    fn nothing_is_queued_while_a_batch_runs() {
        let mut board = Board::new(SETTINGS);
        for number in 0..BATCH as u16 {
            board.push(command(Operation::Write, number % 128), &[1; LANES]);
        }
        board.write(register::CONTROL, field::CONTROL_RUN.mask());
        assert!(!board.status().lost);
        board.push(command(READ, 5), &[0; LANES]);
        assert!(board.status().lost);
        // Nor does a second RUN start anything.
        board.run();
        assert_eq!((board.queued(), board.waiting() as usize), (0, BATCH));
        assert_eq!(board.counter(Counter::Commands as usize), BATCH as u64);
        for _ in 0..BATCH {
            board.read(register::OUTCOME);
        }
        board.rtl.wait(100);
        // LOST stays set until the next reset.
        assert_eq!(board.status(), Status { lost: true, ..Status::default() });
        board.configure(SETTINGS);
        assert_eq!(board.status(), Status::default());
    }

    #[test]
    fn a_reset_empties_everything_and_takes_settings_over() {
        let mut board = Board::new(SETTINGS);
        // Settings that are written without a reset change nothing.
        board.write(register::SETTINGS, bare(1));
        board.push(command(Operation::Write, 3), &[7; LANES]);
        board.push(command(READ, 3), &[0; LANES]);
        board.run();
        board.read(register::OUTCOME);
        assert_eq!(
            field::OUTCOME_CACHE.get(board.read(register::OUTCOME)),
            CacheOutcome::Hit.code()
        );
        board.push(command(READ, 3), &[0; LANES]);
        board.write(register::CONTROL, field::CONTROL_CLEAR_COUNTERS.mask());
        assert_eq!((0..COUNTERS).map(|it| board.counter(it)).sum::<u64>(), 0);
        assert_eq!(board.queued(), 1);
        board.run();
        assert_eq!(board.counter(Counter::CacheReadsHit as usize), 1);
        board.push(command(READ, 3), &[0; LANES]);
        // A queued command, a waiting outcome, a counter and an entry: all go.
        board.configure(SETTINGS);
        assert_eq!((board.queued(), board.waiting()), (0, 0));
        assert_eq!(board.read(register::CLOCKS), 0);
        assert_eq!((0..COUNTERS).map(|it| board.counter(it)).sum::<u64>(), 0);
        board.push(command(READ, 3), &[0; LANES]);
        board.run();
        let outcome = Outcome::unpack(board.read(register::OUTCOME)).unwrap();
        assert_eq!((outcome.cache, outcome.main), (CacheOutcome::Miss, MainOutcome::Bank));
        compare(&mut board, SETTINGS, 99, 3);
    }
}
