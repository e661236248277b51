//! Output files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::support::failure::Failure;

/// A file written under a temporary name beside its place and renamed when it is finished.
/// Dropped before that, it leaves nothing behind. Devices such as `/dev/null` are written as
/// they are.
pub struct OutputFile {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Temporary(BufWriter<NamedTempFile>),
    Device(BufWriter<File>),
}

impl OutputFile {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<OutputFile, Failure> {
        let sink = Sink::open(path).map_err(|error| Failure::unwritable(path, error))?;
        Ok(OutputFile { path: path.to_owned(), sink })
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<(), Failure> {
        let path = std::mem::take(&mut self.path);
        let whole = self.flush().and_then(|()| match self.sink {
            Sink::Temporary(file) => {
                let file = file.into_inner().map_err(|error| error.into_error())?;
                file.persist(&path).map(drop).map_err(|error| error.error)
            }
            Sink::Device(_) => Ok(()),
        });
        whole.map_err(|error| Failure::unwritable(&path, error))
    }

    /// Writes `bytes` over what stands at the beginning, then goes on at the end.
    pub fn overwrite_start(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if let Sink::Temporary(file) = &mut self.sink {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(bytes)?;
            file.seek(SeekFrom::End(0))?;
        }
        Ok(())
    }
}

impl Sink {
    fn open(path: &Path) -> std::io::Result<Sink> {
        let special = fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir());
        if special {
            return Ok(Sink::Device(BufWriter::new(File::create(path)?)));
        }
        if path.is_dir() {
            return Err(std::io::Error::other("it is a folder"));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".jostle-");
        // Temporary files are private by default; the finished one is an ordinary file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        Ok(Sink::Temporary(BufWriter::with_capacity(1 << 16, builder.tempfile_in(folder)?)))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.sink {
            Sink::Temporary(file) => file.write(bytes),
            Sink::Device(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.sink {
            Sink::Temporary(file) => file.flush(),
            Sink::Device(file) => file.flush(),
        }
    }
}

/// Writes a whole file at once.
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| Failure::unwritable(path, error))?;
    file.finish()
}

/// Writes a table as CSV.
pub fn write_csv(path: &Path, header: &[String], rows: &[Vec<String>]) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer
        .write_record(header)
        .and_then(|()| rows.iter().try_for_each(|row| writer.write_record(row)));
    written.map_err(|error| Failure::unwritable(path, error))?;
    let bytes = writer.into_inner().map_err(|error| Failure::unwritable(path, error))?;
    write_text(path, &String::from_utf8_lossy(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let mut dropped = OutputFile::create(&path).unwrap();
        dropped.write_all(b"half").unwrap();
        drop(dropped);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        write_text(&path, "whole").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_and_a_folder_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/such/out.txt");
        for path in [missing.as_path(), folder.path()] {
            let Err(Failure::Input(message)) = write_text(path, "x") else { panic!("written") };
            assert!(message.contains(&path.display().to_string()), "{message}");
            assert!(message.contains("cannot be written"), "{message}");
        }
    }
}
