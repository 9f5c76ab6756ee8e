package token

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

func (k *tokenKeeper) mode() os.FileMode {
	k.t.Helper()
	info, err := os.Stat(k.File)
	must(k.t, err)
	return info.Mode().Perm()
}

func (k *tokenKeeper) writeFile(contents string, mode os.FileMode) {
	k.t.Helper()
	must(k.t, os.WriteFile(k.File, []byte(contents), mode))
}

// TestTokenFile_Private checks that the file becomes private, whatever its mode was before.
func TestTokenFile_Private(t *testing.T) {
	k := newTokenKeeper(t)
	k.writeFile(`{"access_token": "old"}`, 0o644)
	if err := CheckFile(k.File); err == nil || !strings.Contains(err.Error(), "chmod 600 "+k.File) {
		t.Errorf("readable by others: %v", err)
	}
	k.advance(0)
	if k.mode() != 0o600 {
		t.Errorf("mode %o", k.mode())
	}
	must(t, CheckFile(k.File))
	if err := CheckFile(k.File + "s"); err != nil {
		t.Errorf("where there is none: %v", err)
	}
	if left, err := filepath.Glob(k.File + ".*.new"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestTokenFile_Unreadable checks that the error is one line that names the file and the fix,
// without the file's content.
func TestTokenFile_Unreadable(t *testing.T) {
	for name, contents := range map[string]string{
		"empty": "", "not JSON": "secretsecret", "cut off": `{"access_token": "secret", "refre`, "no tokens": `{}`, "a list": `["secret"]`,
		"line break": `{"access_token": "secret\r\nsecret"}`, "wrong type": `{"access_token": 12}`, "wrong time": `{"access_token":"secret","expires_at":"secret"}`,
		"too long": fmt.Sprintf(`{"access_token": "secret", "login": %q}`, strings.Repeat("a", maxFileSize)),
	} {
		k := newTokenKeeper(t)
		k.writeFile(contents, 0o600)
		for _, err := range []error{k.Load(t.Context()), k.Run(t.Context()), CheckFile(k.File)} {
			if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), k.File) ||
				!strings.Contains(err.Error(), "run `chatguard login` again") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	k := newTokenKeeper(t)
	k.File = t.TempDir() // nobody can read a folder as a file
	if err := k.Load(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "token file "+k.File+" can't be read (") {
		t.Errorf("a folder: %v", err)
	}
}

// TestTokenFile_SpoiltWhileRunning checks that a file that becomes invalid is reported, and that
// the token stays in use. Storing the next pair fixes the file.
func TestTokenFile_SpoiltWhileRunning(t *testing.T) {
	k := newTokenKeeper(t)
	k.advance(0)
	k.writeFile("spoilt", 0o600)
	k.advance(reloadEvery)
	k.checkState(Good, "isn't what `chatguard login` writes")
	if k.token() != k.srv.Token() {
		t.Error("the token went with the file")
	}
	k.advance(4*time.Hour - renewBefore)
	k.checkState(Good, "")
	if k.fileContent().Access != k.token() || k.srv.Refreshes() != 1 {
		t.Errorf("%d renewals", k.srv.Refreshes())
	}
}

// TestTokenFile_Unwritable checks that a write error is reported and the token is kept in memory.
// The token is stored as soon as the file can be written.
func TestTokenFile_Unwritable(t *testing.T) {
	k := newTokenKeeper(t)
	folder := filepath.Join(t.TempDir(), "later")
	k.File = filepath.Join(folder, "chatguard.db.token")
	k.advance(0)
	k.checkState(Good, "can't be written")
	k.advance(4*time.Hour - renewBefore)
	if got := k.token(); got == k.srv.Token() || k.srv.Refreshes() != 1 {
		t.Errorf("%s after %d renewals", got, k.srv.Refreshes())
	}
	must(t, os.Mkdir(folder, 0o700))
	k.advance(reloadEvery)
	k.checkState(Good, "")
	if k.fileContent().Access != k.token() || k.mode() != 0o600 {
		t.Errorf("stored %s, mode %o", k.fileContent().Access, k.mode())
	}
}

// TestTokens_WithoutFile checks that the token is kept in memory.
func TestTokens_WithoutFile(t *testing.T) {
	k := newTokenKeeper(t)
	k.File = ""
	k.advance(0)
	k.advance(4 * time.Hour)
	k.checkState(Good, "")
	if k.token() == k.srv.Token() {
		t.Error("not renewed")
	}
}

// TestTokenFile_KeepsLink checks that the file may be a symbolic link.
func TestTokenFile_KeepsLink(t *testing.T) {
	k := newTokenKeeper(t)
	elsewhere := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(elsewhere, []byte(`{"access_token": "old"}`), 0o644))
	must(t, os.Symlink(elsewhere, k.File))
	k.advance(0)
	target, err := os.Readlink(k.File)
	if err != nil || target != elsewhere || k.fileContent().Access != k.srv.Token() || k.mode() != 0o600 {
		t.Errorf("%q, %v", target, err)
	}
}

// TestTokenFile_OverridesEnvironment checks that the file takes precedence over the
// environment until the environment's tokens change.
func TestTokenFile_OverridesEnvironment(t *testing.T) {
	k := newTokenKeeper(t)
	k.advance(0)
	k.advance(4 * time.Hour)
	renewed := k.token()
	start := func(access, refresh string) *Store {
		p := k.newProcess(k.File)
		p.Access, p.Refresh = access, refresh
		return p
	}
	for _, step := range []struct{ name, access, refresh, want string }{
		{"the same environment", k.srv.Token(), k.srv.RefreshToken(), renewed},
		{"none", "", "", renewed},
		{"the same, with IRC's prefix", "oauth:" + k.srv.Token(), k.srv.RefreshToken(), renewed},
		{"another access token", "another", k.srv.RefreshToken(), "another"},
		{"none after that", "", "", "another"},
		{"the first one again", k.srv.Token(), k.srv.RefreshToken(), k.srv.Token()},
	} {
		p := start(step.access, step.refresh)
		if err := p.Load(t.Context()); err != nil || p.current().record.Access != step.want || k.fileContent().Access != step.want {
			t.Errorf("%s: %s, %v; stored %s", step.name, p.current().record.Access, err, k.fileContent().Access)
		}
	}
	// A login replaces both the earlier tokens in the file and those in its environment.
	login := start("of the shell", "")
	_, err := login.Adopt(t.Context(), Pair{Access: renewed})
	must(t, err)
	for _, access := range []string{"of the shell", "", k.srv.Token()} {
		refresh := ""
		if access == k.srv.Token() {
			refresh = k.srv.RefreshToken()
		}
		p := start(access, refresh)
		if err := p.Load(t.Context()); err != nil || p.current().record.Access != renewed {
			t.Errorf("after a login, with %q in the environment: %s, %v", access, p.current().record.Access, err)
		}
	}
}

// TestTokenFile_HashesEnvironment checks that the file stores only a hash of the environment's
// tokens.
func TestTokenFile_HashesEnvironment(t *testing.T) {
	k := newTokenKeeper(t)
	k.advance(0)
	k.advance(4 * time.Hour)
	data, err := os.ReadFile(k.File)
	if err != nil || strings.Contains(string(data), k.srv.Token()) || len(k.fileContent().Seeds) != 1 || len(k.fileContent().Seeds[0]) != 64 {
		t.Errorf("%v\n%s", err, data)
	}
}

// TestTokenFile_WaitsForLock checks that nothing is renewed while another process holds the lock,
// and that a caller stops waiting when its context ends.
func TestTokenFile_WaitsForLock(t *testing.T) {
	k := newTokenKeeper(t)
	k.advance(0)
	unlock, err := k.file().lock(t.Context())
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.file().lock(ctx); err == nil {
		t.Error("locked twice")
	}
	k.srv.ExpireTokens()
	refused := make(chan error, 1)
	go func() { refused <- k.Refused(t.Context(), k.srv.Token()) }()
	twitchtest.Eventually(t, "a renewal", func() bool { k.mu.Lock(); defer k.mu.Unlock(); return k.renewal != nil })
	if k.srv.Refreshes() != 0 {
		t.Error("renewed under another's lock")
	}
	must(t, unlock())
	if err := <-refused; err != nil || k.srv.Refreshes() != 1 {
		t.Errorf("%v, %d renewals", err, k.srv.Refreshes())
	}
}
