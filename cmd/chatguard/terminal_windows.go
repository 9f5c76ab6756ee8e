package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// allowEscapes makes a console follow escape sequences, which older ones don't by themselves. It
// reports whether the console does.
func allowEscapes(console *os.File) bool {
	var mode uint32
	handle := windows.Handle(console.Fd())
	if err := windows.GetConsoleMode(handle, &mode); err != nil {
		return false
	}
	return mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 ||
		windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
