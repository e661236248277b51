//! [`OutputFile`]: a file that comes into being whole or not at all.

use super::{FileError, FileFault};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Stdout, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// A file being written.
///
/// Bytes go to a temporary file in the folder of the final name, which must exist, and take that
/// name at the end. Dropped before, the temporary file vanishes, and a file that was there stays
/// as it was. What is no regular file (a pipe, `/dev/null`) must not be renamed over and is
/// written directly, and so is standard output, which is called `-`.
#[derive(Debug)]
pub struct OutputFile {
    sink: Sink,
    temporary: Option<TempPath>,
    /// The name the user gave, for messages.
    path: PathBuf,
    /// Where the file goes in the end: as `path`, with symbolic links followed.
    target: PathBuf,
}

#[derive(Debug)]
enum Sink {
    File(BufWriter<File>),
    Stdout(Stdout),
}

impl OutputFile {
    /// Begins a file. An error says what is wrong with the path, before any work is done for it.
    pub fn create(path: impl AsRef<Path>) -> Result<OutputFile, FileError> {
        let path = path.as_ref();
        if is_standard(path) {
            let (sink, target) = (Sink::Stdout(io::stdout()), path.to_owned());
            return Ok(OutputFile { sink, temporary: None, path: path.to_owned(), target });
        }
        let fail = |error| FileError::new(path, FileFault::Unwritable(error));
        // A link keeps pointing where it points; the file behind it is the one replaced.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if target.is_dir() {
            return Err(FileError::new(path, FileFault::IsFolder));
        }
        let special = target.metadata().is_ok_and(|about| !about.is_file());
        let (file, temporary) = if special {
            (File::options().write(true).open(&target).map_err(fail)?, None)
        } else {
            let folder = folder_of(&target);
            if !folder.is_dir() {
                return Err(FileError::new(path, FileFault::NoFolder(folder.to_owned())));
            }
            let (file, temporary) = temporary_in(folder).map_err(fail)?.into_parts();
            (file, Some(temporary))
        };
        let sink = Sink::File(BufWriter::with_capacity(1 << 16, file));
        Ok(OutputFile { sink, temporary, path: path.to_owned(), target })
    }

    /// The name that the file was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, error: io::Error) -> FileError {
        FileError::new(&self.path, FileFault::Unwritable(error))
    }

    /// Writes bytes; an error names the file.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.write_all(bytes).map_err(|error| self.failed(error))
    }

    /// Overwrites the first bytes; for a header whose numbers are known only at the end. Devices
    /// and standard output cannot go back: of them this is an error.
    pub fn rewrite_start(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let rewritten = match &mut self.sink {
            Sink::File(file) if self.temporary.is_some() => file
                .seek(SeekFrom::Start(0))
                .and_then(|_| file.write_all(bytes))
                .and_then(|()| file.seek(SeekFrom::End(0)).map(drop)),
            _ => Err(io::Error::other("it cannot go back to the beginning of its output")),
        };
        rewritten.map_err(|error| self.failed(error))
    }

    /// Returns true if the file is a regular one, whose start can be written again.
    pub fn is_regular(&self) -> bool {
        self.temporary.is_some()
    }

    /// Writes what is left and gives the file its name.
    pub fn finish(mut self) -> Result<(), FileError> {
        self.flush().map_err(|error| self.failed(error))?;
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        temporary.persist(&self.target).map_err(|error| self.failed(error.error))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::File(file) => file.write(bytes),
            Sink::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::File(file) => file.flush(),
            Sink::Stdout(stdout) => stdout.flush(),
        }
    }
}

/// Returns true for `-`, the name of standard input and output.
pub(super) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

fn folder_of(target: &Path) -> &Path {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".jostle-").suffix(".part");
    // Temporary files are private by default; the result should be as readable as any other.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let mut dropped = OutputFile::create(&path).unwrap();
        dropped.put(b"half").unwrap();
        drop(dropped);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut file = OutputFile::create(&path).unwrap();
        file.put(b"Whole").unwrap();
        file.rewrite_start(b"w").unwrap();
        file.put(b".").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole.");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_and_a_folder_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/such/out.txt");
        let message = OutputFile::create(&missing).unwrap_err().to_string();
        assert!(message.contains("out.txt") && message.contains("no/such does not exist"));
        let message = OutputFile::create(folder.path()).unwrap_err().to_string();
        assert!(message.contains("is a folder"), "{message}");
    }
}
