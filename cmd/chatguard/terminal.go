package main

import (
	"fmt"
	"io"
	"os"

	"github.com/chatguard/chatguard/internal/hostile"
)

// printLine prints one line, whatever the values contain.
func printLine(out io.Writer, format string, values ...any) {
	fmt.Fprintln(out, hostile.VisibleLine(fmt.Sprintf(format, values...)))
}

// color is a foreground color of a terminal.
type color int

const (
	red    color = 31
	green  color = 32
	yellow color = 33
)

// paint returns text in a color if out is a terminal and nobody has asked for no colors; see
// https://no-color.org.
func paint(out io.Writer, c color, text string) string {
	if !isTerminal(out) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, text)
}
