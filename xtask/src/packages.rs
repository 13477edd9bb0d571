//! `cargo xtask package --binary PATH`: a tarball that runs from any folder and a Debian package, from a binary that is built already.
//! Both are the same bytes whenever they are made of the same binary and commit: names are sorted, owners are root, and times are those
//! of the commit (or of SOURCE_DATE_EPOCH).

use crate::files::{read, read_bytes, remove_file, remove_folder, write_bytes};
use std::process::{Command, Stdio};

/// What the Debian package is for, by the names that the compiler and Debian have for it.
const ARCHITECTURES: [(&str, &str); 2] = [("x86_64", "amd64"), ("aarch64", "arm64")];
const MODE_PROGRAM: u32 = 0o755;
const MODE_FILE: u32 = 0o644;

/// A file of a package.
struct Packaged {
    path: String,
    content: Vec<u8>,
    mode: u32,
}

/// What is known before a package is made.
struct Making {
    out: String,
    version: String,
    epoch: String,
}

/// Makes both packages.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let usage = || "usage: cargo xtask package --binary PATH [--out FOLDER]".to_owned();
    let (mut binary, mut out) = (None, "target/package".to_owned());
    for pair in arguments.chunks(2) {
        match pair {
            [name, path] if name == "--binary" => binary = Some(path.clone()),
            [name, path] if name == "--out" => out.clone_from(path),
            _ => return Err(usage()),
        }
    }
    let binary = binary.ok_or_else(usage)?;
    let version = printed(Command::new(&binary).arg("version"))?;
    let version =
        version.split(' ').nth(1).ok_or_else(|| format!("'{binary} version' says {version}"))?.to_owned();
    let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(epoch) => epoch,
        Err(_) => printed(Command::new("git").args(["log", "-1", "--format=%ct"]))?.trim().to_owned(),
    };
    let making = Making { out, version, epoch };
    let program = making.stripped(&binary)?;
    let needed = glibc_needed(&program);
    let shared = shared_files(&binary, program)?;
    making.tarball(&shared)?;
    making.debian(&shared, &needed)
}

/// What both packages have, below `/usr`.
fn shared_files(binary: &str, program: Vec<u8>) -> Result<Vec<Packaged>, String> {
    let mut files = vec![Packaged { path: "bin/iruka".to_owned(), content: program, mode: MODE_PROGRAM }];
    let mut add = |path: &str, content: Vec<u8>| {
        files.push(Packaged { path: path.to_owned(), content, mode: MODE_FILE });
    };
    let of_program =
        |arguments: &[&str]| printed(Command::new(binary).args(arguments)).map(String::into_bytes);
    add("share/man/man1/iruka.1.gz", compressed(&of_program(&["man"])?)?);
    for command in commands(&String::from_utf8_lossy(&of_program(&["man"])?)) {
        add(&format!("share/man/man8/iruka-{command}.8.gz"), compressed(&of_program(&["man", &command])?)?);
    }
    add("share/bash-completion/completions/iruka", of_program(&["completion", "bash"])?);
    add("share/zsh/vendor-completions/_iruka", of_program(&["completion", "zsh"])?);
    add("share/fish/vendor_completions.d/iruka.fish", of_program(&["completion", "fish"])?);
    for name in ["README.md", "docs/compatibility.md"] {
        let file = name.rsplit('/').next().unwrap_or(name);
        add(&format!("share/doc/iruka/{file}"), read_bytes(name)?);
    }
    add("share/doc/iruka/copyright", read_bytes("LICENSE")?);
    add("share/doc/iruka/changelog.gz", compressed(&read_bytes("CHANGELOG.md")?)?);
    Ok(files)
}

/// The commands that have a page of their own: those of the program's page without arguments that every program has.
fn commands(manual: &str) -> Vec<String> {
    const OWN: [&str; 4] = ["help", "version", "man", "completion"];
    let listed = manual.split_once(".SH COMMANDS\n").map_or("", |(_, rest)| rest);
    let listed = listed.split_once(".SH ").map_or(listed, |(list, _)| list);
    let names = listed.lines().filter_map(|line| line.strip_prefix(".B ")?.split(' ').next());
    names.filter(|name| !OWN.contains(name)).map(str::to_owned).collect()
}

impl Making {
    /// The binary without debug symbols, which go into a file beside the packages that names the binary.
    fn stripped(&self, binary: &str) -> Result<Vec<u8>, String> {
        let (stripped, symbols) = (format!("{}/iruka", self.out), format!("{}/iruka.debug", self.out));
        write_bytes(&symbols, &[], MODE_FILE)?;
        done(Command::new("objcopy").args([
            "--only-keep-debug",
            "--compress-debug-sections=zlib",
            binary,
            &symbols,
        ]))?;
        done(
            Command::new("objcopy")
                .args(["--strip-debug", "--strip-unneeded", &format!("--add-gnu-debuglink={symbols}")])
                .args([binary, &stripped]),
        )?;
        let content = read_bytes(&stripped)?;
        remove_file(&stripped)?;
        Ok(content)
    }

    fn tarball(&self, shared: &[Packaged]) -> Result<(), String> {
        let name = format!("iruka-{}-linux-{}", self.version, std::env::consts::ARCH);
        let stage = format!("{}/stage", self.out);
        remove_folder(&stage);
        for file in shared {
            write_bytes(&format!("{stage}/{name}/{}", file.path), &file.content, file.mode)?;
        }
        for file in ["packaging/iruka.service", "packaging/iruka.cnf"] {
            let path = format!("{stage}/{name}/share/iruka/{}", file.trim_start_matches("packaging/"));
            write_bytes(&path, &read_bytes(file)?, MODE_FILE)?;
        }
        let tarball = format!("{}/{name}.tar.gz", self.out);
        self.tar(&stage, &name, &tarball)?;
        println!("{tarball}");
        remove_folder(&stage);
        Ok(())
    }

    /// Archives what is in a folder, in the order of names.
    fn tar(&self, folder: &str, what: &str, archive: &str) -> Result<(), String> {
        let plain = archive.trim_end_matches(".gz");
        done(
            Command::new("tar")
                .args([
                    "--format=gnu",
                    "--sort=name",
                    "--owner=root:0",
                    "--group=root:0",
                    "--mode=u=rwX,go=rX",
                ])
                .args([&format!("--mtime=@{}", self.epoch), "-C", folder, "-cf", plain, what]),
        )?;
        // The name and the time of a file are not kept in it.
        done(Command::new("gzip").args(["-9nf", plain]))
    }

    /// An archive of three members: the format's version, what the package manager reads, and the files.
    fn debian(&self, shared: &[Packaged], glibc: &str) -> Result<(), String> {
        let arch = std::env::consts::ARCH;
        let arch = ARCHITECTURES.iter().find(|(ours, _)| *ours == arch).map(|(_, debian)| *debian);
        let arch = arch.ok_or("Debian's name of this architecture is not known")?;
        let (data, control) = (format!("{}/data", self.out), format!("{}/control", self.out));
        remove_folder(&data);
        remove_folder(&control);
        let mut bytes = 0;
        let mut sums = String::new();
        let add =
            |path: String, file: &Packaged| write_bytes(&format!("{data}/{path}"), &file.content, file.mode);
        let mut paths: Vec<(String, &Packaged)> =
            shared.iter().map(|file| (format!("usr/{}", file.path), file)).collect();
        let own =
            [("etc/iruka/iruka.cnf", "iruka.cnf"), ("lib/systemd/system/iruka.service", "iruka.service")];
        let own = own.map(|(path, name)| {
            let content = read_bytes(&format!("packaging/{name}"));
            content.map(|content| Packaged { path: path.to_owned(), content, mode: MODE_FILE })
        });
        let own = own.into_iter().collect::<Result<Vec<Packaged>, String>>()?;
        paths.extend(own.iter().map(|file| (file.path.clone(), file)));
        paths.sort_by(|left, right| left.0.cmp(&right.0));
        for (path, file) in paths {
            bytes += file.content.len() as u64;
            add(path.clone(), file)?;
            let sum = printed(Command::new("md5sum").arg(format!("{data}/{path}")))?;
            sums += &format!("{}  {path}\n", sum.split(' ').next().unwrap_or_default());
        }
        let text = read("packaging/debian/control")?
            .replace("@VERSION@", &self.version)
            .replace("@ARCHITECTURE@", arch)
            .replace("@GLIBC@", glibc)
            .replace("@KIB@", &bytes.div_ceil(1024).to_string());
        write_bytes(&format!("{control}/control"), text.as_bytes(), MODE_FILE)?;
        write_bytes(&format!("{control}/md5sums"), sums.as_bytes(), MODE_FILE)?;
        write_bytes(&format!("{control}/conffiles"), b"/etc/iruka/iruka.cnf\n", MODE_FILE)?;
        for script in ["postinst", "prerm", "postrm"] {
            let content = read_bytes(&format!("packaging/debian/{script}"))?;
            write_bytes(&format!("{control}/{script}"), &content, MODE_PROGRAM)?;
        }
        let mut package = b"!<arch>\n".to_vec();
        self.member(&mut package, "debian-binary", b"2.0\n");
        for folder in ["control", "data"] {
            let archive = format!("{}/{folder}.tar.gz", self.out);
            self.tar(&format!("{}/{folder}", self.out), ".", &archive)?;
            self.member(&mut package, &format!("{folder}.tar.gz"), &read_bytes(&archive)?);
            remove_file(&archive)?;
            remove_folder(&format!("{}/{folder}", self.out));
        }
        let path = format!("{}/iruka_{}_{arch}.deb", self.out, self.version);
        write_bytes(&path, &package, MODE_FILE)?;
        println!("{path}");
        Ok(())
    }

    /// Appends a member of an `ar` archive: a header of 60 bytes in text, and the content, to an even length.
    fn member(&self, archive: &mut Vec<u8>, name: &str, content: &[u8]) {
        let header =
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", self.epoch, 0, 0, "100644", content.len());
        archive.extend(header.as_bytes());
        archive.extend(content);
        if content.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
}

/// The newest version of the C library that the binary names.
fn glibc_needed(program: &[u8]) -> String {
    const NAME: &[u8] = b"GLIBC_2.";
    let minor = program.windows(NAME.len() + 3).filter_map(|window| {
        let digits = window.strip_prefix(NAME)?;
        let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
        std::str::from_utf8(&digits[..end]).ok()?.parse::<u32>().ok()
    });
    format!("2.{}", minor.max().unwrap_or(0))
}

/// gzip without a name and a time.
fn compressed(content: &[u8]) -> Result<Vec<u8>, String> {
    use std::io::Write;
    let mut gzip = Command::new("gzip")
        .arg("-9nc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("gzip: {error}"))?;
    let mut input = gzip.stdin.take().ok_or("gzip has no input")?;
    let content = content.to_vec();
    let writing = std::thread::Builder::new()
        .spawn(move || input.write_all(&content))
        .map_err(|error| error.to_string())?;
    let output = gzip.wait_with_output().map_err(|error| format!("gzip: {error}"))?;
    let written = writing.join().map_err(|_| "gzip's input".to_owned())?;
    written.map_err(|error| format!("gzip: {error}"))?;
    if output.status.success() { Ok(output.stdout) } else { Err("gzip failed".to_owned()) }
}

fn done(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed")) }
}

fn printed(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{command:?}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_an_even_length() {
        let making = Making { out: String::new(), version: String::new(), epoch: "1700000000".to_owned() };
        let mut archive = Vec::new();
        making.member(&mut archive, "debian-binary", b"2.0");
        assert_eq!(archive.len(), 60 + 4);
        assert_eq!(&archive[..28], b"debian-binary   1700000000  ");
        assert_eq!(&archive[58..], b"`\n2.0\n");
    }

    #[test]
    fn what_a_binary_and_a_page_name() {
        assert_eq!(glibc_needed(b"xGLIBC_2.4\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_2.x\0"), "2.34");
        let page = ".SH NAME\n.B no\n.SH COMMANDS\n.TP\n.B serve\nx\n.TP\n.B help [COMMAND]\ny\n.SH EXIT CODES\n.B 0\n";
        assert_eq!(commands(page), ["serve"]);
    }
}
