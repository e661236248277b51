//! What can be wrong with a file, said so that the reader knows where to look and what to do.

use jostle::BoxFault;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error in a file: which one, where in it, and what is wrong.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    frame: Option<usize>,
    row: Option<usize>,
    line: Option<u64>,
    fault: FileFault,
}

/// What is wrong with a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileFault {
    /// The operating system refused.
    Io(io::Error),
    /// The operating system refuses to write.
    Unwritable(io::Error),
    /// The folder of a file to be written does not exist.
    NoFolder(PathBuf),
    /// A file to be written has the name of a folder.
    IsFolder,
    /// The ending of the name is none that is known.
    Ending,
    /// A file to be written ends neither in `.npy` nor in `.csv`.
    OutputEnding,
    /// The file is compressed as a whole.
    Compressed(&'static str),
    /// There is nothing in the file.
    Empty,
    /// The file does not begin like an npy file, or its header cannot be read.
    Header(&'static str),
    /// The numbers are of a type that is not read here.
    Type {
        /// The type as the file states it.
        found: String,
        /// The types that are read.
        wanted: &'static str,
    },
    /// An archive cannot be read.
    Archive(String),
    /// An archive holds another number of arrays than one.
    Arrays {
        /// How many there are.
        count: usize,
        /// Names of the first ones.
        names: Vec<String>,
    },
    /// The array has a shape that is not read here.
    Shape {
        /// The shape as the file states it.
        found: Vec<u64>,
        /// The shapes that are read.
        wanted: &'static str,
    },
    /// The file has fewer or more bytes than its header states.
    Length {
        /// Bytes the header asks for, header included.
        wanted: u64,
        /// Bytes there are.
        found: u64,
    },
    /// A line of a csv file has the wrong number of columns.
    Columns {
        /// Columns there should be.
        wanted: &'static str,
        /// Columns there are.
        found: usize,
    },
    /// A cell of a csv file is not a number.
    NotANumber {
        /// The column's name.
        column: &'static str,
        /// What is there instead.
        text: String,
    },
    /// A csv file is not text in UTF-8.
    NotText,
    /// A line of a csv file is longer than a row of numbers can be.
    LongLine,
    /// A row is not a box.
    Box(BoxFault),
    /// A csv file holds one frame; this many were to be written.
    OneFrame(usize),
    /// A frame to be written has another number of boxes than declared.
    BoxCount {
        /// Boxes declared.
        wanted: usize,
        /// Boxes given.
        found: usize,
    },
    /// More frames were given than declared.
    TooManyFrames(usize),
    /// One frame was asked for, and the file holds another number.
    NotOneFrame(usize),
    /// The ending of the name is none of a mesh file.
    #[cfg(feature = "meshes")]
    MeshEnding,
    /// A mesh is to be written to a file that does not end in `.obj`.
    #[cfg(feature = "meshes")]
    ObjEnding,
    /// A file holds no mesh that can be used, and why.
    #[cfg(feature = "meshes")]
    Mesh(String),
}

impl FileError {
    pub(crate) fn new(path: &Path, fault: FileFault) -> FileError {
        FileError { path: path.to_owned(), frame: None, row: None, line: None, fault }
    }

    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> FileError + '_ {
        move |error| FileError::new(path, FileFault::Io(error))
    }

    /// Returns true if nobody reads the output any more, as with `| head -1`.
    pub fn is_closed_pipe(&self) -> bool {
        let FileFault::Unwritable(error) = &self.fault else { return false };
        error.kind() == io::ErrorKind::BrokenPipe
    }

    pub(super) fn at_frame(mut self, frame: usize) -> FileError {
        self.frame = Some(frame);
        self
    }

    pub(super) fn at_row(mut self, row: usize) -> FileError {
        self.row = Some(row);
        self
    }

    pub(crate) fn at_line(mut self, line: u64) -> FileError {
        self.line = Some(line);
        self
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The frame, from 0, if the fault belongs to one of a sequence.
    pub fn frame(&self) -> Option<usize> {
        self.frame
    }

    /// The row, from 0, if the fault belongs to one.
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    /// What is wrong.
    pub fn fault(&self) -> &FileFault {
        &self.fault
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        if let Some(frame) = self.frame {
            write!(f, "frame {frame}, ")?;
        }
        match (self.row, self.line) {
            (Some(row), Some(line)) => write!(f, "row {row} (line {line}): ")?,
            (Some(row), None) => write!(f, "row {row}: ")?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        self.fault.fmt(f)
    }
}

impl FileFault {
    #[cfg(feature = "meshes")]
    pub(crate) fn mesh(what: impl ToString) -> FileFault {
        FileFault::Mesh(what.to_string())
    }

    pub(super) fn archive(error: zip::result::ZipError) -> FileFault {
        match error {
            zip::result::ZipError::Io(error) => FileFault::Io(error),
            other => FileFault::Archive(other.to_string()),
        }
    }
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileFault::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "there is no such file or folder; check the path")
            }
            FileFault::Io(error) => error.fmt(f),
            FileFault::Unwritable(error) => write!(f, "cannot be written: {error}"),
            FileFault::NoFolder(folder) => {
                let folder = folder.display();
                write!(f, "cannot be written: the folder {folder} does not exist; create it first")
            }
            FileFault::IsFolder => {
                write!(f, "cannot be written: it is a folder; name a file in it")
            }
            FileFault::Ending => {
                write!(f, "the name must end in .npy, .npz, .csv, .tsv or .txt")
            }
            FileFault::OutputEnding => write!(f, "the name must end in .npy or .csv"),
            FileFault::Compressed(unpack) => write!(
                f,
                "compressed files are not read; unpack it first, or pipe it in: `{unpack} FILE | \
                 jostle COMMAND -`"
            ),
            FileFault::Empty => write!(f, "the file is empty; it should hold rows of six numbers"),
            FileFault::Archive(what) => {
                write!(f, "not a readable npz file: {what}; write it with numpy.savez")
            }
            FileFault::Arrays { count: 0, .. } => write!(f, "the archive holds no array"),
            FileFault::Arrays { count, names } => {
                let more = if *count > names.len() { ", …" } else { "" };
                let names = names.join(", ");
                write!(f, "the archive holds {count} arrays ({names}{more}); save one per file")
            }
            FileFault::OneFrame(frames) => {
                write!(f, "a csv file holds one frame, not {frames}; choose a name ending in .npy")
            }
            FileFault::BoxCount { wanted, found } => {
                write!(f, "{found} boxes given, but each frame of the file has {wanted}")
            }
            FileFault::TooManyFrames(frames) => {
                write!(f, "more frames given than the {frames} the file was made for")
            }
            FileFault::NotOneFrame(frames) => {
                write!(f, "the file holds {frames} frames, but one is wanted")
            }
            FileFault::Box(fault) => fault.fmt(f),
            #[cfg(feature = "meshes")]
            FileFault::MeshEnding => {
                write!(f, "the name must end in .obj, .stl, .ply, .gltf or .glb")
            }
            #[cfg(feature = "meshes")]
            FileFault::ObjEnding => write!(f, "the name must end in .obj"),
            #[cfg(feature = "meshes")]
            FileFault::Mesh(what) => f.write_str(what),
            _ => self.fmt_content(f),
        }
    }
}

impl FileFault {
    /// What is wrong with the content of a single array or text.
    fn fmt_content(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileFault::Header(what) => {
                write!(f, "not a readable npy file: {what}; write it with numpy.save")
            }
            FileFault::Type { found, wanted } => {
                write!(f, "numbers are of type {found}; convert them to {wanted}")
            }
            FileFault::Shape { found, wanted } => {
                write!(f, "the array has shape {}; it must be {wanted}", shape_text(found))
            }
            FileFault::Length { wanted, found } if found < wanted => write!(
                f,
                "the file is cut off: its header asks for {wanted} bytes, it has {found}; \
                 write or copy it again"
            ),
            FileFault::Length { wanted, found } => write!(
                f,
                "the file has {found} bytes, {} more than its header asks for; \
                 save one array per file",
                found - wanted
            ),
            FileFault::Columns { wanted, found } => write!(
                f,
                "{found} {}; every line needs {wanted}, separated by commas, semicolons, tabs or \
                 spaces",
                if *found == 1 { "column" } else { "columns" }
            ),
            FileFault::NotANumber { column, text } => {
                write!(f, "column {column} holds {text:?}, which is not a number")
            }
            FileFault::NotText => write!(f, "not text in UTF-8; is it really a csv file?"),
            FileFault::LongLine => {
                write!(f, "the line is longer than 65536 bytes; is it really a csv file?")
            }
            other => unreachable!("{other:?} is no fault of the content"),
        }
    }
}

/// A shape as Python writes it.
fn shape_text(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    format!("({}{comma})", sizes.join(", "))
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            FileFault::Io(error) | FileFault::Unwritable(error) => Some(error),
            FileFault::Box(fault) => Some(fault),
            _ => None,
        }
    }
}
