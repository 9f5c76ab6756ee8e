package journal

import "strings"

// Sentence returns the text of an error for people. It leaves out the name of package chatguard,
// with which that package's errors begin.
func Sentence(err error) string { return strings.ReplaceAll(err.Error(), "chatguard: ", "") }
