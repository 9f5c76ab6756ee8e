package main

import (
	"errors"
	"time"
)

// length is how long a command works, as a flag: 30s. Zero means until it is stopped.
type length time.Duration

const lengthUsage = "end after this time, such as 30s (default: until Ctrl-C)"

func (l *length) String() string {
	if *l == 0 {
		return ""
	}
	return time.Duration(*l).String()
}

// Set reads the flag.
func (l *length) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New("want a length of time above 0, such as 30s or 10m")
	}
	*l = length(d)
	return nil
}

// Type names what the flag takes in the help.
func (*length) Type() string { return "time" }
