//! A file that comes into being whole or not at all.
//!
//! Bytes go to a temporary file in the folder of the final name and take that name at the end;
//! dropped before, the temporary file vanishes. What is no regular file (a pipe, `/dev/null`) must not be
//! renamed over and is written directly.

use super::FileError;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// An open output file.
pub(super) struct Output {
    writer: BufWriter<File>,
    temporary: Option<TempPath>,
    /// The name the user gave, for messages.
    path: PathBuf,
    /// Where the file goes in the end: as `path`, with symbolic links followed.
    target: PathBuf,
}

impl Output {
    pub(super) fn create(path: &Path) -> Result<Output, FileError> {
        let fail = FileError::io(path);
        // A link keeps pointing where it points; the file behind it is the one replaced.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let special = target.metadata().is_ok_and(|about| !about.is_file());
        let (file, temporary) = if special {
            (File::options().write(true).open(&target).map_err(&fail)?, None)
        } else {
            let (file, temporary) = temporary_beside(&target).map_err(&fail)?.into_parts();
            (file, Some(temporary))
        };
        let writer = BufWriter::with_capacity(1 << 16, file);
        Ok(Output { writer, temporary, path: path.to_owned(), target })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.writer.write_all(bytes).map_err(FileError::io(&self.path))
    }

    /// Overwrites the first bytes; for a header whose numbers are known only at the end.
    pub(super) fn rewrite_start(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let fail = FileError::io(&self.path);
        self.writer.seek(SeekFrom::Start(0)).map_err(&fail)?;
        self.writer.write_all(bytes).map_err(&fail)
    }

    /// Writes what is left and gives the file its name.
    pub(super) fn finish(mut self) -> Result<(), FileError> {
        let fail = FileError::io(&self.path);
        self.writer.flush().map_err(&fail)?;
        if let Some(temporary) = self.temporary {
            temporary.persist(&self.target).map_err(|error| fail(error.error))?;
        }
        Ok(())
    }
}

fn temporary_beside(target: &Path) -> std::io::Result<NamedTempFile> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".jostle-").suffix(".part");
    // Temporary files are private by default; the result should be as readable as any other.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}
