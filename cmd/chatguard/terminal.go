package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
)

// plainText makes a report fit to be shown in a terminal: without control characters, which could move its cursor or worse. Line breaks stay.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && journal.IsInvisible(r) {
			return -1
		}
		return r
	}, text)
}

// oneLine is plainText for what has to stay in a line.
func oneLine(text string) string { return plainText(strings.ReplaceAll(text, "\n", "; ")) }

// printLine prints one line, whatever is in the values.
func printLine(out io.Writer, format string, values ...any) {
	fmt.Fprintln(out, oneLine(fmt.Sprintf(format, values...)))
}

// longestPrinted bounds what is shown of a text from outside.
const longestPrinted = 200

// printable makes a text from outside fit to stand in a line of a terminal, and not too long.
func printable(text string) string {
	kept := []rune(strings.ReplaceAll(plainText(text[:min(len(text), 4*longestPrinted)]), "\n", ""))
	if len(kept) > longestPrinted {
		return string(kept[:longestPrinted]) + "…"
	}
	return string(kept)
}
