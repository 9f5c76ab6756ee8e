package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// allowEscapes makes a console interpret escape sequences, because older consoles don't do that by
// default. It reports whether the console does.
func allowEscapes(console *os.File) bool {
	var mode uint32
	handle := windows.Handle(console.Fd())
	if err := windows.GetConsoleMode(handle, &mode); err != nil {
		return false
	}
	return mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 ||
		windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
