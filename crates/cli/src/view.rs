//! `jostle view`: shows boxes in a browser.

use std::fs::File;
use std::io::{Read, Write, stderr, stdout};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use jostle::{Algorithm, available_threads};
use jostle_viewer::{Setup, Show, ViewError, Viewer};

use crate::support::failure::Failure;
use crate::support::feed::STANDARD;
use crate::support::files;
use crate::support::interrupt;
use crate::support::names;
use crate::support::source::{self, SourceArgs};

/// Frames of an exported page unless said otherwise.
const FRAMES: usize = 120;

const EXAMPLES: &str = "\
Without a file or a scene it shows a built-in moving world. The page is served on this machine
alone, at an address that holds a random token; Ctrl-C ends it. A file is .npy, .npz or text with
boxes, or a recording (see jostle record). --export writes one page with --frames frames inside,
which opens without a server.

Examples:
  jostle view
  jostle view --scene city --n 20000 --algorithm bvh
  jostle view --world uniform --n 500
  jostle view boxes.npy --no-open
  jostle view world.rec
  jostle view --scene churn --n 1000 --frames 60 --export churn.html";

/// Shows moving boxes, their pairs and what the algorithm sees, in a browser
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Shapes in the boxes of a scene, by the scene's name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["scene", "input"])]
    world: Option<String>,
    /// The algorithm, by name
    #[arg(long, value_parser = names::algorithm, default_value = "auto")]
    algorithm: Algorithm,
    /// Number of threads; 0 is one for each core
    #[arg(long, value_parser = names::threads, default_value = "1")]
    threads: usize,
    /// Does not open a browser
    #[arg(long)]
    no_open: bool,
    /// Waits for a click on Play
    #[arg(long)]
    paused: bool,
    /// Where to listen, as 127.0.0.1:8080 or 0.0.0.0 [default: this machine alone, a free port]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    listen: Option<SocketAddr>,
    /// Writes one page with some frames inside instead
    #[arg(long, value_name = "FILE.html", conflicts_with_all = ["listen", "no_open"])]
    export: Option<PathBuf>,
}

fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let alone = || text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 0));
    let message = "give an address, as 127.0.0.1:8080, 0.0.0.0 or [::1]:8080";
    text.parse().or_else(|_| alone()).map_err(|_| message.into())
}

/// Runs the command.
pub(crate) fn run(args: &ViewArgs) -> Result<(), Failure> {
    let show = what(args)?;
    let threads = if args.threads == 0 { available_threads() } else { args.threads };
    let setup = Setup { algorithm: args.algorithm, threads, playing: !args.paused };
    if let Some(path) = &args.export {
        return export(args, path, show, &setup);
    }
    let listen = args.listen.unwrap_or_else(jostle_viewer::loopback);
    let viewer = Viewer::start(show, &setup, listen).map_err(failed)?;
    if !listen.ip().is_loopback() {
        let _ = writeln!(
            stderr(),
            "warning: whoever can reach {listen} and learns the address below can look and change \
             what is shown"
        );
    }
    let address = viewer.address();
    writeln!(stdout(), "{address}\nCtrl-C ends it")?;
    stdout().flush()?;
    if !args.no_open && open::that_detached(address).is_err() {
        let _ = writeln!(stderr(), "no browser could be started; open the address in one");
    }
    while !interrupt::requested() {
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn export(args: &ViewArgs, path: &Path, show: Show, setup: &Setup) -> Result<(), Failure> {
    let inputs: Vec<&Path> = args.source.input.iter().map(AsRef::as_ref).collect();
    files::apart(path, &inputs)?;
    let mut file = files::create(path)?;
    let page = jostle_viewer::export(show, setup, args.source.frames.unwrap_or(FRAMES));
    file.put(page.map_err(failed)?.as_bytes())?;
    file.finish()?;
    writeln!(stdout(), "{}", path.display())?;
    Ok(())
}

fn failed(error: ViewError) -> Failure {
    Failure::input(error)
}

/// What is to be shown.
fn what(args: &ViewArgs) -> Result<Show, Failure> {
    let SourceArgs { input, scene, n, seed, set, .. } = &args.source;
    if let Some(path) = input {
        if path == Path::new(STANDARD) {
            return Err(Failure::input("a view goes back and forth; give a file, not -"));
        }
        let path = path.clone();
        return Ok(if is_recording(&path) { Show::Recording(path) } else { Show::File(path) });
    }
    let name = args.world.as_ref().or(scene.as_ref()).map_or("uniform", String::as_str);
    let spec = source::spec(name, *n, *seed, set)?;
    Ok(if args.world.is_some() { Show::World(spec) } else { Show::Scene(spec) })
}

/// Returns true if the file begins as recordings do.
fn is_recording(path: &Path) -> bool {
    let mut start = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"JOSTLREC"
}
