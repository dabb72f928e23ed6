//! Why no broker lets this client in, from what the client library logs of each failed connection. Pure.

use crate::error::{Class, KafkaError};

/// What was refused, or refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Account,
    Mechanism,
    BrokerCertificate,
    /// Told from the one before by a second connection alone.
    HostName,
    ClientCertificate,
    Tls,
    Protocol,
}

impl Refusal {
    /// A stable name, what is wrong, what to check.
    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Account => ("Authentication", "the account is refused", "the user name and the password"),
            Self::Mechanism => (
                "SaslMechanism",
                "the way to sign in is refused",
                "that the listener has this SASL mechanism switched on",
            ),
            Self::BrokerCertificate => (
                "BrokerCertificate",
                "the certificate of the broker is not trusted",
                "that the CA is the one that signed it, and that it has not expired",
            ),
            Self::HostName => (
                "HostName",
                "the certificate of the broker is for another host name",
                "that the brokers are named, here and in `advertised.listeners`, as their certificates name them",
            ),
            Self::ClientCertificate => (
                "ClientCertificate",
                "the certificate of this client is refused, or none was shown",
                "that `tls` has a certificate and its key, signed by a CA that the brokers trust",
            ),
            Self::Tls => ("TlsHandshake", "no common way to encrypt was found", "the versions of TLS and the ciphers"),
            Self::Protocol => (
                "SecurityProtocol",
                "the listener hangs up before it says anything, as one does that is spoken to in another security protocol",
                "the port, and whether its listener wants TLS (`tls`) and an account (`sasl`)",
            ),
        }
    }

    /// `line` is what the client library says of it.
    pub(super) fn error(self, line: &str) -> KafkaError {
        let (code, what, check) = self.texts();
        // What follows is advice for users of the client library itself, or how long the connection took.
        let end = [": broker certificate could not be verified", ": client SSL auth", " (after "];
        let line = end.iter().fold(line, |line, end| line.split_once(end).map_or(line, |(line, _)| line));
        KafkaError::new(code, format!("{what}: {line}"), Class::Refused).with_hint(check)
    }
}

/// What a failed connection tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// It will fail for ever.
    Certain(Refusal),
    /// A broker that is going down looks alike.
    Likely(Refusal),
    /// Nobody is there, or something else.
    None,
}

pub(super) fn sign(line: &str) -> Sign {
    let says = |part: &str| line.contains(part);
    // From the most telling to the least: the later ones are parts of other complaints too.
    if says("certificate verify failed") || says("Failed to verify broker certificate") {
        Sign::Certain(Refusal::BrokerCertificate)
    } else if says(" alert ") && (says("certificate") || says("unknown ca") || says("access denied")) {
        Sign::Certain(Refusal::ClientCertificate)
    } else if says("not valid in current SASL state") {
        Sign::Certain(Refusal::Protocol)
    } else if says("mechanism handshake failed") {
        Sign::Certain(Refusal::Mechanism)
    } else if says("SASL authentication ") {
        Sign::Certain(Refusal::Account)
    } else if says("wrong version number") || says("packet length too long") || says("record layer failure") {
        Sign::Certain(Refusal::Protocol)
    } else if says("isconnected")
        && ["SSL_HANDSHAKE", "APIVERSION_QUERY", "UP"].iter().any(|state| says(&format!("in state {state}")))
    {
        Sign::Likely(Refusal::Protocol)
    } else if says("SSL handshake failed") {
        Sign::Likely(Refusal::Tls)
    } else {
        Sign::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_library_says_is_understood() {
        use Refusal::*;
        use Sign::*;
        for (line, expected) in [
            (
                "sasl_ssl://localhost:9093/bootstrap: SASL authentication error: Authentication failed during \
                 authentication due to invalid credentials with SASL mechanism SCRAM-SHA-512 (after 332ms in state AUTH_REQ)",
                Certain(Account),
            ),
            (
                "sasl_ssl://localhost:9093/bootstrap: SASL SCRAM-SHA-256 mechanism handshake failed: Broker: Unsupported \
                 SASL mechanism: broker's supported mechanisms: PLAIN (after 2ms in state AUTH_HANDSHAKE)",
                Certain(Mechanism),
            ),
            (
                "ssl://localhost:9093/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate verify \
                 failed: broker certificate could not be verified, verify that ssl.ca.location is correctly configured \
                 (after 14ms in state SSL_HANDSHAKE)",
                Certain(BrokerCertificate),
            ),
            (
                "ssl://localhost:9093/bootstrap: error:0A000086:SSL routines::certificate verify failed (after 9ms in \
                 state SSL_HANDSHAKE)",
                Certain(BrokerCertificate),
            ),
            (
                "ssl://localhost:9093/bootstrap: Receive failed: error:0A000412:SSL routines::sslv3 alert bad \
                 certificate: SSL alert number 42 (after 9ms in state APIVERSION_QUERY)",
                Certain(ClientCertificate),
            ),
            (
                "ssl://localhost:9093/bootstrap: Receive failed: error:0A000418:SSL routines::tlsv1 alert unknown ca: \
                 SSL alert number 48 (after 9ms in state UP)",
                Certain(ClientCertificate),
            ),
            (
                "sasl_plaintext://localhost:9092/bootstrap: SASL PLAIN mechanism handshake failed: Broker: Request not \
                 valid in current SASL state: broker's supported mechanisms:  (after 2ms in state AUTH_HANDSHAKE)",
                Certain(Protocol),
            ),
            (
                "localhost:9093/bootstrap: Disconnected: connection closed by peer: receive 0 after POLLIN (after 1ms \
                 in state APIVERSION_QUERY)",
                Likely(Protocol),
            ),
            (
                "ssl://localhost:9093/bootstrap: Disconnected: SSL connection closed by peer (after 3ms in state UP, 1 \
                 identical error(s) suppressed)",
                Likely(Protocol),
            ),
            (
                "ssl://localhost:9092/bootstrap: SSL handshake failed: Disconnected: SSL connection closed by peer: \
                 connecting to a PLAINTEXT broker listener? (after 3ms in state SSL_HANDSHAKE)",
                Likely(Protocol),
            ),
            (
                "ssl://localhost:9093/bootstrap: SSL handshake failed: error:0A000410:SSL routines::sslv3 alert \
                 handshake failure: SSL alert number 40 (after 3ms in state SSL_HANDSHAKE)",
                Likely(Tls),
            ),
            (
                "localhost:9092/bootstrap: Connect to ipv4#127.0.0.1:9092 failed: Connection refused (after 0ms in state \
                 CONNECT)",
                None,
            ),
            ("nowhere:9092/bootstrap: Failed to resolve 'nowhere:9092': Name or service not known", None),
        ] {
            assert_eq!(sign(line), expected, "{line}");
        }
    }

    #[test]
    fn a_refusal_is_typed_and_says_what_to_check() {
        let error = Refusal::HostName.error(
            "ssl://127.0.0.1:9093/bootstrap: certificate verify failed: broker certificate could not be verified, verify \
             that ssl.ca.location is correctly configured (after 3ms in state SSL_HANDSHAKE)",
        );
        assert!(error.is_refused() && !error.is_retriable());
        assert_eq!(error.code(), "HostName");
        let text = error.to_string();
        assert!(text.contains("127.0.0.1:9093") && text.contains("check that the brokers are named"), "{text}");
        assert!(!text.contains("ssl.ca.location") && !text.contains("3ms"), "{text}");
    }
}
