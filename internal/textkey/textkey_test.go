package textkey

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpen_CreatesOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "chatguard.db.textkey")
	must(t, Check(path)) // missing
	first, err := Open(path)
	must(t, err)
	again, err := Open(path)
	must(t, err)
	if first != again || first == (Key{}) {
		t.Errorf("%x, and then %x", first, again)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	other, err := Open(path + "2")
	must(t, err)
	if other == first {
		t.Error("two installations have the same key")
	}
	must(t, Check(path))
}

// TestOpen_KeepsText checks that editors and shells, which add line ends, don't change the key.
func TestOpen_KeepsText(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	must(t, os.WriteFile(path, []byte(" 000102030405060708090A0b0c0d0e0f\r\n"), 0o600))
	if k, err := Open(path); err != nil || k != (Key{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}) {
		t.Errorf("%x, %v", k, err)
	}
}

// TestOpen_Damaged checks that a damaged key is named with the fix, without its content, and stays
// as it is.
func TestOpen_Damaged(t *testing.T) {
	t.Parallel()
	const secret = "5ec4e75ec4e75ec4e75ec4e75ec4e75e"
	for name, contents := range map[string]string{
		"empty": "", "short": secret[:30], "long": secret + "00", "not hexadecimal": secret[:30] + "xy", "two lines": secret + "\n" + secret,
		"zero": strings.Repeat("0", 32),
	} {
		path := filepath.Join(t.TempDir(), "chatguard.db.textkey")
		must(t, os.WriteFile(path, []byte(contents), 0o600))
		_, err := Open(path)
		for _, err := range []error{err, Check(path)} {
			if err == nil || !strings.Contains(err.Error(), path+" is damaged: restore it from an encrypted backup, or delete it") ||
				strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "5ec4") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != contents {
			t.Errorf("%s: now %q, %v", name, now, err)
		}
	}
}

func TestOpen_Unusable(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := Open(folder); err == nil || !strings.HasPrefix(err.Error(), "the key of texts "+folder+" can't be read (") {
		t.Error(err)
	}
	missing := filepath.Join(folder, "nowhere", "key")
	if _, err := Open(missing); err == nil || !strings.HasPrefix(err.Error(), "the key of texts "+missing+" can't be written (") {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	path := filepath.Join(folder, "key")
	_, err := Open(path)
	must(t, err)
	must(t, os.Chmod(path, 0o644))
	if err := Check(path); err == nil || !strings.Contains(err.Error(), "can be read by other users of this machine: chmod 600 "+path) {
		t.Error(err)
	}
}

// TestDerived checks a value, because all versions of chatguard must derive the same key.
func TestDerived(t *testing.T) {
	t.Parallel()
	k := Derived("a secret of all nodes")
	if got := hex.EncodeToString(k[:]); got != "e13b1252579b24d668909c7fbe29048b" {
		t.Errorf("the key is %s", got)
	}
	if Derived("another") == k {
		t.Error("another secret has the same key")
	}
}
