//! The header of an `.npy` file (NumPy Enhancement Proposal 1 and its versions 2 and 3): ten or
//! twelve bytes, then a Python dictionary literal with the keys `descr`, `fortran_order`, `shape`.
//!
//! Read here and not by a crate because files come from strangers. The crate npyz, good
//! otherwise, reserves as much memory as four bytes of the file tell it to, descends as deep as
//! brackets are nested, and overflows when it multiplies a hostile shape. Our tests use it
//! as the independent opinion on sane files.

use super::FileFault;
use std::io::Read;

/// No sane header comes near this; numpy's own limit for trusted reading is 10 000.
const LONGEST: usize = 1 << 16;

const MAGIC: &[u8] = b"\x93NUMPY";

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The type, such as `<f4`.
    pub(super) descr: String,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
    /// Where the data begins.
    pub(super) length: u64,
}

/// Reads a header and leaves the reader at the first byte of the data.
pub(super) fn read(reader: &mut impl Read) -> Result<Header, FileFault> {
    let mut start = [0u8; 8];
    match fill(reader, &mut start)? {
        0 => return Err(FileFault::Empty),
        8 if start.starts_with(MAGIC) => {}
        got if start[..got].starts_with(MAGIC) => {
            return Err(FileFault::Header("the header is cut off"));
        }
        _ => return Err(FileFault::Header("it does not begin with \\x93NUMPY")),
    }
    let width = match start[6] {
        1 => 2,
        2 | 3 => 4,
        _ => return Err(FileFault::Header("its version is not 1, 2 or 3")),
    };
    let mut size = [0u8; 4];
    let text_length = match fill(reader, &mut size[..width])? {
        got if got == width => u32::from_le_bytes(size) as usize,
        _ => return Err(FileFault::Header("the header is cut off")),
    };
    if text_length > LONGEST {
        return Err(FileFault::Header("the header is longer than 65536 bytes"));
    }
    let mut text = vec![0u8; text_length];
    if fill(reader, &mut text)? != text_length {
        return Err(FileFault::Header("the header is cut off"));
    }
    let mut header = parse(&text)?;
    header.length = (8 + width + text_length) as u64;
    Ok(header)
}

/// Reads until the buffer is full or the file ends, and says how much there was.
pub(super) fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> Result<usize, FileFault> {
    let mut got = 0;
    while got < buffer.len() {
        match reader.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FileFault::Io(error)),
        }
    }
    Ok(got)
}

fn parse(text: &[u8]) -> Result<Header, FileFault> {
    let mut scanner = Scanner { text, at: 0 };
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    scanner.expect(b'{')?;
    while !scanner.take(b'}') {
        let name = scanner.string()?;
        scanner.expect(b':')?;
        match &name[..] {
            "descr" => descr = Some(scanner.descr()?),
            "fortran_order" => fortran_order = Some(scanner.boolean()?),
            "shape" => shape = Some(scanner.tuple()?),
            _ => return Err(FileFault::Header("the header has an unknown key")),
        }
        if !scanner.take(b',') {
            scanner.expect(b'}')?;
            break;
        }
    }
    match (descr, fortran_order, shape) {
        (Some(descr), Some(fortran_order), Some(shape)) => {
            Ok(Header { descr, fortran_order, shape, length: 0 })
        }
        _ => Err(FileFault::Header("the header lacks descr, fortran_order or shape")),
    }
}

/// Goes through the literal from left to right, never backwards.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

const MALFORMED: FileFault = FileFault::Header("the header is not the dictionary it should be");

impl Scanner<'_> {
    fn skip_spaces(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, wanted: u8) -> bool {
        self.skip_spaces();
        let found = self.text.get(self.at) == Some(&wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: u8) -> Result<(), FileFault> {
        if self.take(wanted) { Ok(()) } else { Err(MALFORMED) }
    }

    fn while_true(&mut self, keep: impl Fn(u8) -> bool) -> &[u8] {
        self.skip_spaces();
        let start = self.at;
        while self.text.get(self.at).is_some_and(|&byte| keep(byte)) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// A string in single or double quotes. Nothing we read needs an escape.
    fn string(&mut self) -> Result<String, FileFault> {
        let quote = if self.take(b'\'') { b'\'' } else { b'"' };
        if quote == b'"' {
            self.expect(b'"')?;
        }
        let inside = self.while_true(|byte| byte != quote && byte != b'\\').to_vec();
        self.expect(quote)?;
        String::from_utf8(inside).map_err(|_| MALFORMED)
    }

    fn descr(&mut self) -> Result<String, FileFault> {
        if self.take(b'[') {
            let found = "structured records".to_owned();
            return Err(FileFault::Type { found, wanted: "a plain float32 array" });
        }
        self.string()
    }

    fn boolean(&mut self) -> Result<bool, FileFault> {
        match self.while_true(|byte| byte.is_ascii_alphabetic()) {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => Err(MALFORMED),
        }
    }

    fn tuple(&mut self) -> Result<Vec<u64>, FileFault> {
        let mut sizes = Vec::new();
        self.expect(b'(')?;
        while !self.take(b')') {
            sizes.push(self.integer()?);
            if !self.take(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(sizes)
    }

    fn integer(&mut self) -> Result<u64, FileFault> {
        let digits = std::str::from_utf8(self.while_true(|byte| byte.is_ascii_digit()));
        let value = digits.ok().and_then(|digits| digits.parse().ok()).ok_or(MALFORMED);
        // Python 2 ended long integers in an L.
        self.take(b'L');
        value
    }
}

/// The bytes of a header. Sizes are padded to a fixed width, so that a shape filled in later
/// takes the same room.
pub(super) fn write(descr: &str, shape: &[u64]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(|size| format!("{size}, ")).collect();
    let sizes = sizes.concat();
    let sizes = if shape.len() > 1 { sizes.trim_end_matches([',', ' ']) } else { sizes.trim_end() };
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // 128 in all: data aligned to 64 as numpy asks, room for three numbers of twenty digits.
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0, 118, 0]);
    bytes.extend(text.as_bytes());
    bytes.resize(127, b' ');
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_header_reads_back() {
        for shape in [&[5, 6][..], &[3, 5, 6], &[u64::MAX, u64::MAX, 6], &[7], &[]] {
            let bytes = write("<f4", shape);
            assert_eq!(bytes.len(), 128, "{shape:?}");
            let header = read(&mut &bytes[..]).unwrap();
            let want = Header {
                descr: "<f4".to_owned(),
                fortran_order: false,
                shape: shape.to_vec(),
                length: 128,
            };
            assert_eq!(header, want);
        }
    }

    #[test]
    fn other_spellings_of_the_same_header_are_read() {
        for text in [
            "{\"descr\":\"<f8\",\"fortran_order\":True,\"shape\":(2L,6L)}",
            " { 'shape' : ( 2 , 6 , ) , 'fortran_order' : True , 'descr' : '<f8' , } \n",
        ] {
            let header = parse(text.as_bytes()).unwrap();
            assert_eq!((&header.descr[..], &header.shape[..]), ("<f8", &[2, 6][..]));
            assert!(header.fortran_order);
        }
    }

    #[test]
    fn hostile_headers_are_refused() {
        for text in [
            "",
            "{",
            "{'descr': '<f4'",
            "{'descr': '<f4', 'fortran_order': False}",
            "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
            "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}",
            "{'shape': ((((((((((((",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        let mut huge = write("<f4", &[1, 6]);
        huge[6] = 2;
        huge[8..12].fill(0xff);
        assert!(matches!(read(&mut &huge[..]), Err(FileFault::Header(_))));
    }
}
