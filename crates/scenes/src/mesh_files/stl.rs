//! Stereolithography `.stl`: loose triangles in single precision, text or binary.
//!
//! Binary files may begin with the word that text files begin with. A file is binary if its length
//! is what the count in its header makes it, or if it does not begin with `solid`. Normals are
//! skipped: the order of the corners says the same.

use super::merge::merge;
use super::text::{Lines, shown, single};
use super::{MeshData, Result, fault, fault_at};
use glam::DVec3;

/// Bytes before the triangles, and of a triangle.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

pub(super) fn read(bytes: &[u8]) -> Result<MeshData> {
    let begins = bytes.trim_ascii_start().get(..5).unwrap_or_default();
    let claimed = claimed(bytes);
    let fits = claimed.is_some_and(|count| bytes.len() == HEADER + count * TRIANGLE);
    let points = match claimed {
        _ if begins.eq_ignore_ascii_case(b"solid") && !fits => text(bytes)?,
        Some(count) => binary(bytes, count)?,
        None => return fault("neither text that begins with solid nor a header of 84 bytes"),
    };
    if points.len() >= u32::MAX as usize {
        return fault("more corners than can be numbered in 32 bits");
    }
    let (vertices, places) = merge(&points);
    let triangles = places.chunks_exact(3).map(|three| [three[0], three[1], three[2]]).collect();
    Ok(MeshData { vertices, triangles })
}

/// The number of triangles that a binary header states.
fn claimed(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(80..84)?;
    Some(u32::from_le_bytes([count[0], count[1], count[2], count[3]]) as usize)
}

fn binary(bytes: &[u8], count: usize) -> Result<Vec<DVec3>> {
    let body = &bytes[HEADER..];
    if body.len() / TRIANGLE < count {
        let room = body.len() / TRIANGLE;
        return fault(format!(
            "the file is cut off: its header claims {count} triangles, it has {room}"
        ));
    }
    let mut points = Vec::with_capacity(3 * count);
    for (triangle, record) in body.chunks_exact(TRIANGLE).take(count).enumerate() {
        for corner in record[12..48].chunks_exact(12) {
            let at = |k: usize| {
                let four = [corner[k], corner[k + 1], corner[k + 2], corner[k + 3]];
                f64::from(f32::from_le_bytes(four))
            };
            let point = DVec3::new(at(0), at(4), at(8));
            if !point.is_finite() {
                return fault(format!("triangle {triangle}: a coordinate is not finite"));
            }
            points.push(point);
        }
    }
    Ok(points)
}

/// Facets of three vertices; names of solids and normals are skipped.
fn text(bytes: &[u8]) -> Result<Vec<DVec3>> {
    let (mut lines, mut points, mut of_facet) = (Lines::new(bytes), Vec::new(), None);
    let mut ended = false;
    while let Some((number, line)) = lines.next()? {
        let mut words = line.split_ascii_whitespace();
        let word = words.next().unwrap_or_default().to_ascii_lowercase();
        match (word.as_str(), &mut of_facet) {
            ("solid", None) => ended = false,
            ("endsolid", None) => ended = true,
            ("facet", None) => of_facet = Some(0),
            ("vertex", Some(count)) => {
                points.push(vertex(number, words)?);
                *count += 1;
            }
            ("endfacet", Some(3)) => of_facet = None,
            ("endfacet", Some(count)) => {
                return fault_at(number, format!("a facet of {count} vertices; it needs 3"));
            }
            ("" | "outer" | "endloop" | "color", _) => {}
            (word, _) => {
                return fault_at(number, format!("{} is out of place", shown(word)));
            }
        }
    }
    if of_facet.is_some() || !ended {
        return fault_at(lines.number(), "the file is cut off: endsolid is missing");
    }
    Ok(points)
}

fn vertex<'a>(number: u64, mut words: impl Iterator<Item = &'a str>) -> Result<DVec3> {
    let mut point = DVec3::ZERO;
    for k in 0..3 {
        let Some(word) = words.next() else {
            return fault_at(number, format!("a vertex of {k} coordinates; it needs 3"));
        };
        point[k] = single(number, word)?;
    }
    Ok(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "solid a square\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n\
        vertex 1 0 0\nvertex 1 1 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\n\
        vertex -0 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n";

    fn binary_of(corners: &[[f32; 3]]) -> Vec<u8> {
        let mut bytes = b"solid in name only".to_vec();
        bytes.resize(80, b' ');
        bytes.extend((corners.len() as u32 / 3).to_le_bytes());
        for three in corners.chunks(3) {
            bytes.extend([0; 12]);
            bytes.extend(three.iter().flatten().flat_map(|at| at.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn text_and_binary_give_the_same_with_corners_shared() {
        let mesh = read(SQUARE.as_bytes()).unwrap();
        assert_eq!(mesh.vertices.len(), 4);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        let corners = mesh.triangles.iter().flatten();
        let corners: Vec<[f32; 3]> =
            corners.map(|&k| mesh.vertices[k as usize].as_vec3().to_array()).collect();
        assert_eq!(read(&binary_of(&corners)).unwrap(), mesh);
    }

    #[test]
    fn faults_name_the_line_or_the_triangle() {
        let mut claims = binary_of(&[[0.0; 3]; 6]);
        claims[..5].copy_from_slice(b"other");
        claims[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        let message = read(&claims).unwrap_err().fault.to_string();
        assert!(message.contains("claims 4294967295 triangles, it has 2"), "{message}");
        let nan = binary_of(&[[0.0; 3], [0.0; 3], [0.0; 3], [0.0, f32::NAN, 0.0]].repeat(3));
        let message = read(&nan).unwrap_err().fault.to_string();
        assert!(message.contains("triangle 1: a coordinate"), "{message}");
        let broken = SQUARE.replace("vertex 1 1 0\nendloop", "endloop");
        let wrong = read(broken.as_bytes()).unwrap_err();
        assert_eq!(wrong.line, 7);
        assert!(wrong.fault.to_string().contains("2 vertices"), "{}", wrong.fault);
        assert!(read(&SQUARE.as_bytes()[..180]).is_err());
    }
}
