//! A host that is killed, at any moment of anything that it can ask for, leaves a board that answers
//! the next one.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use strata_link::message::{BATCH, Bench, Feed, MOST_ACCESSES, Request};

use crate::host::Host;
use crate::session::{SETTINGS, over_tcp, says_who_it_is};
use crate::simulator::Board;

/// Hosts that are killed.
const HOSTS: u32 = 20;

/// A number below a limit (Marsaglia's generator of 32 bits).
fn below(state: &mut u32, limit: u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state % limit
}

/// Batches one after the other, as a run sends them, until it is killed.
fn run(mut host: Host<TcpStream>, turns: u32, cut: usize) {
    let configure = Request::Configure { settings: SETTINGS, batch: BATCH as u16 };
    let words = [0xf_0001; BATCH];
    let mut first = 0;
    let mut is_configured = false;
    for _ in 0..turns {
        if is_configured {
            let mut room = [0; 4 * BATCH];
            let feed = Feed::new(first, &words, &mut room).expect("it is short enough");
            first += BATCH as u64 * u64::from(host.start(&Request::Feed(feed)));
        } else {
            is_configured = host.start(&configure);
        }
        host.turn();
        host.forget_answers();
    }
    host.die(cut);
}

/// One request, until it is killed.
fn ask(mut host: Host<TcpStream>, request: &Request<'_>, turns: u32, cut: usize) {
    let mut is_sent = false;
    for _ in 0..turns {
        is_sent = is_sent || host.start(request);
        host.turn();
    }
    host.die(cut);
}

/// The bound of what is waited for is [`crate::simulator::LIMIT`]: without an end of its own the
/// shortest of these benches takes the board an hour.
#[test]
fn whenever_a_host_is_killed_the_next_one_is_answered() {
    let board = Board::start(&["--tcp", "0"]);
    let mut random = 2_011;
    let mut longest = Duration::ZERO;
    let (settings, accesses) = (SETTINGS, MOST_ACCESSES);
    let requests = [
        Request::Info,
        Request::Bench(Bench::Compared { settings, accesses }),
        Request::Bench(Bench::Cycle { design: 0, ctas: u16::MAX }),
        Request::SelfTest,
        Request::Bench(Bench::Model { settings, accesses }),
        Request::Bench(Bench::Count { design: 2 }),
        Request::Bench(Bench::Prototype { settings, accesses }),
    ];
    for number in 0..HOSTS {
        let host = over_tcp(&board, 2 * number + 1);
        // A turn is a millisecond or twenty; a frame that is cut has begun.
        let turns = below(&mut random, 60);
        let cut = below(&mut random, 12) as usize;
        match requests.get(number as usize % (requests.len() + 1)) {
            Some(request) => ask(host, request, turns, cut),
            None => run(host, turns, cut),
        }
        let start = Instant::now();
        says_who_it_is(&mut over_tcp(&board, 2 * number + 2));
        longest = longest.max(start.elapsed());
    }
    println!("the longest wait: {:.2} s", longest.as_secs_f64());
}
