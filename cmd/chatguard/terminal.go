package main

import (
	"fmt"
	"io"

	"github.com/chatguard/chatguard/internal/hostile"
)

// printLine prints one line, whatever the values contain.
func printLine(out io.Writer, format string, values ...any) {
	fmt.Fprintln(out, hostile.VisibleLine(fmt.Sprintf(format, values...)))
}
