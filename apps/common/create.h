// SPDX-License-Identifier: Apache-2.0
// How an application creates a file that a user names. In a folder that others may write, as /tmp,
// somebody else may have made a link or a file of that name.
#ifndef APPS_CREATE_H
#define APPS_CREATE_H

#ifdef __cplusplus
extern "C" {
#endif

/// Creates a file, or empties the one that is there, to be written.
///
/// A link is followed where nobody else can have made it. In a folder that others may write, the
/// file that is there must be this user's, with no other name. A board's files are its host's,
/// which looks at them. Context: any thread; blocks as a file does. Not where a pipe waits for who
/// reads. Returns: a descriptor; -1 with the reason in words in `*why`.
int create_file(const char *path, const char **why);

#ifdef __cplusplus
}
#endif

#endif
