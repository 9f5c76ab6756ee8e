package persist

import (
	"context"
	"database/sql"
	"fmt"
)

// settingKey says which setting of which channel.
type settingKey struct{ channelID, name string }

const settingColumns = "channel_id, name, value"

var settingInsertion = insertion{into: "setting (" + settingColumns + ")", columns: 3, conflict: "DO UPDATE SET value = excluded.value"}

// SaveSetting keeps a small thing about a channel that has to outlive the process, and returns once it is stored; an empty value takes it
// away. saved is false where it waits because the database is in trouble, or where the context ends first; of a setting that waits only the
// last value does. The error says that the value isn't kept; it may be ErrTooMany.
func (s *Store) SaveSetting(ctx context.Context, channelID, name, value string) (saved bool, err error) {
	if err := s.changes.addSetting(settingKey{channelID, name}, value); err != nil {
		return false, fmt.Errorf("setting %q of channel %s: %w", name, channelID, err)
	}
	return s.Commit(ctx), nil
}

// Settings returns the settings of all channels, by the channel's ID and the setting's name; those that wait to be stored are among them.
func (s *Store) Settings(ctx context.Context) (map[string]map[string]string, error) {
	waiting := s.changes.look().settings // first, because what is stored next is missing then in neither
	settings, err := s.querySettings(ctx)
	if err != nil {
		return nil, err
	}
	for key, value := range waiting {
		putSetting(settings, key, value)
	}
	return settings, nil
}

func (s *Store) querySettings(ctx context.Context) (map[string]map[string]string, error) {
	rows, err := s.db.reader.QueryContext(ctx, "SELECT "+settingColumns+" FROM setting")
	if err != nil {
		return nil, explain(s.db.path, err)
	}
	defer rows.Close()
	settings := map[string]map[string]string{}
	for rows.Next() {
		var key settingKey
		var value string
		if err := rows.Scan(&key.channelID, &key.name, &value); err != nil {
			return nil, explain(s.db.path, err)
		}
		putSetting(settings, key, value)
	}
	return settings, explain(s.db.path, rows.Err())
}

// putSetting has no map for a channel without settings.
func putSetting(settings map[string]map[string]string, key settingKey, value string) {
	of := settings[key.channelID]
	switch {
	case value == "":
		if delete(of, key.name); len(of) == 0 {
			delete(settings, key.channelID)
		}
	case of == nil:
		settings[key.channelID] = map[string]string{key.name: value}
	default:
		of[key.name] = value
	}
}

func writeSettings(ctx context.Context, tx *sql.Tx, settings map[settingKey]string) error {
	var kept []settingKey
	for key, value := range settings {
		if value != "" {
			kept = append(kept, key)
			continue
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM setting WHERE channel_id = ? AND name = ?", key.channelID, key.name); err != nil {
			return err
		}
	}
	return settingInsertion.write(ctx, tx, len(kept), func(args []any, i int) []any {
		return append(args, kept[i].channelID, kept[i].name, settings[kept[i]])
	})
}
