//! Bytes read as a mesh file of each format: whatever they are, no panic and no index out of range.

#![no_main]

use std::path::Path;

use jostle_scenes::{MeshFormat, parse_mesh};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for format in MeshFormat::ALL {
        if let Ok(mesh) = parse_mesh(Path::new("fuzz"), format, bytes) {
            let count = mesh.vertices.len() as u32;
            assert!(mesh.triangles.iter().flatten().all(|&corner| corner < count));
            let _ = mesh.into_mesh(Path::new("fuzz")).map(|mesh| mesh.report());
        }
    }
});
