//go:build unix

package request

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Requests and answers that another user may have written aren't believed, wherever they lie.
func TestRequests_OfOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "chatguard.db")
	writeFile(t, path, "a database")
	for _, suffix := range []string{requestName + "A", requestName + "B", outcomeName + "A"} {
		must(t, writePrivately(path+suffix, path, Request{Do: Discard, Channel: "7"}))
		must(t, os.Chmod(path+suffix, 0o666))
	}
	if os.Geteuid() == 0 { // only root can give files away
		must(t, os.Chmod(path+requestName+"A", 0o600))
		must(t, os.Chown(path+requestName+"A", 65534, 65534))
	}
	asked, err := Queue{path}.Take()
	if len(asked) != 0 || err == nil || !strings.Contains(err.Error(), "run that command again, as the same user as chatguard or as root: other users can change it") {
		t.Errorf("%v, %v", asked, err)
	}
	if o, err := awaitOutcome(t.Context(), path+outcomeName+"A", path); err == nil {
		t.Errorf("the answer %+v", o)
	}
	left, err := filepath.Glob(path + requestName + "*")
	if len(left) != 0 || err != nil {
		t.Errorf("left are %q, %v", left, err)
	}
}
