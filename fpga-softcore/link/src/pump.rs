//! Pump: moves bytes between a link and a serial line, and waits for neither.

use embedded_io::{Read, ReadReady, Write, WriteReady};

use crate::link::Link;

/// Bytes that are taken from the line at once.
const PIECE: usize = 64;

/// What was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Bytes that came.
    pub received: usize,
    /// Bytes that went.
    pub sent: usize,
}

/// Hands the link what has come, up to two frames, and the line what the link has to send, up to
/// two frames, as far as the line takes it now. `log` gets the logs of the other end.
///
/// # Errors
///
/// The line's. What was moved before it stays so, and the next call goes on.
pub fn pump<L, const FRAME: usize, const WINDOW: usize>(
    link: &mut Link<FRAME, WINDOW>,
    line: &mut L,
    mut log: impl FnMut(&[u8]),
) -> Result<Moved, L::Error>
where
    L: Read + ReadReady + Write + WriteReady,
{
    let mut moved = Moved::default();
    let mut piece = [0; PIECE];
    while moved.received < 2 * FRAME && line.read_ready()? {
        let came = line.read(&mut piece)?.min(PIECE);
        if came == 0 {
            break;
        }
        link.received(&piece[..came], &mut log);
        moved.received += came;
    }
    while moved.sent < 2 * FRAME {
        let bytes = link.to_send();
        if bytes.is_empty() || !line.write_ready()? {
            break;
        }
        let went = line.write(bytes)?.min(bytes.len());
        if went == 0 {
            break;
        }
        link.sent(went);
        moved.sent += went;
    }
    Ok(moved)
}
