package main

import (
	"errors"
	"os"
)

// notify can't: Windows has no signal for it.
func notify(int) error { return errors.New("Windows has no signal for it") }

// notifications never brings anything.
func notifications() (asked <-chan os.Signal, stop func()) { return nil, func() {} }
