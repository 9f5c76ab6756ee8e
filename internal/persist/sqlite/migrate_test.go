package sqlite

import (
	"testing"
	"testing/fstest"
)

func TestMigrate_NumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	_, err := ReadMigrations(fstest.MapFS{
		"migrations/0001_start.sql": {Data: []byte("SELECT 1")},
		"migrations/0003_third.sql": {Data: []byte("SELECT 1")},
	})
	wantError(t, err, "0003_third.sql", "0002_")
}
