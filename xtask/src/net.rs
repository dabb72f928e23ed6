//! Ports for servers that tests start.

use std::net::TcpListener;

use anyhow::{Context, Result};

/// Ports of the loopback address that are free now. Another program may take one before the server does.
///
/// # Errors
/// If there are none.
pub(crate) fn free_ports<const N: usize>() -> Result<[u16; N]> {
    // All are held until all are known, so that they differ.
    let mut held = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::free_ports;

    #[test]
    fn free_ports_differ() {
        let [first, second, third] = free_ports().unwrap();
        assert!(first != second && second != third && first != third);
    }
}
