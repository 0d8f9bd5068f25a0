//! The serial link between the host and the device of the prototype: frames over a line that may
//! lose, damage and repeat bytes, and over the frames messages that arrive once and in order.
//!
//! [`frame`] is the format on the line, [`message`] the protocol of the prototype's host and
//! device. [`Link`] is one end of a line. Both ends are the same state machine, which reads no
//! clock and does no input or output: its caller passes in received bytes ([`Link::received`]) and
//! the time ([`Link::poll`]), and takes the bytes to send ([`Link::to_send`], [`Link::sent`]), or
//! leaves the bytes to [`pump`].
//!
//! ```
//! use strata_link::{Link, Settings, Version};
//!
//! let firmware = Version { major: 0, minor: 1, patch: 0 };
//! // Frames of at most 64 bytes, 4 messages at once in each direction.
//! let mut host = Link::<64, 4>::new(Settings::new(firmware, 1), 0);
//! let mut device = Link::<64, 4>::new(Settings::new(firmware, 2), 0);
//! for now_ms in 0..10 {
//!     let bytes = host.to_send().to_vec();
//!     host.sent(bytes.len());
//!     device.received(&bytes, |_log| {});
//!     let bytes = device.to_send().to_vec();
//!     device.sent(bytes.len());
//!     host.received(&bytes, |_log| {});
//!     host.poll(now_ms)?;
//!     device.poll(now_ms)?;
//!     if now_ms == 5 {
//!         host.send(&(7_u8, "hello"))?;
//!     }
//! }
//! let message = device.take().ok_or("nothing came")?;
//! assert_eq!(message.decode::<(u8, &str)>()?, (7, "hello"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The packets, in postcard; numbers of more than a byte are varints. The first two go where ends
//! meet ([`frame::Channel::Meeting`]), which every protocol understands; the others between two
//! ends that have met ([`frame::Channel::Messages`]):
//!
//! ```text
//! 00 protocol session firmware max_payload      hello: asks for a welcome
//! 01 to protocol session firmware max_payload   welcome: answers the hello of session `to`
//! 02 length bytes ..                            a message, whose number is the frame's sequence
//! 03 next room                                  acknowledge: what came, and what may come
//! 04                                            probe: asks for an acknowledgement
//! ```
//!
//! Protocol 1 had all of them where ends meet, with checksums that knew no sessions.
//!
//! Neither std nor an allocator: the constants of [`Link`] are the memory of an end.
#![no_std]
#![forbid(unsafe_code)]

mod encoding;
mod error;
pub mod frame;
mod link;
pub mod message;
mod packet;
mod pump;
mod settings;
mod window;

pub use error::{LinkError, Malformed, SendError};
pub use link::{Link, Message};
pub use packet::{Hello, PROTOCOL, Version};
pub use pump::{Moved, pump};
pub use settings::{Counts, Settings};
