//! Command lines and option files.

use super::*;
use env::simulated::SimulatedDisk;

fn settle(arguments: &[&str]) -> Result<Configuration, BadOption> {
    let arguments: Vec<String> =
        [&["--no-defaults"], arguments].concat().iter().map(|&text| text.to_owned()).collect();
    Configuration::read(&arguments, Path::new("/work"))
}

#[test]
fn paths_and_addresses() {
    let configuration = settle(&["--datadir", "d", "--port=4000", "--bind_address=*,127.0.0.2"]).unwrap();
    assert_eq!(configuration.data_directory, Path::new("/work/d"));
    assert_eq!(configuration.socket, Path::new("/work/d/mysql.sock"));
    assert_eq!(configuration.addresses, ["[::]:4000".parse().unwrap(), "127.0.0.2:4000".parse().unwrap()]);
    assert!(!configuration.is_loopback_only());
    let configuration = settle(&["-P4001", "--socket=/tmp/x.sock", "--skip-ssl"]).unwrap();
    assert_eq!(configuration.data_directory, Path::new("/work/data"));
    assert_eq!(configuration.socket, Path::new("/tmp/x.sock"));
    assert!(configuration.is_loopback_only() && !configuration.tls);
    assert!(settle(&["--skip-networking"]).unwrap().addresses.is_empty());
    assert!(settle(&["--bind-address=nowhere"]).is_err());
    assert!(settle(&["--port=70000"]).is_err());
    assert!(settle(&["-x"]).is_err());
    // Not the folder where it is said.
    assert!(settle(&["--datadir="]).is_err() && settle(&["--datadir"]).is_err() && settle(&["-h"]).is_err());
    assert!(settle(&["--ssl-cert=a.pem"]).is_err());
}

#[test]
fn what_is_given_comes_after_defaults() {
    let configuration =
        settle(&["--innodb-buffer-pool-size=1G", "--loose-nonsense=3", "--user=mysql"]).unwrap();
    let names: Vec<&str> = configuration.settings.iter().map(|setting| setting.name.as_str()).collect();
    let last = names.iter().rposition(|name| *name == "innodb_buffer_pool_size").unwrap();
    assert!(names[..last].contains(&"innodb_buffer_pool_size"));
    assert_eq!(configuration.settings[last].value.as_deref(), Some("1G"));
    assert!(names.contains(&"loose_nonsense") && !names.contains(&"user"));
}

fn read_files(files: &[(&str, &str)]) -> Result<Vec<(String, Option<String>)>, BadOption> {
    let disk = SimulatedDisk::new(1);
    disk.create_directory(Path::new("conf.d")).unwrap();
    for (name, text) in files {
        let file = disk.open(Path::new(name), env::OpenMode::CreateNew).unwrap();
        file.write_at(text.as_bytes(), 0).unwrap();
    }
    let mut settings = Vec::new();
    option_file::read(&disk, Path::new(files[0].0), &mut settings)?;
    Ok(settings.into_iter().map(|setting| (setting.name, setting.value)).collect())
}

#[test]
fn option_files() {
    let main = "# comment\n[client]\nport=1\n[mysqld]\nmax-connections = 10 # ten\nskip_name_resolve\n; no\n\
                sql_mode=\"A#B\"\ninit_connect='SET x=\\'1\\''\n!include other.cnf\n!includedir conf.d\n[iruka]\nport=2\n";
    let settings = read_files(&[
        ("my.cnf", main),
        ("other.cnf", "[mysqld]\ntmpdir=/t\\n\n"),
        ("conf.d/b.cnf", "[mysqld]\nb=2\n"),
        ("conf.d/a.cnf", "[mysqld]\na=1\n"),
        ("conf.d/ignored.txt", "[mysqld]\nc=3\n"),
    ]);
    let pair = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
    let expected = [
        pair("max_connections", Some("10")),
        pair("skip_name_resolve", None),
        pair("sql_mode", Some("A#B")),
        pair("init_connect", Some("SET x='1'")),
        pair("tmpdir", Some("/t\n")),
        pair("a", Some("1")),
        pair("b", Some("2")),
        pair("port", Some("2")),
    ];
    assert_eq!(settings.unwrap(), expected);
}

#[test]
fn mistakes_in_option_files() {
    assert!(read_files(&[("my.cnf", "[mysqld\n")]).is_err());
    assert!(read_files(&[("my.cnf", "[mysqld]\ntwo words\n")]).is_err());
    assert!(read_files(&[("my.cnf", "!include missing.cnf\n")]).is_err());
    assert!(read_files(&[("my.cnf", "!include my.cnf\n")]).is_err());
}

#[test]
fn connections_grow_with_memory() {
    assert_eq!(connections_of(64 << 20), 151);
    assert_eq!(connections_of(2 << 30), 512);
    assert_eq!(connections_of(24 << 30), 6144);
    assert_eq!(connections_of(1 << 40), 10_000);
}
