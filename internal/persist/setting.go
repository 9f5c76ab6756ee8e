package persist

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/chatguard/chatguard/internal/persist/statement"
)

// settingKey identifies a setting of a channel.
type settingKey struct{ channelID, name string }

// settings are small values of channels.
type settings struct {
	*commits
	db      database
	pending pending[settingKey, string]
}

const settingColumns = "channel_id, name, value"

var settingInsertion = statement.Insertion{Into: "setting (" + settingColumns + ")", Columns: 3, Conflict: "(channel_id, name) DO UPDATE SET value = excluded.value"}

// SaveSetting keeps a small value for a channel across restarts, and returns once the value is
// stored; an empty value removes the setting. saved is false if the database is failing or the
// context ends first; the value is then pending. Of several pending values of a setting, only the
// last one is kept. An error means that the value isn't kept; it may be ErrTooMany.
func (s *settings) SaveSetting(ctx context.Context, channelID, name, value string) (saved bool, err error) {
	row := &value
	if value == "" {
		row = nil
	}
	if err := s.pending.put(settingKey{channelID, name}, row); err != nil {
		return false, fmt.Errorf("setting %q of channel %s: %w", name, channelID, err)
	}
	return s.Commit(ctx), nil
}

// Settings returns the settings of all channels, by the channel's ID and the setting's name,
// including pending ones.
func (s *settings) Settings(ctx context.Context) (map[string]map[string]string, error) {
	// Read pending settings first, so that none is missed if it is stored in between.
	waiting := s.pending.peek()
	found := map[string]map[string]string{}
	err := s.db.Query(ctx, func(rows *sql.Rows) error {
		var key settingKey
		var value string
		err := rows.Scan(&key.channelID, &key.name, &value)
		putSetting(found, key, &value)
		return err
	}, "SELECT "+settingColumns+" FROM setting")
	if err != nil {
		return nil, err
	}
	for key, value := range waiting {
		putSetting(found, key, value)
	}
	return found, nil
}

// putSetting sets or removes a value; a channel without settings has no map.
func putSetting(settings map[string]map[string]string, key settingKey, value *string) {
	of := settings[key.channelID]
	switch {
	case value == nil || *value == "":
		if delete(of, key.name); len(of) == 0 {
			delete(settings, key.channelID)
		}
	case of == nil:
		settings[key.channelID] = map[string]string{key.name: *value}
	default:
		of[key.name] = *value
	}
}

func writeSettings(ctx context.Context, tx *sql.Tx, rows map[settingKey]*string) error {
	var kept []settingKey
	for key, value := range rows {
		if value != nil {
			kept = append(kept, key)
		} else if _, err := tx.ExecContext(ctx, "DELETE FROM setting WHERE channel_id = ? AND name = ?", key.channelID, key.name); err != nil {
			return err
		}
	}
	return settingInsertion.Write(ctx, tx, len(kept), func(args []any, i int) []any {
		return append(args, kept[i].channelID, kept[i].name, *rows[kept[i]])
	})
}
