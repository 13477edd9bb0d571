//! Time zones by name, wherever statements take them.

use crate::tests::{check, connect, environment, start};
use env::OpenMode;
use std::path::Path;

/// A zone that is so many seconds east of UTC, always.
fn zone_file(seconds: i32) -> Vec<u8> {
    let mut bytes = b"TZif".to_vec();
    bytes.resize(36, 0);
    bytes.extend([1_u32, 4].iter().flat_map(|count| count.to_be_bytes()));
    bytes.extend(seconds.to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(b"ABC\0");
    bytes
}

#[test]
fn a_zone_is_known_everywhere_or_nowhere() {
    let (_disk, environment) = environment();
    for (name, seconds) in [("America/Argentina/Salta", -10_800), ("Moon", 3_600)] {
        let path = format!("/usr/share/zoneinfo/{name}");
        let directory = Path::new(&path).parent().unwrap();
        environment.disk.create_directory(directory).unwrap();
        let file = environment.disk.open(Path::new(&path), OpenMode::CreateNew).unwrap();
        file.write_at(&zone_file(seconds), 0).unwrap();
    }
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    check(
        &mut root,
        &[
            ("select name from mysql.time_zone_name", "America/Argentina/Salta / Moon"),
            ("select convert_tz('2024-01-01', 'Moon', 'America/Argentina/Salta')", "2023-12-31 20:00:00"),
            ("select convert_tz('2024-01-01', 'UTC', 'Mars')", "NULL"),
            ("set time_zone = 'Moon'", "OK 0"),
            ("set time_zone = 'Mars'", "ERROR 1298 Unknown or incorrect time zone: 'Mars'"),
        ],
    );
}
