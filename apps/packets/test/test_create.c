// SPDX-License-Identifier: Apache-2.0
// Files that are created where others may have made a link, a file or another name before.
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "common/create.h"

enum { STRANGER = 65534, PATH_BYTES = 128 };

static char folder[] = "/tmp/whimbrel-create-XXXXXX";
static char paths[4][PATH_BYTES];

static const char *at(int which, const char *name)
{
    snprintf(paths[which], sizeof paths[which], "%s/%s", folder, name);
    return paths[which];
}

// A folder with another in it, `open`, that anybody may write as /tmp, and a file that is dear.
static void begin(void)
{
    strcpy(folder, "/tmp/whimbrel-create-XXXXXX");
    CHECK(mkdtemp(folder) != NULL && chmod(folder, 0755) == 0);
    CHECK(mkdir(at(0, "open"), 0700) == 0 && chmod(at(0, "open"), 01777) == 0);
    FILE *dear = fopen(at(0, "dear"), "w");
    CHECK(dear != NULL && fputs("dear", dear) >= 0 && fclose(dear) == 0);
}

static void end(void)
{
    char command[PATH_BYTES];

    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

static bool is_kept(void)
{
    struct stat file;

    return stat(at(0, "dear"), &file) == 0 && file.st_size == 4;
}

// Whether it was created, and then written.
static bool creates(const char *path)
{
    const char *why;
    const int fd = create_file(path, &why);

    CHECK((fd >= 0) == (why == NULL));
    if (fd < 0)
        return false;
    CHECK(write(fd, "new", 3) == 3 && close(fd) == 0);
    return true;
}

static bool refuses(const char *path, const char *words)
{
    const char *why;
    const int fd = create_file(path, &why);

    if (fd >= 0)
        close(fd);
    return fd < 0 && strstr(why, words) != NULL;
}

TEST(a_file_is_created_or_emptied_and_own_links_are_followed)
{
    begin();
    for (int again = 0; again < 2; again++)
        CHECK(creates(at(0, "a")) && creates(at(0, "open/a")));
    CHECK(symlink("../dear", at(0, "open/own")) == 0 && symlink("open", at(0, "way")) == 0);
    CHECK(creates(at(0, "way/b")) && creates(at(0, "open/own")) && !is_kept());
    CHECK(creates("/dev/null"));
    CHECK(refuses(at(0, "none/a"), "No such file") && refuses(at(0, "open"), "directory"));
    end();
}

TEST(a_pipe_that_nobody_reads_and_a_file_of_two_names_are_refused_among_others)
{
    begin();
    CHECK(mkfifo(at(0, "open/pipe"), 0600) == 0 && refuses(at(0, "open/pipe"), "No such device"));
    CHECK(link(at(0, "dear"), at(1, "open/name")) == 0);
    CHECK(refuses(at(0, "open/name"), "other names") && is_kept());
    end();
}

TEST(what_another_user_has_put_there_is_neither_followed_nor_written)
{
    if (geteuid() != 0)
        return;  // only root gives a link to somebody else
    begin();
    CHECK(symlink("../dear", at(0, "open/link")) == 0);
    CHECK(lchown(at(0, "open/link"), STRANGER, STRANGER) == 0);
    CHECK(refuses(at(0, "open/link"), "a link of another user") && is_kept());
    CHECK(symlink("..", at(0, "open/way")) == 0);
    CHECK(lchown(at(0, "open/way"), STRANGER, STRANGER) == 0);
    CHECK(refuses(at(0, "open/way/dear"), "a link of another user") && is_kept());
    CHECK(creates(at(0, "open/his")) && chown(at(0, "open/his"), STRANGER, STRANGER) == 0);
    CHECK(refuses(at(0, "open/his"), "another user's file") ||
          refuses(at(0, "open/his"), "Permission denied"));
    // His own folder, which he may change at any time.
    CHECK(mkdir(at(0, "home"), 0755) == 0 && symlink("../dear", at(0, "home/link")) == 0);
    CHECK(chown(at(0, "home"), STRANGER, STRANGER) == 0);
    CHECK(refuses(at(0, "home/link"), "a link of another user") && is_kept());
    end();
}
