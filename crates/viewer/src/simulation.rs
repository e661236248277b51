//! [`Simulation`]: moves the boxes, does what clients ask for, and publishes frames. It runs on a
//! thread of its own.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use jostle::{Aabb, Algorithm, Recorder, Slot};
use jostle_scenes::{Scene, SceneSpec};
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

use crate::command::Command;
use crate::error::ViewError;
use crate::frame;
use crate::inspect;
use crate::source::{Rows, Source};
use crate::stage::Stage;
use crate::{Setup, Show};

/// Commands that wait; more are refused.
const WAITING: usize = 64;

/// A seek goes on for this long before commands are looked at again.
const SLICE: Duration = Duration::from_millis(40);

/// Most boxes and threads that a client may ask for.
const MOST_BOXES: usize = 1_000_000;
const MOST_THREADS: usize = 64;

/// Bytes of the longest recording that is kept for a client.
const LONGEST_RECORDING: usize = 256 << 20;

/// An answer: a JSON object, or what is wrong.
pub(crate) type Answer = Result<Value, String>;

/// A command and where its answer goes.
struct Order {
    command: Command,
    answer: oneshot::Sender<Answer>,
}

/// How clients reach the simulation.
#[derive(Clone)]
pub(crate) struct Handle {
    orders: SyncSender<Order>,
    pub(crate) frames: watch::Receiver<Bytes>,
    /// How many clients there are.
    pub(crate) clients: Arc<AtomicUsize>,
    recorded: Memory,
}

impl Handle {
    /// Asks for something; refuses if too much is asked already.
    pub(crate) async fn ask(&self, command: Command) -> Answer {
        let (answer, answered) = oneshot::channel();
        match self.orders.try_send(Order { command, answer }) {
            Ok(()) => answered.await.unwrap_or_else(|_| Err("the viewer has ended".into())),
            Err(TrySendError::Full(_)) => Err("too much is asked for at once; try again".into()),
            Err(TrySendError::Disconnected(_)) => Err("the viewer has ended".into()),
        }
    }

    /// What was recorded last.
    pub(crate) fn recorded(&self) -> Vec<u8> {
        self.recorded.lock().clone()
    }
}

/// A recording in memory, of bounded size.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut held = self.lock();
        if held.len() + bytes.len() > LONGEST_RECORDING {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        held.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What frames contain beyond boxes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drawn {
    pub(crate) pairs: bool,
    pub(crate) sketch: bool,
}

/// See the [module](self).
pub(crate) struct Simulation {
    pub(crate) source: Source,
    pub(crate) stage: Stage,
    rows: Rows,
    /// Number of the frame on show; none before the first.
    pub(crate) frame: Option<u64>,
    pub(crate) playing: bool,
    pub(crate) speed: f64,
    /// Where a seek goes.
    pub(crate) target: Option<u64>,
    pub(crate) drawn: Drawn,
    /// Why there is no next frame, if it is an error.
    pub(crate) error: Option<String>,
    setup: Setup,
    shapes: bool,
    recorded: Memory,
}

impl Simulation {
    pub(crate) fn new(show: Show, setup: &Setup) -> Result<Simulation, ViewError> {
        let (source, shapes) = match show {
            Show::Scene(spec) => (Source::scene(&spec)?, false),
            Show::World(spec) => (Source::scene(&spec)?, true),
            Show::File(path) => (Source::file(path)?, false),
            Show::Recording(path) => (Source::recording(path)?, false),
        };
        let mut simulation = Simulation {
            source,
            stage: Stage::new(setup, shapes)?,
            rows: Rows::new(),
            frame: None,
            playing: setup.playing,
            speed: 30.0,
            target: None,
            drawn: Drawn::default(),
            error: None,
            setup: setup.clone(),
            shapes,
            recorded: Memory::default(),
        };
        simulation.advance()?;
        Ok(simulation)
    }

    /// Begins to run; ends when all handles are gone.
    pub(crate) fn start(mut self) -> std::io::Result<Handle> {
        let (orders, received) = sync_channel(WAITING);
        let (publish, frames) = watch::channel(frame::encode(&self).into());
        let (recorded, clients) = (self.recorded.clone(), Arc::<AtomicUsize>::default());
        let looking = Arc::clone(&clients);
        let thread = std::thread::Builder::new().name("jostle-view".into());
        thread.spawn(move || self.run(&received, &publish, &looking))?;
        Ok(Handle { orders, frames, clients, recorded })
    }

    fn run(
        &mut self,
        orders: &Receiver<Order>,
        publish: &watch::Sender<Bytes>,
        clients: &AtomicUsize,
    ) {
        let mut due = Instant::now();
        loop {
            // Nothing moves while nobody looks.
            let seen = clients.load(Ordering::Relaxed) > 0;
            let busy = seen && (self.playing || self.target.is_some());
            let wait = match (busy, self.target) {
                (false, _) => Duration::from_millis(200),
                (true, Some(_)) => Duration::ZERO,
                (true, None) => due.saturating_duration_since(Instant::now()),
            };
            match orders.recv_timeout(wait) {
                Ok(order) => {
                    let answer = self.obey(order.command).map_err(|error| error.to_string());
                    // The client may be gone.
                    let _ = order.answer.send(answer);
                }
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) if !busy => continue,
                Err(RecvTimeoutError::Timeout) => {
                    self.tick();
                    due = Instant::now() + Duration::from_secs_f64(1.0 / self.speed);
                }
            }
            publish.send_replace(frame::encode(self).into());
        }
    }

    /// One frame on, or a slice of a seek.
    fn tick(&mut self) {
        let start = Instant::now();
        loop {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => (self.playing, self.target) = (false, None),
                Err(error) => {
                    (self.playing, self.target) = (false, None);
                    self.error = Some(error.to_string());
                }
            }
            match self.target {
                Some(target) if self.frame.is_some_and(|frame| frame < target) => {
                    if start.elapsed() > SLICE {
                        return;
                    }
                }
                _ => {
                    self.target = None;
                    return;
                }
            }
        }
    }

    /// The next frame and its step; false after the last.
    pub(crate) fn advance(&mut self) -> Result<bool, ViewError> {
        if !self.source.advance(&mut self.rows)? {
            return Ok(false);
        }
        self.stage.follow(&self.rows)?;
        self.stage.step();
        self.frame = Some(self.frame.map_or(0, |frame| frame + 1));
        Ok(true)
    }

    fn restart(&mut self) -> Result<(), ViewError> {
        self.source.restart()?;
        self.replace_stage()
    }

    /// Begins again with the same algorithms.
    fn replace_stage(&mut self) -> Result<(), ViewError> {
        let second = self.stage.second.take().map(|second| second.algorithm);
        let (algorithm, threads) = (self.stage.algorithm, self.stage.threads());
        let setup = Setup { algorithm, threads, ..self.setup.clone() };
        self.stage = Stage::new(&setup, self.shapes)?;
        if !self.shapes {
            self.stage.set_second(second)?;
        }
        (self.frame, self.error, self.target) = (None, None, None);
        self.advance().map(|_| ())
    }

    fn obey(&mut self, command: Command) -> Result<Value, ViewError> {
        match command {
            Command::Play => self.playing = true,
            Command::Pause => (self.playing, self.target) = (false, None),
            Command::Step => {
                self.playing = false;
                self.advance()?;
            }
            Command::Seek { frame } => self.seek(frame)?,
            Command::Speed { steps } if (0.1..=1000.0).contains(&steps) => self.speed = steps,
            Command::Speed { .. } => return Err(ViewError::new("0.1 to 1000 steps a second")),
            Command::Scene { name, n, seed, params, world } => {
                if n > MOST_BOXES {
                    return Err(ViewError::new(format!("at most {MOST_BOXES} boxes")));
                }
                let spec = SceneSpec { name, n, seed, params: params.into_iter().collect() };
                self.source = Source::scene(&spec)?;
                self.shapes = world;
                self.replace_stage()?;
            }
            Command::Algorithm { name } => {
                self.stage.set_algorithm(algorithm(&name)?);
                // A step on the same boxes, so that there is something to see of it at once.
                self.stage.step();
            }
            Command::Compare { name } => {
                let second = name.as_deref().map(algorithm).transpose()?;
                self.stage.set_second(second)?;
            }
            Command::Threads { count } if (1..=MOST_THREADS).contains(&count) => {
                self.stage.set_threads(count)?;
            }
            Command::Threads { .. } => {
                return Err(ViewError::new(format!("1 to {MOST_THREADS} threads")));
            }
            Command::Draw { pairs, sketch } => self.drawn = Drawn { pairs, sketch },
            Command::Throw { min, max, velocity } => {
                if !min.iter().chain(&max).chain(&velocity).all(|part| part.is_finite()) {
                    return Err(ViewError::new("bounds and velocity must be finite"));
                }
                let slot = self.stage.throw(Aabb::new(min, max), velocity)?;
                self.stage.step();
                return Ok(json!({"slot": slot.get()}));
            }
            Command::Remove { slot } => {
                self.stage.remove(Slot::new(slot))?;
                self.stage.step();
            }
            Command::Inspect { slot } => return inspect::inspect(&self.stage, Slot::new(slot)),
            Command::Ray { origin, direction } => {
                return inspect::ray(&self.stage, origin, direction);
            }
            Command::Nearest { point, count } => {
                return inspect::nearest(&self.stage, point, count);
            }
            Command::Record { on } => self.record(on)?,
        }
        Ok(json!({}))
    }

    fn seek(&mut self, frame: u64) -> Result<(), ViewError> {
        let last = self.source.length().map_or(u64::MAX, |length| length.saturating_sub(1));
        let frame = frame.min(last);
        if self.frame.is_none_or(|now| frame < now) {
            self.restart()?;
        }
        self.target = (self.frame != Some(frame)).then_some(frame);
        Ok(())
    }

    fn record(&mut self, on: bool) -> Result<(), ViewError> {
        let recorded = self.recorded.clone();
        let Some(detector) = self.stage.plain() else {
            return Err(ViewError::new("boxes alone are recorded, not bodies"));
        };
        match on {
            true => {
                recorded.lock().clear();
                detector.record(Recorder::new(recorded));
                Ok(())
            }
            false => match detector.stop_recording() {
                Some(recorder) => recorder.finish().map(|_| ()).map_err(ViewError::new),
                None => Err(ViewError::new("nothing is recorded")),
            },
        }
    }
}

fn algorithm(name: &str) -> Result<Algorithm, ViewError> {
    name.parse().map_err(ViewError::new)
}

/// What a client is told first: everything that does not change.
pub(crate) fn hello() -> Value {
    let algorithms: Vec<Value> = Algorithm::ALL
        .iter()
        .map(|one| json!({"name": one.name(), "about": one.about()}))
        .collect();
    let scenes: Vec<Value> = Scene::list()
        .iter()
        .map(|scene| {
            let params: Vec<Value> = scene
                .params
                .iter()
                .map(|param| {
                    json!({"name": param.name, "default": param.default, "min": param.min,
                           "max": param.max, "choices": param.choices, "about": param.about})
                })
                .collect();
            json!({"name": scene.name, "about": scene.about, "params": params})
        })
        .collect();
    json!({"hello": {"version": env!("CARGO_PKG_VERSION"), "algorithms": algorithms,
                     "scenes": scenes, "cores": jostle::available_threads()}})
}
