//! A host that is killed at any moment of any request leaves a board that answers the next host.

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

/// When a host is killed.
#[derive(Clone, Copy)]
struct Death {
    /// Its first request has been sent.
    is_met: bool,
    /// Turns from its start, or from that request.
    turns: u32,
    /// Bytes of a frame that is cut.
    cut: usize,
}

/// Batches one after the other, as a run sends them, until it is killed.
fn run(mut host: Host<TcpStream>, death: Death) {
    let configure = Request::Configure { settings: SETTINGS, batch: BATCH as u16 };
    let words = [0xf_0001; BATCH];
    let mut first = 0;
    let mut is_configured = death.is_met;
    if is_configured {
        host.start_for_sure(&configure);
    }
    for _ in 0..death.turns {
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
    host.die(death.cut);
}

/// One request, until it is killed.
fn ask(mut host: Host<TcpStream>, request: &Request<'_>, death: Death) {
    let mut is_sent = death.is_met;
    if is_sent {
        host.start_for_sure(request);
    }
    for _ in 0..death.turns {
        is_sent = is_sent || host.start(request);
        host.turn();
    }
    host.die(death.cut);
}

/// Every wait is bounded by [`crate::simulator::LIMIT`]. Undisturbed, the shortest of these benches
/// would take the board an hour.
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
        let host = over_tcp(&board, 2 * number + 1).as_patient_as_a_command();
        // A turn is a millisecond or twenty; a frame that is cut has begun.
        let death = Death {
            is_met: below(&mut random, 4) > 0,
            turns: below(&mut random, 60),
            cut: below(&mut random, 12) as usize,
        };
        match requests.get(number as usize % (requests.len() + 1)) {
            Some(request) => ask(host, request, death),
            None => run(host, death),
        }
        let start = Instant::now();
        says_who_it_is(&mut over_tcp(&board, 2 * number + 2).as_patient_as_a_command());
        longest = longest.max(start.elapsed());
    }
    println!("the longest wait: {:.2} s", longest.as_secs_f64());
}
