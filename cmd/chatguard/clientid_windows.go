package main

import (
	"io/fs"
	"os"
)

// giveTo has nothing to do: on Windows a file's rights come from its folder.
func giveTo(*os.File, fs.FileInfo) error { return nil }
