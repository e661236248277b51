//! The header of a `.ply` file: which elements there are, how many, and what an element holds.

use super::text::{Lines, shown};
use super::{Result, fault_at};

/// How the elements are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    Little,
    Big,
}

/// Types of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Number {
    fn of(name: &str) -> Option<Number> {
        Some(match name {
            "char" | "int8" => Number::I8,
            "uchar" | "uint8" => Number::U8,
            "short" | "int16" => Number::I16,
            "ushort" | "uint16" => Number::U16,
            "int" | "int32" => Number::I32,
            "uint" | "uint32" => Number::U32,
            "float" | "float32" => Number::F32,
            "double" | "float64" => Number::F64,
            _ => return None,
        })
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Number::I8 | Number::U8 => 1,
            Number::I16 | Number::U16 => 2,
            Number::I32 | Number::U32 | Number::F32 => 4,
            Number::F64 => 8,
        }
    }

    pub(super) fn is_whole(self) -> bool {
        !matches!(self, Number::F32 | Number::F64)
    }
}

/// One number, or a list with its length in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    One(Number),
    List { length: Number, item: Number },
}

#[derive(Debug)]
pub(super) struct Property {
    pub name: String,
    pub kind: Kind,
}

#[derive(Debug)]
pub(super) struct Element {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
}

impl Element {
    /// Fewest bytes that an element takes in a binary file: its lists are empty.
    pub(super) fn least_bytes(&self) -> usize {
        let least = |property: &Property| match property.kind {
            Kind::One(number) => number.bytes(),
            Kind::List { length, .. } => length.bytes(),
        };
        self.properties.iter().map(least).sum()
    }

    /// Where a property stands.
    pub(super) fn find(&self, names: &[&str]) -> Option<usize> {
        self.properties.iter().position(|property| names.contains(&property.name.as_str()))
    }
}

#[derive(Debug)]
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
}

/// Most elements and properties of one; real files have a handful.
const MOST: usize = 256;

/// Reads the header; the lines then stand at the first element.
pub(super) fn read(lines: &mut Lines<'_>) -> Result<Header> {
    match lines.next()? {
        Some((_, line)) if line.trim_end() == "ply" => {}
        _ => return fault_at(1, "a ply file begins with the line `ply`"),
    }
    let (mut encoding, mut elements) = (None, Vec::<Element>::new());
    while let Some((number, line)) = lines.next()? {
        let words: Vec<&str> = line.split_ascii_whitespace().take(6).collect();
        match words[..] {
            ["end_header"] => {
                let Some(encoding) = encoding else {
                    return fault_at(number, "the header has no line `format`");
                };
                return Ok(Header { encoding, elements });
            }
            ["format", name, "1.0"] => encoding = Some(encoding_of(number, name)?),
            ["element", name, count] => {
                let Ok(count) = count.parse::<u64>() else {
                    return fault_at(number, format!("{} is not a count", shown(count)));
                };
                elements.push(Element { name: name.to_owned(), count, properties: Vec::new() });
            }
            ["property", ref words @ ..] => {
                let property = property(number, words)?;
                let Some(element) = elements.last_mut() else {
                    return fault_at(number, "a property before the first element");
                };
                element.properties.push(property);
            }
            ["comment" | "obj_info", ..] | [] => {}
            _ => return fault_at(number, format!("{} is no line of a header", shown(line))),
        }
        let crowded = elements.iter().any(|element| element.properties.len() > MOST);
        if crowded || elements.len() > MOST {
            return fault_at(number, "more than 256 elements, or properties of one");
        }
    }
    fault_at(lines.number(), "the file is cut off in its header: end_header is missing")
}

fn encoding_of(line: u64, name: &str) -> Result<Encoding> {
    match name {
        "ascii" => Ok(Encoding::Text),
        "binary_little_endian" => Ok(Encoding::Little),
        "binary_big_endian" => Ok(Encoding::Big),
        _ => fault_at(line, format!("the format {} is unknown", shown(name))),
    }
}

fn property(line: u64, words: &[&str]) -> Result<Property> {
    let number = |name: &str| match Number::of(name) {
        Some(number) => Ok(number),
        None => fault_at(line, format!("{} is no type of numbers", shown(name))),
    };
    let (name, kind) = match *words {
        ["list", length, item, name] => {
            let (length, item) = (number(length)?, number(item)?);
            if !length.is_whole() {
                return fault_at(line, "the length of a list is a whole number");
            }
            (name, Kind::List { length, item })
        }
        [kind, name] => (name, Kind::One(number(kind)?)),
        _ => return fault_at(line, "a property has a type and a name"),
    };
    Ok(Property { name: name.to_owned(), kind })
}
