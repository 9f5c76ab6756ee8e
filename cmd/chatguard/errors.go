package main

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2 // wrong usage or wrong configuration
)

// exitError is an error with an exit code of its own.
type exitError struct {
	error
	code int
}

func (e *exitError) Unwrap() error { return e.error }

// usageError is an error in the command line or in the configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }
