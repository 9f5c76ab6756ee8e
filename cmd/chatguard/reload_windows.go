package main

import (
	"errors"
	"os"
)

// tellToReload can't: Windows has no signal for it.
func tellToReload(int) error { return errors.New("Windows has no signal for it") }

// reloads never brings anything.
func reloads() (asked <-chan os.Signal, stop func()) { return nil, func() {} }
