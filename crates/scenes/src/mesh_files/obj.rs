//! Wavefront `.obj`: the lines `v` and `f`. Normals, textures, groups and materials are skipped;
//! indices count from 1, or backwards from the last vertex so far if they are negative.

use super::text::{Lines, coordinate, shown};
use super::{MeshData, Result, fault_at};
use glam::DVec3;
use std::borrow::Cow;

pub(super) fn read(bytes: &[u8]) -> Result<MeshData> {
    let mut mesh = MeshData::default();
    let (mut lines, mut corners, mut largest) = (Lines::new(bytes), Vec::new(), (0u64, 0u32));
    // Faces may name vertices that come later, so polygons are cut at the end.
    let mut faces: Vec<u32> = Vec::new();
    while let Some((number, line)) = lines.next()? {
        let line = continued(line, &mut lines)?;
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => mesh.vertices.push(vertex(number, words)?),
            Some("f") => {
                corners.clear();
                for word in words {
                    corners.push(index(number, word, mesh.vertices.len())?);
                }
                if corners.len() < 3 {
                    let found = corners.len();
                    return fault_at(number, format!("a face of {found} corners; it needs 3"));
                }
                let top = corners.iter().copied().max().unwrap_or(0);
                if top >= largest.1 {
                    largest = (number, top);
                }
                faces.push(corners.len() as u32);
                faces.extend(&corners);
            }
            _ => {}
        }
    }
    let count = mesh.vertices.len();
    if !faces.is_empty() && largest.1 as usize >= count {
        let index = u64::from(largest.1) + 1;
        return fault_at(largest.0, format!("vertex {index} is named; there are {count}"));
    }
    let mut rest = &faces[..];
    while let Some((&count, after)) = rest.split_first() {
        let (corners, after) = after.split_at(count as usize);
        mesh.push_polygon(corners);
        rest = after;
    }
    Ok(mesh)
}

/// A line that ends in a backslash goes on in the next one.
fn continued<'a>(line: &'a str, lines: &mut Lines<'a>) -> Result<Cow<'a, str>> {
    let Some(start) = line.strip_suffix('\\') else { return Ok(line.into()) };
    let mut whole = start.to_owned();
    while let Some((_, next)) = lines.next()? {
        whole.push(' ');
        match next.strip_suffix('\\') {
            Some(part) => whole.push_str(part),
            None => {
                whole.push_str(next);
                break;
            }
        }
    }
    Ok(whole.into())
}

/// Three coordinates; a weight or a colour may follow.
fn vertex<'a>(number: u64, mut words: impl Iterator<Item = &'a str>) -> Result<DVec3> {
    let mut point = DVec3::ZERO;
    for k in 0..3 {
        let Some(word) = words.next() else {
            return fault_at(number, format!("a vertex of {k} coordinates; it needs 3"));
        };
        point[k] = coordinate(number, word)?;
    }
    Ok(point)
}

/// The vertex of a corner such as `7`, `7/1`, `7//3` or `-1`.
fn index(number: u64, word: &str, vertices: usize) -> Result<u32> {
    let name = word.split('/').next().unwrap_or_default();
    let Ok(index) = name.parse::<i64>() else {
        return fault_at(number, format!("{} is not the number of a vertex", shown(word)));
    };
    let place = match index {
        1.. => index - 1,
        0 => return fault_at(number, "vertex 0 is named; vertices count from 1"),
        _ => vertices as i64 + index,
    };
    match u32::try_from(place) {
        Ok(place) if place < u32::MAX => Ok(place),
        _ => fault_at(number, format!("vertex {index} is named; there are {vertices} so far")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_write_a_face_are_read() {
        let text = "# a square twice\nv 0 0 0\r\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0 # last\n\
                    vn 0 0 1\ng one\nf 1 2 3 4\nf -4/1/1 -3//2 \\\n-1/5\nusemtl none\n";
        let mesh = read(text.as_bytes()).unwrap();
        assert_eq!(mesh.vertices.len(), 4);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 3]]);
    }

    #[test]
    fn a_face_may_come_before_its_vertices() {
        let mesh = read(b"f 1 2 3\nv 0 0 0\nv 1 0 0\nv 1 1 0\n").unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2]]);
    }

    #[test]
    fn faults_name_the_line() {
        for (text, line, message) in [
            ("v 0 0\n", 1, "2 coordinates"),
            ("v 0 0 0\nv 0 nan 0\n", 2, "not finite"),
            ("v 0 0 1e400\n", 1, "not finite"),
            ("v 0 0 zero\n", 1, "\"zero\" is not a number"),
            ("v 0 0 0\n\nf 1 1 9\n", 3, "vertex 9 is named; there are 1"),
            ("v 0 0 0\nf 1 1 0\n", 2, "count from 1"),
            ("v 0 0 0\nf 1 1 -2\n", 2, "vertex -2"),
            ("v 0 0 0\nf 1 1\n", 2, "2 corners"),
            ("v 0 0 0\nf 1 1 99999999999\n", 2, "99999999999"),
            ("v 0 0 0\nf 1 x 1\n", 2, "\"x\""),
        ] {
            let wrong = read(text.as_bytes()).unwrap_err();
            assert_eq!(wrong.line, line, "{text}");
            assert!(wrong.fault.to_string().contains(message), "{}", wrong.fault);
        }
    }
}
