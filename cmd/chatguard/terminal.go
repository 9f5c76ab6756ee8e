package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/chatguard/chatguard/internal/hostile"
)

// printLine prints one line, whatever the values contain.
func printLine(out io.Writer, format string, values ...any) {
	fmt.Fprintln(out, hostile.VisibleLine(fmt.Sprintf(format, values...)))
}

// isTerminal reports whether w is a terminal. The null device is not.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// knowsEscapes reports whether w is a terminal that follows escape sequences.
func knowsEscapes(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("TERM") != "dumb" && allowEscapes(w.(*os.File))
}

// terminalWidth returns the number of columns of the terminal w. It is 0 if w is no terminal, or
// doesn't tell.
func terminalWidth(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	width, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
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
	if os.Getenv("NO_COLOR") != "" || !knowsEscapes(out) {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, text)
}

// confirm asks a question and reports whether the answer is yes.
func confirm(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprint(out, question)
	answers := bufio.NewScanner(in)
	answered := answers.Scan()
	if !answered || !isTerminalReader(in) {
		fmt.Fprintln(out) // the user did not press Enter
	}
	answer := strings.ToLower(strings.TrimSpace(answers.Text()))
	return answered && (answer == "y" || answer == "yes")
}

// isTerminalReader reports whether the input is a terminal.
func isTerminalReader(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && isTerminal(file)
}
