//! A client of the viewer.

#![allow(dead_code)] // Each test file uses a part of it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use jostle_scenes::SceneSpec;
use jostle_viewer::{Setup, Show, Viewer, loopback};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::stream::MaybeTlsStream;
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

/// A viewer that waits for commands.
pub(crate) fn paused(show: Show) -> Viewer {
    Viewer::start(show, &Setup { playing: false, ..Setup::default() }, loopback()).unwrap()
}

pub(crate) fn scene(name: &str, n: usize) -> Show {
    Show::Scene(SceneSpec::new(name, n, 1))
}

/// Host with port, and token.
pub(crate) fn parts(viewer: &Viewer) -> (String, String) {
    let rest = viewer.address().strip_prefix("http://").unwrap();
    let (host, token) = rest.split_once('/').unwrap();
    (host.to_owned(), token.trim_end_matches('/').to_owned())
}

/// Sends a request as it stands and returns the answer's status line.
pub(crate) fn raw(viewer: &Viewer, request: &str) -> String {
    let mut stream = TcpStream::connect(parts(viewer).0).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    text.lines().next().unwrap_or_default().to_owned()
}

/// One page's socket.
pub(crate) struct Client {
    pub(crate) socket: WebSocket<MaybeTlsStream<TcpStream>>,
    next: u64,
}

/// Connects with an origin.
pub(crate) fn connect(
    viewer: &Viewer,
    origin: Option<&str>,
) -> Result<WebSocket<MaybeTlsStream<TcpStream>>, Box<tungstenite::Error>> {
    let (host, token) = parts(viewer);
    let mut request = format!("ws://{host}/{token}/socket").into_client_request().unwrap();
    if let Some(origin) = origin {
        request.headers_mut().insert("origin", origin.parse().unwrap());
    }
    let (socket, _) = tungstenite::connect(request)?;
    if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    }
    Ok(socket)
}

impl Client {
    pub(crate) fn new(viewer: &Viewer) -> Client {
        let origin = format!("http://{}", parts(viewer).0);
        Client { socket: connect(viewer, Some(&origin)).unwrap(), next: 1 }
    }

    /// Asks, and waits for the answer; frames in between are passed over.
    pub(crate) fn ask(&mut self, mut command: Value) -> Result<Value, String> {
        let number = self.next;
        self.next += 1;
        command["re"] = json!(number);
        self.socket.send(Message::text(command.to_string())).unwrap();
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                let answer: Value = serde_json::from_str(&text).unwrap();
                if answer["re"] == number {
                    return match answer.get("error") {
                        Some(error) => Err(error.as_str().unwrap_or_default().to_owned()),
                        None => Ok(answer["ok"].clone()),
                    };
                }
            }
        }
    }

    /// The header and the arrays of the next frame that fits.
    pub(crate) fn frame(&mut self, fits: impl Fn(&Value) -> bool) -> (Value, Vec<u8>) {
        loop {
            if let Message::Binary(bytes) = self.socket.read().unwrap() {
                let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
                let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
                if fits(&header) {
                    return (header, bytes[(4 + length).next_multiple_of(4)..].to_vec());
                }
            }
        }
    }
}
