package request

import (
	"errors"
	"os"
)

// notify always fails, because Windows has no signal for it.
func notify(int) error { return errors.New("Windows has no signal for it") }

// Notifications returns a channel that never receives.
func Notifications() (asked <-chan os.Signal, stop func()) { return nil, func() {} }
