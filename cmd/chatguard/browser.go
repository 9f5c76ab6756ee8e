package main

import (
	"io"
	"os"
	"os/exec"
	"runtime"
)

// opener returns the command that opens an address in this machine's browser, or false if the
// person doesn't sit at a screen of this machine.
func opener(system string, env func(string) string) (command []string, ok bool) {
	if env("SSH_CONNECTION") != "" {
		return nil, false // the browser would open on another machine, if at all
	}
	switch system {
	case "darwin":
		return []string{"open"}, true
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}, true
	}
	return []string{"xdg-open"}, env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""
}

// openBrowser opens an address in the browser if a person sits at a terminal with a screen. It
// reports whether it tried. The address is also printed, so an error doesn't matter.
func openBrowser(out io.Writer, address string) bool {
	command, ok := opener(runtime.GOOS, os.Getenv)
	if !ok || !isTerminal(out) {
		return false
	}
	open := exec.Command(command[0], append(command[1:], address)...)
	open.SysProcAttr = apart() // Ctrl-C here must not end the browser
	if open.Start() != nil {
		return false
	}
	return open.Process.Release() == nil // the browser may run longer than chatguard
}
