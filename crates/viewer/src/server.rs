//! [`Viewer`]: the server. Every path begins with the token; whatever else is asked for is not
//! there.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ws::{Message as Packet, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::command::{LONGEST, Message};
use crate::error::ViewError;
use crate::guard::Guard;
use crate::page;
use crate::simulation::{Handle, Simulation, hello};
use crate::{Setup, Show};

/// Pages that may be open at once.
const MOST_CLIENTS: usize = 32;

/// A client that takes no frame for this long is let go.
const PATIENCE: Duration = Duration::from_secs(60);

/// Only what the server itself gives may be loaded.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      data: blob:; connect-src 'self' ws:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// A running viewer. It ends when it is dropped.
#[derive(Debug)]
pub struct Viewer {
    address: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone)]
struct Shared {
    guard: Guard,
    handle: Handle,
}

impl Viewer {
    /// Starts to serve on an address; port 0 takes one that is free.
    pub fn start(show: Show, setup: &Setup, listen: SocketAddr) -> Result<Viewer, ViewError> {
        let simulation = Simulation::new(show, setup)?;
        let failed = |error: std::io::Error| ViewError::new(format!("{listen}: {error}"));
        let listener = std::net::TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let guard = Guard::new(bound).map_err(ViewError::new)?;
        let address = format!("http://{bound}/{}/", guard.token());
        let handle = simulation.start().map_err(failed)?;
        let shared = Shared { guard, handle };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(failed)?;
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            runtime.block_on(async {
                // A socket that cannot be registered serves nobody; there is no one to tell.
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                let serving = axum::serve(listener, router(shared));
                tokio::select! {
                    _ = serving.into_future() => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("jostle-serve".into()).spawn(serve);
        Ok(Viewer { address, stop: Some(stop), thread: Some(thread.map_err(failed)?) })
    }

    /// Where to look, with the token.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It may have ended by itself.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn router(shared: Shared) -> Router {
    Router::new()
        .route("/{token}/", get(index))
        .route("/{token}/socket", get(socket))
        .route("/{token}/recording", get(recording))
        .route("/{token}/{name}", get(asset))
        .fallback(|| async { refused(StatusCode::NOT_FOUND) })
        .with_state(shared)
}

fn refused(status: StatusCode) -> Response {
    answer(status, "text/plain; charset=utf-8", Bytes::from(status.to_string()))
}

fn answer(status: StatusCode, kind: &'static str, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

impl Shared {
    /// Refuses strangers: foreign hosts and origins first, then wrong tokens.
    fn check(&self, headers: &HeaderMap, token: &str) -> Result<(), StatusCode> {
        match (self.guard.admits(headers), self.guard.knows(token)) {
            (false, _) => Err(StatusCode::FORBIDDEN),
            (true, false) => Err(StatusCode::NOT_FOUND),
            (true, true) => Ok(()),
        }
    }
}

async fn index(state: State<Shared>, Path(token): Path<String>, headers: HeaderMap) -> Response {
    asset(state, Path((token, "index.html".into())), headers).await
}

async fn asset(
    State(shared): State<Shared>,
    Path((token, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    match (shared.check(&headers, &token), page::file(&name)) {
        (Err(status), _) => refused(status),
        (Ok(()), None) => refused(StatusCode::NOT_FOUND),
        (Ok(()), Some((bytes, kind))) => answer(StatusCode::OK, kind, bytes.into()),
    }
}

async fn recording(
    State(shared): State<Shared>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Response {
    match shared.check(&headers, &token) {
        Err(status) => refused(status),
        Ok(()) => {
            let bytes = shared.handle.recorded();
            answer(StatusCode::OK, "application/octet-stream", bytes.into())
        }
    }
}

async fn socket(
    State(shared): State<Shared>,
    Path(token): Path<String>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    // Browsers always say where a socket comes from; who does not is no page of ours.
    if !headers.contains_key(header::ORIGIN) {
        return refused(StatusCode::FORBIDDEN);
    }
    if let Err(status) = shared.check(&headers, &token) {
        return refused(status);
    }
    let Some(place) = Place::take(&shared.handle.clients) else {
        return refused(StatusCode::SERVICE_UNAVAILABLE);
    };
    let upgrade = upgrade.max_message_size(LONGEST).max_frame_size(LONGEST);
    upgrade.on_upgrade(move |socket| converse(socket, shared.handle, place))
}

/// A client's place among those that may be there at once.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(clients: &Arc<AtomicUsize>) -> Option<Place> {
        let place = Place(Arc::clone(clients));
        // Dropping it gives the place back.
        (clients.fetch_add(1, Ordering::Relaxed) < MOST_CLIENTS).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends the newest frame whenever there is one and answers messages, until the client leaves, is
/// too slow or sends what no page of ours does.
async fn converse(mut socket: WebSocket, handle: Handle, _place: Place) {
    let mut frames = handle.frames.clone();
    frames.mark_changed();
    if !send(&mut socket, Packet::Text(hello().to_string().into())).await {
        return;
    }
    loop {
        let packet = tokio::select! {
            changed = frames.changed() => {
                if changed.is_err() {
                    return;
                }
                // Frames between this one and the last are not sent at all.
                let frame = frames.borrow_and_update().clone();
                Packet::Binary(frame)
            }
            received = socket.recv() => match received {
                Some(Ok(Packet::Text(text))) => Packet::Text(reply(&handle, &text).await.into()),
                Some(Ok(Packet::Ping(_) | Packet::Pong(_))) => continue,
                _ => return,
            },
        };
        if !send(&mut socket, packet).await {
            return;
        }
    }
}

async fn send(socket: &mut WebSocket, packet: Packet) -> bool {
    matches!(timeout(PATIENCE, socket.send(packet)).await, Ok(Ok(())))
}

async fn reply(handle: &Handle, text: &str) -> String {
    let (re, answer) = match Message::parse(text) {
        Ok(message) => (message.re, handle.ask(message.command).await),
        Err(error) => (0, Err(error)),
    };
    match answer {
        Ok(value) => serde_json::json!({"re": re, "ok": value}).to_string(),
        Err(error) => serde_json::json!({"re": re, "error": error}).to_string(),
    }
}
