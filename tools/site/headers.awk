# SPDX-License-Identifier: Apache-2.0
# Comments of our headers as Doxygen reads them: the first block describes the file, words before a
# colon become paragraphs, and what stands behind a member describes it.
/^\/\/ SPDX/ { print "/// @file"; top = 1; next }
top && /^\/\// { sub(/^\/\//, "///"); print; next }
{ top = 0 }
/^\/\/\/ Returns:/ { sub(/Returns: */, "@return ") }
/^\/\/\/ (Context|Memory|Source):/ { match($0, /(Context|Memory|Source)/); word = substr($0, RSTART, RLENGTH); sub(word ": *", "@par " word "\n/// ") }
/^[ \t]*[^ \t\/].*[;,] +\/\/ / { sub(/\/\/ /, "///< ") }
{ print }
