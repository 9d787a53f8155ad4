// SPDX-License-Identifier: Apache-2.0
//! Whether a program can be executed, before anything is changed for it.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use whimbrel_text::Failed;

use super::Failure;

/// Finds a program as `execvp` does.
///
/// # Errors
/// Status 127 if there is none, 126 if what there is cannot be executed, as shells have it.
pub fn find(name: &OsStr) -> Result<PathBuf, Failure> {
    let path = env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    find_in(name, &path)
}

fn find_in(name: &OsStr, path: &OsStr) -> Result<PathBuf, Failure> {
    let places = if name.as_bytes().contains(&b'/') {
        vec![PathBuf::from(name)]
    } else {
        env::split_paths(path).map(|folder| folder.join(name)).collect()
    };
    if let Some(found) = places.iter().find(|place| executable(place)) {
        return Ok(found.clone());
    }
    let shown = Path::new(name).display();
    Err(match places.iter().find(|place| place.exists() && !name.is_empty()) {
        Some(place) => {
            let failed = Failed::new(format!("{} cannot be executed", place.display()));
            Failure { status: 126, failed: failed.help("make it executable, or name another") }
        }
        None => {
            let failed = Failed::new(format!("the program `{shown}` does not exist"));
            Failure { status: 127, failed: failed.help("name its path, or a program in PATH") }
        }
    })
}

fn executable(place: &Path) -> bool {
    place.is_file() && access(place, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_is_found_as_execvp_finds_it() {
        let [one, two] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let write = |folder: &tempfile::TempDir, name: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let plain = write(&one, "tool", 0o644);
        let tool = write(&two, "tool", 0o755);
        write(&one, "text", 0o644);
        let path = env::join_paths([one.path(), two.path()]).unwrap();
        let find = |name: &OsStr| find_in(name, &path).map_err(|failure| failure.status);

        assert_eq!(find("tool".as_ref()).unwrap(), tool);
        assert_eq!(find(tool.as_os_str()).unwrap(), tool);
        assert_eq!(find(plain.as_os_str()).unwrap_err(), 126);
        assert_eq!(find("text".as_ref()).unwrap_err(), 126);
        assert_eq!(find(one.path().as_os_str()).unwrap_err(), 126);
        assert_eq!(find("no-such-tool".as_ref()).unwrap_err(), 127);
        assert_eq!(find("".as_ref()).unwrap_err(), 127);
    }
}
