#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a package of Debian of what was staged in FOLDER/usr.
#
#   SOURCE_DATE_EPOCH=SECONDS tools/install/deb.sh FOLDER VERSION INTO
set -eu
umask 022
folder=$1 version=$2 into=$(realpath "$3")
documents=$folder/usr/share/doc/whimbrel
multiarch=lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)
maintainer='Whimbrel maintainers <maintainers@whimbrel.invalid>'

# As Debian has it: compressed manual pages, a changelog of its own form, completions of packages in a
# folder of theirs, libraries of each architecture in one of its own, the Apache License once on each machine.
gzip -9n "$folder"/usr/share/man/man1/*.1
mv "$folder/usr/share/zsh/site-functions" "$folder/usr/share/zsh/vendor-completions"
mkdir -p "$folder/usr/$multiarch"
mv "$folder/usr/lib/pkgconfig" "$folder/usr/$multiarch"
sed -i '/^prefix=/s|$|/..|' "$folder/usr/$multiarch"/pkgconfig/*.pc
rm "$documents/LICENSE"
gzip -9n > "$documents/changelog.gz" <<END
whimbrel ($version) unstable; urgency=medium

  * CHANGELOG.md lists what has changed.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
cat > "$documents/copyright" <<END
Copyright: 2026 Whimbrel maintainers. License: Apache-2.0, see /usr/share/common-licenses/Apache-2.0.
The recordings of the FM radio have licences of their own: share/whimbrel/apps/fm_radio/data/README.md.
The programs contain the following; third-party.txt has the texts of their licences.

$(sed -n 's/^==== //p' "$documents/third-party.txt")
END
mkdir -p "$folder/usr/share/lintian/overrides"
cat > "$folder/usr/share/lintian/overrides/whimbrel" <<'END'
# Programs that tasks are recreated from: linked at fixed addresses, started by the kernels alone, which
# read their symbols.
whimbrel: statically-linked-binary
whimbrel: unstripped-binary-or-object
# A task alone calls nothing of libc: it is linked with it for others.
whimbrel: shared-library-lacks-prerequisites [usr/libexec/whimbrel/build/apps/mixed.so]
# The simulator is as fast as its instructions are few (tools/c.mk).
whimbrel: hardening-no-pie
END

cd "$folder"
mkdir -p debian DEBIAN
printf 'Source: whimbrel\n\nPackage: whimbrel\nArchitecture: any\n' > debian/control
find usr/bin usr/libexec -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF' - {} \; -print | tr '\n' '\0' |
    xargs -0 dpkg-shlibdeps -O 2>/dev/null > debian/depends
cat > DEBIAN/control <<END
Package: whimbrel
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: $maintainer
Installed-Size: $(find usr -printf '%y %s\n' | awk '{ kib += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print kib }')
Depends: $(sed -n 's/^shlibs:Depends=//p' debian/depends)
Recommends: gcc, make, pkg-config
Suggests: cargo, cmake, gcc-arm-none-eabi, libnewlib-arm-none-eabi, qemu-system-arm
Section: devel
Priority: optional
Description: moves running tasks between cores without stopping their stream
 Streaming applications are written as tasks and channels. A kernel of its own
 owns each core; a task that passes a checkpoint may go on under another one.
 .
 This package has the command, its kernels for Linux and its simulator, headers
 and rules for applications, and the sources that images of boards are built of.
END
rm -r debian
find usr -type f -print0 | sort -z | xargs -0 md5sum > DEBIAN/md5sums
dpkg-deb --root-owner-group --build . "$into"
