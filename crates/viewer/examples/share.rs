//! How much of a core the viewer takes while a client reads 30 frames a second, by thread.
//!
//! ```text
//! cargo run --release -p jostle-viewer --example share
//! ```
//!
//! Linux only: it reads the processor time of each thread from the system. The thread that steps
//! does the detection and moves the scene too, so its share is more than the viewer's own.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use jostle_scenes::SceneSpec;
use jostle_viewer::{Setup, Show, Viewer, loopback};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};

const BOXES: usize = 20_000;
const WARM_UP: usize = 60;
const FRAMES: usize = 300;

/// Milliseconds of processor time of every thread, by name.
fn processor_times() -> std::io::Result<BTreeMap<String, f64>> {
    let mut times = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        let name = fs::read_to_string(task.join("comm"))?.trim().to_owned();
        let used = fs::read_to_string(task.join("schedstat"))?;
        let used: f64 = used.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0.0);
        *times.entry(name).or_default() += used / 1e6;
    }
    Ok(times)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let show = Show::Scene(SceneSpec::new("uniform", BOXES, 1));
    let viewer = Viewer::start(show, &Setup::default(), loopback())?;
    let address = viewer.address().trim_end_matches('/');
    let host = address.trim_start_matches("http://").split('/').next().unwrap_or_default();
    let socket_address = format!("{}/socket", address.replacen("http", "ws", 1));
    let mut request = socket_address.into_client_request()?;
    request.headers_mut().insert("origin", format!("http://{host}").parse()?);
    let (mut socket, _) = tungstenite::connect(request)?;

    let (mut seen, mut bytes) = (0, 0);
    let (mut start, mut before) = (Instant::now(), BTreeMap::new());
    while seen < WARM_UP + FRAMES {
        let Message::Binary(frame) = socket.read()? else { continue };
        seen += 1;
        bytes += frame.len();
        if seen == WARM_UP {
            (start, before, bytes) = (Instant::now(), processor_times()?, 0);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{BOXES} boxes, {:.1} frames a second, {:.1} bytes a box and frame",
        FRAMES as f64 / seconds,
        bytes as f64 / (FRAMES * BOXES) as f64
    );
    for (name, after) in processor_times()? {
        let used = after - before.get(&name).copied().unwrap_or(0.0);
        let whose = if name == "share" { "this client" } else { "viewer" };
        println!("{name:>16}  {:.3} of a core ({whose})", used / 1e3 / seconds);
    }
    Ok(())
}
