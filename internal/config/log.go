package config

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Log configures what chatguard writes to standard error while it runs.
type Log struct {
	Format string `toml:"format"` // LogText or LogJSON
	Level  string `toml:"level"`  // the least severe level that is logged
}

// The formats of the log.
const (
	LogText = "text" // key=value, as slog.TextHandler writes it
	LogJSON = "json" // an object per line
)

var (
	logFormats = []string{LogText, LogJSON}
	logLevels  = []string{"debug", "info", "warn", "error"}
)

func defaultLog() Log { return Log{Format: LogText, Level: "info"} }

// LevelValue returns the Level as slog needs it.
func (l Log) LevelValue() (level slog.Level) {
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		return slog.LevelInfo // of a Log that wasn't parsed
	}
	return level
}

// checkOneOf returns an error if a value isn't one of the known ones.
func checkOneOf[T ~string](value T, known []T) error {
	if slices.Contains(known, value) {
		return nil
	}
	names := make([]string, len(known))
	for i, one := range known {
		names[i] = string(one)
	}
	return fmt.Errorf("%q is not one of %s", value, strings.Join(names, ", "))
}
