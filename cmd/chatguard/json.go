package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/hostile"
)

// jsonFlag adds the flag --json.
func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print one JSON object, in one line")
}

// printJSON prints a value as JSON in one line.
func printJSON(out io.Writer, value any) error {
	return json.NewEncoder(hostile.EscapeWriter{W: out}).Encode(value)
}
