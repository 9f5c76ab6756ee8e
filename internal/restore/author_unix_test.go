//go:build unix

package restore

import (
	"os"
	"testing"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// A marker that another user may have left beside the database replaces nothing.
func TestFinish_MarkerOfOthers(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	name := in.places().Database + sqlite.RestoringSuffix
	persisttest.Must(t, os.WriteFile(name, []byte(`{"kept_suffix":".old","files":[{"part":1}]}`), 0o600))
	persisttest.Must(t, os.Chmod(name, 0o666))
	_, err := Finish(in.places())
	persisttest.WantError(t, err, name+", which an interrupted restore left, can't be read (other users can change it")
	persisttest.Must(t, os.Remove(name))
	in.wantOld(t)
}
