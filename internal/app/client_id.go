package app

import (
	"os"

	"github.com/chatguard/chatguard/internal/atomicfile"
	"github.com/chatguard/chatguard/internal/config"
)

// SaveClientID writes the ID of the Twitch application to the configuration at path, and changes
// nothing else there. The error says why it can't.
func SaveClientID(path, id string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if data, err = config.SetClientID(data, id); err != nil {
		return err
	}
	return atomicfile.Rewrite(path, data)
}
