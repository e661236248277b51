//! Text files that appear whole or not at all.
//!
//! One rule for every output of every command: the folder of a file must exist, the file is begun
//! before the work it is for, so that a bad path is told at once, and it takes its name at the end.

use std::path::Path;

use jostle_scenes::OutputFile;

use super::failure::Failure;

/// Begins a picture; only names ending in `.svg`, and devices, can hold one.
pub fn create_picture(path: &Path) -> Result<OutputFile, Failure> {
    let ending = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
    let device = path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
    if !ending && !device {
        let path = path.display();
        return Err(Failure::Input(format!(
            "{path}: pictures are written as SVG; give a name ending in .svg"
        )));
    }
    create(path)
}

/// Begins a file that is not standard output.
pub fn create(path: &Path) -> Result<OutputFile, Failure> {
    if path == Path::new("-") {
        let message = "-: give a file name; the report itself goes to standard output";
        return Err(Failure::input(message));
    }
    Ok(OutputFile::create(path)?)
}

/// Refuses an output that is one of the inputs: it would replace what the user came with.
pub fn apart(output: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    // A file that is not there yet is no input, and a device replaces nothing.
    let Ok(target) = output.canonicalize() else { return Ok(()) };
    let is_target = |input: &&Path| input.canonicalize().is_ok_and(|input| input == target);
    if target.is_file() && inputs.iter().any(is_target) {
        let output = output.display();
        return Err(Failure::Input(format!(
            "{output}: is the input, which the output would replace; give another name"
        )));
    }
    Ok(())
}

/// Writes a whole file at once.
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = create(path)?;
    file.put(text.as_bytes())?;
    Ok(file.finish()?)
}

/// A table as CSV.
pub fn csv_text(header: &[&str], rows: &[Vec<String>]) -> Result<String, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer
        .write_record(header)
        .and_then(|()| rows.iter().try_for_each(|row| writer.write_record(row)));
    written.map_err(Failure::input)?;
    let bytes = writer.into_inner().map_err(Failure::input)?;
    String::from_utf8(bytes).map_err(Failure::input)
}
