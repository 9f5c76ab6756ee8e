// Command explorer starts a program as the Explorer of Windows does after a double-click: as its
// parent, and without arguments. The test calls it explorer.exe.
package main

import (
	"os"
	"os/exec"
)

func main() {
	program := exec.Command(os.Args[1])
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := program.Run(); err != nil {
		os.Exit(1)
	}
}
