//! [`Guard`]: who may ask at all. A page of another site that runs in the same browser can reach
//! the loopback interface; it does not know the token, and its requests carry a foreign `Host` (if
//! its name was pointed here, DNS rebinding) or a foreign `Origin` (a WebSocket across sites).

use std::fmt::Write;
use std::net::SocketAddr;

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

/// The token and the names by which this server may be called.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    token: String,
    hosts: Vec<String>,
    /// True if any host will do, because the user opened the server to a network.
    open: bool,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr) -> Result<Guard, getrandom::Error> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)?;
        let mut token = String::with_capacity(32);
        for byte in random {
            // Writing to a String cannot fail.
            let _ = write!(token, "{byte:02x}");
        }
        let port = address.port();
        let hosts = vec![
            format!("127.0.0.1:{port}"),
            format!("localhost:{port}"),
            format!("[::1]:{port}"),
            address.to_string(),
        ];
        Ok(Guard { token, hosts, open: !address.ip().is_loopback() })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Returns true if the token is right; takes as long for every wrong one.
    pub(crate) fn knows(&self, token: &str) -> bool {
        let differing = self.token.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        token.len() == self.token.len() && differing == 0
    }

    /// Returns true if the request was sent to this server and not from the page of another.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else {
            return false;
        };
        let known = self.open || self.hosts.iter().any(|one| one.eq_ignore_ascii_case(host));
        let own = match headers.get(ORIGIN).map(|origin| origin.to_str()) {
            None => true,
            Some(Ok(origin)) => origin.eq_ignore_ascii_case(&format!("http://{host}")),
            Some(Err(_)) => false,
        };
        known && own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_hosts_origins_and_tokens_are_refused() {
        let guard = Guard::new(([127, 0, 0, 1], 8000).into()).unwrap();
        let admits = |host: Option<&str>, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            host.map(|host| headers.insert(HOST, host.parse().unwrap()));
            origin.map(|origin| headers.insert(ORIGIN, origin.parse().unwrap()));
            guard.admits(&headers)
        };
        assert!(admits(Some("127.0.0.1:8000"), None));
        assert!(admits(Some("localhost:8000"), Some("http://localhost:8000")));
        for (host, origin) in [
            (None, None),
            (Some("evil.example:8000"), None),
            (Some("127.0.0.1:8001"), None),
            (Some("127.0.0.1"), None),
            (Some("127.0.0.1:8000"), Some("http://evil.example")),
            (Some("127.0.0.1:8000"), Some("null")),
            (Some("127.0.0.1:8000"), Some("https://127.0.0.1:8000")),
            (Some("127.0.0.1:8000"), Some("http://localhost:8000")),
        ] {
            assert!(!admits(host, origin), "{host:?} {origin:?}");
        }
        assert!(guard.knows(guard.token()) && guard.token().len() == 32);
        assert!(
            !guard.knows("") && !guard.knows(&guard.token()[1..]) && !guard.knows(&"0".repeat(32))
        );
        let other = Guard::new(([127, 0, 0, 1], 8000).into()).unwrap();
        assert_ne!(guard.token(), other.token());
    }
}
