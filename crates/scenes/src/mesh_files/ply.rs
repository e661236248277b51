//! Stanford `.ply`: text, or binary of either byte order.
//!
//! Read are `x`, `y` and `z` of the element `vertex` and the list `vertex_indices` (or
//! `vertex_index`) of `face`; everything else is passed over. What the header claims is compared
//! with the bytes there are before anything is reserved, and elements without properties, of which
//! a header can claim any number, are not walked at all.

use super::ply_header::{self, Element, Encoding, Header, Kind, Number};
use super::text::{Lines, coordinate, shown, single};
use super::{MeshData, Result, fault, fault_at};
use glam::DVec3;

pub(super) fn read(bytes: &[u8]) -> Result<MeshData> {
    let mut lines = Lines::new(bytes);
    let Header { encoding, elements } = ply_header::read(&mut lines)?;
    let mut mesh = MeshData::default();
    let mut faces = Faces::default();
    match encoding {
        Encoding::Text => {
            for element in &elements {
                read_text(element, &mut lines, &mut mesh.vertices, &mut faces)?;
            }
        }
        _ => {
            let mut input = Binary { rest: lines.rest(), big: encoding == Encoding::Big };
            for element in &elements {
                read_binary(element, &mut input, &mut mesh.vertices, &mut faces)?;
            }
        }
    }
    faces.cut_into(&mut mesh)?;
    Ok(mesh)
}

/// Polygons, until all vertices are known: the number of corners, then the corners.
#[derive(Default)]
struct Faces {
    corners: Vec<u32>,
}

impl Faces {
    fn cut_into(&self, mesh: &mut MeshData) -> Result<()> {
        let (mut rest, mut face, vertices) = (&self.corners[..], 0u64, mesh.vertices.len());
        while let Some((&count, after)) = rest.split_first() {
            let (corners, after) = after.split_at(count as usize);
            if let Some(index) = corners.iter().find(|&&index| index as usize >= vertices) {
                return fault(format!("face {face} names vertex {index}; there are {vertices}"));
            }
            mesh.push_polygon(corners);
            (rest, face) = (after, face + 1);
        }
        Ok(())
    }
}

/// What an element means to us.
enum Role {
    /// Where x, y and z stand.
    Vertex([usize; 3]),
    /// Where the list of vertices stands.
    Face(usize),
    Other,
}

fn role(element: &Element) -> Result<Role> {
    match element.name.as_str() {
        "vertex" => {
            let mut places = [0; 3];
            for (place, name) in places.iter_mut().zip(["x", "y", "z"]) {
                let found = element.find(&[name]);
                match found.map(|at| (at, element.properties[at].kind)) {
                    Some((at, Kind::One(_))) => *place = at,
                    _ => return fault(format!("vertices have no number called {name}")),
                }
            }
            Ok(Role::Vertex(places))
        }
        "face" => match element.find(&["vertex_indices", "vertex_index"]) {
            Some(at) => match element.properties[at].kind {
                Kind::List { item, .. } if item.is_whole() => Ok(Role::Face(at)),
                _ => fault("vertex_indices of faces is no list of whole numbers"),
            },
            None => fault("faces have no list called vertex_indices"),
        },
        "tristrips" => fault("strips of triangles are not read; convert them to faces"),
        _ => Ok(Role::Other),
    }
}

/// Elements that a header may claim, given how many have room.
fn claim(element: &Element, room: usize) -> Result<usize> {
    match usize::try_from(element.count) {
        Ok(count) if count <= room && (count as u64) < u64::from(u32::MAX) => Ok(count),
        _ => {
            let Element { name, count, .. } = element;
            fault(format!(
                "the file is cut off: its header claims {count} of {name}, there is room for {room}"
            ))
        }
    }
}

/// A corner of a face as a place.
fn corner(face: usize, index: i64) -> Result<u32> {
    match u32::try_from(index) {
        Ok(index) => Ok(index),
        Err(_) => fault(format!("face {face} names vertex {index}")),
    }
}

struct Binary<'a> {
    rest: &'a [u8],
    big: bool,
}

impl<'a> Binary<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    #[inline]
    fn bytes<const N: usize>(&self, from: &[u8]) -> [u8; N] {
        let mut bytes: [u8; N] = std::array::from_fn(|k| from[k]);
        if self.big {
            bytes.reverse();
        }
        bytes
    }

    /// A number at the beginning of bytes that hold it.
    fn float(&self, number: Number, from: &[u8]) -> f64 {
        match number {
            Number::F32 => f64::from(f32::from_le_bytes(self.bytes(from))),
            Number::F64 => f64::from_le_bytes(self.bytes(from)),
            _ => self.whole(number, from) as f64,
        }
    }

    fn whole(&self, number: Number, from: &[u8]) -> i64 {
        match number {
            Number::I8 => i64::from(from[0] as i8),
            Number::U8 => i64::from(from[0]),
            Number::I16 => i64::from(i16::from_le_bytes(self.bytes(from))),
            Number::U16 => i64::from(u16::from_le_bytes(self.bytes(from))),
            Number::I32 => i64::from(i32::from_le_bytes(self.bytes(from))),
            Number::U32 => i64::from(u32::from_le_bytes(self.bytes(from))),
            Number::F32 | Number::F64 => self.float(number, from) as i64,
        }
    }
}

fn read_binary(
    element: &Element,
    input: &mut Binary<'_>,
    vertices: &mut Vec<DVec3>,
    faces: &mut Faces,
) -> Result<()> {
    let (role, least) = (role(element)?, element.least_bytes());
    if least == 0 {
        return Ok(());
    }
    let count = claim(element, input.rest.len() / least)?;
    match role {
        Role::Vertex(_) => vertices.reserve_exact(count),
        Role::Face(_) => faces.corners.reserve(count),
        Role::Other => {}
    }
    for number in 0..count {
        let Some(found) = binary_one(element, &role, number, input, faces)? else {
            let name = &element.name;
            return fault(format!("the file is cut off in {name} {number} of {count}"));
        };
        if let Role::Vertex(_) = role {
            if !found.is_finite() {
                return fault(format!("vertex {number}: a coordinate is not finite"));
            }
            vertices.push(found);
        }
    }
    Ok(())
}

/// One element, and its place if it is a vertex; none if the bytes end before it does.
fn binary_one(
    element: &Element,
    role: &Role,
    number: usize,
    input: &mut Binary<'_>,
    faces: &mut Faces,
) -> Result<Option<DVec3>> {
    let mut point = DVec3::ZERO;
    for (place, property) in element.properties.iter().enumerate() {
        match property.kind {
            Kind::One(kind) => {
                let Some(bytes) = input.take(kind.bytes()) else { return Ok(None) };
                if let Role::Vertex(places) = role {
                    for k in (0..3).filter(|&k| places[k] == place) {
                        point[k] = input.float(kind, bytes);
                    }
                }
            }
            Kind::List { length, item } => {
                let Some(bytes) = input.take(length.bytes()) else { return Ok(None) };
                let length = input.whole(length, bytes);
                let Ok(length) = usize::try_from(length) else {
                    let name = &element.name;
                    return fault(format!("{name} {number}: a list of {length} numbers"));
                };
                let size = length.checked_mul(item.bytes());
                let Some(list) = size.and_then(|size| input.take(size)) else { return Ok(None) };
                if matches!(role, Role::Face(at) if *at == place) {
                    let each = list.chunks_exact(item.bytes()).map(|at| input.whole(item, at));
                    push_face(faces, number, length, each)?;
                }
            }
        }
    }
    Ok(Some(point))
}

fn push_face(
    faces: &mut Faces,
    face: usize,
    length: usize,
    corners: impl Iterator<Item = i64>,
) -> Result<()> {
    if length < 3 {
        return fault(format!("face {face} has {length} corners; it needs 3"));
    }
    faces.corners.push(length as u32);
    for index in corners {
        faces.corners.push(corner(face, index)?);
    }
    Ok(())
}

fn read_text(
    element: &Element,
    lines: &mut Lines<'_>,
    vertices: &mut Vec<DVec3>,
    faces: &mut Faces,
) -> Result<()> {
    let role = role(element)?;
    if element.properties.is_empty() {
        return Ok(());
    }
    // A number and the end of its line.
    let count = claim(element, lines.rest().len().div_ceil(2))?;
    for number in 0..count {
        let (line, text) = loop {
            match lines.next()? {
                Some((_, text)) if text.trim_ascii().is_empty() => {}
                Some(found) => break found,
                None => {
                    let name = &element.name;
                    let message = format!("the file is cut off before {name} {number} of {count}");
                    return fault_at(lines.number(), message);
                }
            }
        };
        let mut words = text.split_ascii_whitespace();
        match text_one(element, &role, number, line, &mut words, faces) {
            Ok(point) if matches!(role, Role::Vertex(_)) => vertices.push(point),
            Ok(_) => {}
            Err(wrong) => return Err(super::Wrong { line, ..wrong }),
        }
    }
    Ok(())
}

fn text_one<'a>(
    element: &Element,
    role: &Role,
    number: usize,
    line: u64,
    words: &mut impl Iterator<Item = &'a str>,
    faces: &mut Faces,
) -> Result<DVec3> {
    let mut point = DVec3::ZERO;
    let mut next = |name: &str| match words.next() {
        Some(word) => Ok(word),
        None => fault_at(line, format!("the line ends before {name}")),
    };
    for (place, property) in element.properties.iter().enumerate() {
        match property.kind {
            Kind::One(kind) => {
                let word = next(&property.name)?;
                if let Role::Vertex(places) = role {
                    for k in (0..3).filter(|&k| places[k] == place) {
                        let read = if kind == Number::F32 { single } else { coordinate };
                        point[k] = read(line, word)?;
                    }
                }
            }
            Kind::List { .. } => {
                let word = next(&property.name)?;
                let Ok(length) = word.parse::<usize>() else {
                    return fault_at(line, format!("{} is not the length of a list", shown(word)));
                };
                let mut list = Vec::new();
                for _ in 0..length {
                    let word = next(&property.name)?;
                    match word.parse::<i64>() {
                        Ok(index) => list.push(index),
                        // Only the list of corners has to hold whole numbers.
                        Err(_) if !matches!(role, Role::Face(at) if *at == place) => {}
                        Err(_) => {
                            let message = format!("{} is not the number of a vertex", shown(word));
                            return fault_at(line, message);
                        }
                    }
                }
                if matches!(role, Role::Face(at) if *at == place) {
                    push_face(faces, number, length, list.into_iter())?;
                }
            }
        }
    }
    Ok(point)
}
