//! Ports for servers that tests start.

use std::net::TcpListener;

use anyhow::{Context, Result, ensure};

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

/// Free ports for servers that come back to them: below those that operating systems give to connections, one of which
/// would hold the port of a server that is down.
///
/// # Errors
/// If there are not so many.
pub(crate) fn kept_ports(count: usize) -> Result<Vec<u16>> {
    // Checkouts that start servers at the same time should not look at the same ports.
    let first = 20_000 + u16::try_from(std::process::id() % 10_000)?;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let ports: Vec<_> = (first..32_000).filter(is_free).take(count).collect();
    ensure!(ports.len() == count, "no {count} free ports");
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::{free_ports, kept_ports};

    #[test]
    fn kept_ports_differ_and_are_no_ports_of_connections() {
        let ports = kept_ports(9).unwrap();
        assert!(ports.is_sorted_by(|one, other| one < other) && ports[8] < 32_768, "{ports:?}");
    }

    #[test]
    fn free_ports_differ() {
        let [first, second, third] = free_ports().unwrap();
        assert!(first != second && second != third && first != third);
    }
}
