//! Strangers are refused, and hostile clients cannot make the server panic, hang or grow.

mod common;

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use common::{Client, connect, parts, paused, raw, scene};
use jostle_scenes::Rng;
use jostle_viewer::{Setup, Viewer, loopback};
use serde_json::json;
use tokio_tungstenite::tungstenite::{Error, Message};

fn get(viewer: &Viewer, path: &str, headers: &str) -> String {
    raw(viewer, &format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"))
}

#[test]
fn foreign_hosts_origins_tokens_and_paths_are_refused() {
    let viewer = paused(scene("uniform", 20));
    let (host, token) = parts(&viewer);
    let own = format!("Host: {host}\r\n");
    assert!(get(&viewer, &format!("/{token}/"), &own).contains("200"));
    assert!(get(&viewer, &format!("/{token}/app.js"), &own).contains("200"));
    for path in [
        "/",
        "/wrong/",
        &format!("/{}/", "0".repeat(32)),
        &format!("/{token}"),
        &format!("/{token}/../../etc/passwd"),
        &format!("/{token}/..%2f..%2fetc%2fpasswd"),
        &format!("/{token}/%2e%2e/Cargo.toml"),
        &format!("/{token}/index.html%00"),
        "/index.html",
    ] {
        let status = get(&viewer, path, &own);
        assert!(status.contains("404") || status.contains("400"), "{path}: {status}");
    }
    for headers in [
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{}\r\n", host.rsplit(':').next().unwrap()),
        format!("{own}Origin: http://evil.example\r\n"),
        String::new(),
    ] {
        let status = get(&viewer, &format!("/{token}/"), &headers);
        assert!(status.contains("403") || status.contains("400"), "{headers}: {status}");
    }
    for origin in [None, Some("http://evil.example"), Some("null"), Some("https://localhost")] {
        match connect(&viewer, origin).map_err(|error| *error) {
            Err(Error::Http(answer)) => assert_eq!(answer.status(), 403, "{origin:?}"),
            other => panic!("{origin:?}: {other:?}"),
        }
    }
}

/// Random bytes, random JSON, messages that are cut, too long or binary: the server answers or
/// closes, and serves the next one.
#[test]
fn fuzzed_messages_leave_the_server_as_it_was() {
    let viewer = paused(scene("uniform", 60));
    let mut rng = Rng::new(7);
    let words = [
        "{\"do\":",
        "\"seek\"",
        "\"frame\":",
        "-1",
        "1e999",
        "null",
        "[",
        "]",
        "}",
        "{",
        ",",
        "\"throw\"",
        "\"min\":[0,0,0]",
        "\"re\":",
        "\"do\":\"play\"",
        "\u{fffd}",
        "\"params\":{}",
        "18446744073709551615",
    ];
    let mut client = Client::new(&viewer);
    for round in 0..400 {
        let length = (rng.next_u64() % 12) as usize;
        let text: String =
            (0..length).map(|_| words[(rng.next_u64() % words.len() as u64) as usize]).collect();
        client.socket.send(Message::text(text)).unwrap();
        if round % 40 == 0 {
            assert!(client.ask(json!({"do": "inspect", "slot": 1})).is_ok());
        }
    }
    for bad in [
        Message::binary(vec![7; 100]),
        Message::text("x".repeat(5000)),
        Message::text("[".repeat(4000)),
    ] {
        let mut client = Client::new(&viewer);
        // The server may close while this is being sent.
        let _ = client.socket.send(bad);
        while let Ok(message) = client.socket.read() {
            if matches!(&message, Message::Text(text) if text.contains("not understood")) {
                break;
            }
        }
    }
    for bytes in [&b"\x00\x01\x02"[..], b"GET / HTTP/9.9\r\n\r\n", &[b'A'; 100_000]] {
        let mut stream = TcpStream::connect(parts(&viewer).0).unwrap();
        let _ = stream.write_all(bytes);
    }
    let mut client = Client::new(&viewer);
    assert!(client.ask(json!({"do": "step"})).is_ok());
}

/// A hundred connections: those beyond the limit are told so, and their places come back.
#[test]
fn a_hundred_connections_are_bounded() {
    let viewer = paused(scene("uniform", 20));
    let origin = format!("http://{}", parts(&viewer).0);
    let clients: Vec<_> = (0..100).map(|_| connect(&viewer, Some(&origin))).collect();
    let taken = clients.iter().filter(|client| client.is_ok()).count();
    assert_eq!(taken, 32);
    for client in &clients {
        if let Err(error) = client {
            assert!(matches!(&**error, Error::Http(answer) if answer.status() == 503), "{error}");
        }
    }
    drop(clients);
    // Places come back when the server notices that their clients are gone.
    let again = (0..600).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        connect(&viewer, Some(&origin)).ok()
    });
    assert!(again.is_some(), "a place comes back");
}

/// One client never reads; another gets frames all the same, and the slow one finds few waiting.
#[test]
fn a_slow_reader_misses_frames_and_delays_nobody() {
    let show = scene("uniform", 20_000);
    let viewer = Viewer::start(show, &Setup::default(), loopback()).unwrap();
    let mut slow = Client::new(&viewer);
    slow.frame(|_| true);
    let mut quick = Client::new(&viewer);
    quick.ask(json!({"do": "speed", "steps": 1000.0})).unwrap();
    let first = quick.frame(|_| true).0["frame"].as_u64().unwrap();
    quick.frame(|header| header["frame"].as_u64().unwrap() >= first + 40);
    quick.ask(json!({"do": "pause"})).unwrap();
    let last = quick.frame(|header| header["playing"] == false).0["frame"].as_u64().unwrap();
    let mut received = 0;
    loop {
        received += 1;
        let (header, _) = slow.frame(|_| true);
        if header["frame"] == last && header["playing"] == false {
            break;
        }
    }
    assert!(received < 35, "{received} of {last} frames were kept for a client that did not read");
}
