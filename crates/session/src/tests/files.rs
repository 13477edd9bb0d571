//! Which files of the server statements may read and write.
#![allow(clippy::disallowed_methods)]

use crate::tests::{connect, run, start_with};
use env::Environment;
use std::fs;

#[test]
fn files_need_the_privilege_and_lie_in_the_folder() {
    let root = std::env::temp_dir().join(format!("iruka-files-{}", std::process::id()));
    let (open, closed) = (root.join("open"), root.join("closed"));
    [&open, &closed].into_iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
    fs::write(open.join("plain"), "inside").unwrap();
    fs::write(closed.join("secret"), "outside").unwrap();
    std::os::unix::fs::symlink(&closed, open.join("link")).unwrap();
    let environment = Environment::real(&root.join("data"));
    environment.disk.create_directory("".as_ref()).unwrap();
    let refused = "ERROR 1290 The MySQL server is running with the --secure-file-priv option so it cannot execute this statement";

    let instance = start_with(&environment, &[("secure-file-priv", open.to_str().unwrap())]);
    let mut session = connect(&instance, "root").unwrap();
    let mut answer = |sql: &str| run(&mut session, &sql.replace("OPEN", open.to_str().unwrap())).join(" / ");
    assert_eq!(answer("select load_file('OPEN/plain'), load_file('OPEN/../open/plain')"), "inside|inside");
    assert_eq!(
        answer("select load_file('OPEN/link/secret'), load_file('OPEN/../closed/secret')"),
        "NULL|NULL"
    );
    assert_eq!(answer("create database d; create table d.t (a varchar(9))"), "OK 1 / OK 0");
    assert_eq!(answer("load data infile 'OPEN/link/secret' into table d.t"), refused);
    assert_eq!(answer("select 1 into outfile 'OPEN/link/new'"), refused);
    assert_eq!(answer("select 1 into outfile 'OPEN/link/../../closed/new'"), refused);
    assert_eq!(answer("select 1 into outfile 'OPEN/new'; select load_file('OPEN/new')"), "OK 1 / 1\\x0A");
    assert_eq!(answer("create user u"), "OK 0");
    assert_eq!(run(&mut connect(&instance, "u").unwrap(), "select load_file('/etc/passwd')"), ["NULL"]);
    drop(session);
    drop(instance);

    let instance = start_with(&environment, &[]);
    let mut session = connect(&instance, "root").unwrap();
    assert_eq!(run(&mut session, "select @@secure_file_priv, load_file('/etc/passwd')"), ["NULL|NULL"]);
    assert_eq!(run(&mut session, "load data infile '/etc/passwd' into table d.t"), [refused]);
    fs::remove_dir_all(&root).unwrap();
}
