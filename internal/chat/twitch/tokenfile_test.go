package twitch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func (k *keeping) mode() os.FileMode {
	k.t.Helper()
	info, err := os.Stat(k.File)
	if err != nil {
		k.t.Fatal(err)
	}
	return info.Mode().Perm()
}

func (k *keeping) writeFile(contents string, mode os.FileMode) {
	k.t.Helper()
	if err := os.WriteFile(k.File, []byte(contents), mode); err != nil {
		k.t.Fatal(err)
	}
}

// TestTokenFileIsPrivate, whatever was there before.
func TestTokenFileIsPrivate(t *testing.T) {
	k := keep(t)
	k.writeFile(`{"access_token": "old"}`, 0o644)
	if err := CheckTokenFile(k.File); err == nil || !strings.Contains(err.Error(), "chmod 600 "+k.File) {
		t.Errorf("readable by others: %v", err)
	}
	k.later(0)
	if k.mode() != 0o600 {
		t.Errorf("mode %o", k.mode())
	}
	if err := CheckTokenFile(k.File); err != nil {
		t.Error(err)
	}
	if err := CheckTokenFile(k.File + "s"); err != nil {
		t.Errorf("where there is none: %v", err)
	}
	if left, err := filepath.Glob(k.File + ".*.new"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestTokenFileThatCannotBeRead is named in one line, with the mend and without what is in it.
func TestTokenFileThatCannotBeRead(t *testing.T) {
	for name, contents := range map[string]string{
		"empty": "", "not JSON": "secretsecret", "cut off": `{"access_token": "secret", "refre`, "no tokens": `{}`, "a list": `["secret"]`,
		"line break": `{"access_token": "secret\r\nsecret"}`, "wrong type": `{"access_token": 12}`, "wrong time": `{"access_token":"secret","expires_at":"secret"}`,
		"too long": fmt.Sprintf(`{"access_token": "secret", "login": %q}`, strings.Repeat("a", maxTokenFile)),
	} {
		k := keep(t)
		k.writeFile(contents, 0o600)
		for _, err := range []error{k.Load(t.Context()), k.Run(t.Context()), CheckTokenFile(k.File)} {
			if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), k.File) ||
				!strings.Contains(err.Error(), "run `chatguard login` again") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	k := keep(t)
	k.File = t.TempDir() // a folder can't be read as a file, by anybody
	if err := k.Load(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "token file "+k.File+" can't be read (") {
		t.Errorf("a folder: %v", err)
	}
}

// TestFileThatIsSpoiltWhileRunning is told, and stops nothing; the next pair mends it.
func TestFileThatIsSpoiltWhileRunning(t *testing.T) {
	k := keep(t)
	k.later(0)
	k.writeFile("spoilt", 0o600)
	k.later(lookEvery)
	k.is(TokenGood, "isn't what `chatguard login` writes")
	if k.token() != k.srv.Token() {
		t.Error("the token went with the file")
	}
	k.later(4*time.Hour - renewBefore)
	k.is(TokenGood, "")
	if k.stored().Access != k.token() || k.srv.Refreshes() != 1 {
		t.Errorf("%d renewals", k.srv.Refreshes())
	}
}

// TestFileThatCannotBeWritten is told; the token goes on in memory, and is stored as soon as that works.
func TestFileThatCannotBeWritten(t *testing.T) {
	k := keep(t)
	folder := filepath.Join(t.TempDir(), "later")
	k.File = filepath.Join(folder, "chatguard.db.token")
	k.later(0)
	k.is(TokenGood, "can't be written")
	k.later(4*time.Hour - renewBefore)
	if got := k.token(); got == k.srv.Token() || k.srv.Refreshes() != 1 {
		t.Errorf("%s after %d renewals", got, k.srv.Refreshes())
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	k.later(lookEvery)
	k.is(TokenGood, "")
	if k.stored().Access != k.token() || k.mode() != 0o600 {
		t.Errorf("stored %s, mode %o", k.stored().Access, k.mode())
	}
}

// TestWithoutFile the token lives in memory.
func TestWithoutFile(t *testing.T) {
	k := keep(t)
	k.File = ""
	k.later(0)
	k.later(4 * time.Hour)
	k.is(TokenGood, "")
	if k.token() == k.srv.Token() {
		t.Error("not renewed")
	}
}

// TestLinkedFileStaysLinked: the file may lie elsewhere.
func TestLinkedFileStaysLinked(t *testing.T) {
	k := keep(t)
	elsewhere := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(elsewhere, []byte(`{"access_token": "old"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, k.File); err != nil {
		t.Fatal(err)
	}
	k.later(0)
	target, err := os.Readlink(k.File)
	if err != nil || target != elsewhere || k.stored().Access != k.srv.Token() || k.mode() != 0o600 {
		t.Errorf("%q, %v", target, err)
	}
}

// TestTheFileWinsUntilTheEnvironmentChanges.
func TestTheFileWinsUntilTheEnvironmentChanges(t *testing.T) {
	k := keep(t)
	k.later(0)
	k.later(4 * time.Hour)
	renewed := k.token()
	start := func(access, refresh string) *Tokens {
		p := k.process(k.File)
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
		if err := p.Load(t.Context()); err != nil || p.look().record.Access != step.want || k.stored().Access != step.want {
			t.Errorf("%s: %s, %v; stored %s", step.name, p.look().record.Access, err, k.stored().Access)
		}
	}
	// A login takes the place of what was there before it, and of the environment that it was made in.
	login := start("of the shell", "")
	if _, err := login.Adopt(t.Context(), Pair{Access: renewed}); err != nil {
		t.Fatal(err)
	}
	for _, access := range []string{"of the shell", "", k.srv.Token()} {
		refresh := ""
		if access == k.srv.Token() {
			refresh = k.srv.RefreshToken()
		}
		p := start(access, refresh)
		if err := p.Load(t.Context()); err != nil || p.look().record.Access != renewed {
			t.Errorf("after a login, with %q in the environment: %s, %v", access, p.look().record.Access, err)
		}
	}
}

// TestSeedsTellNothing: the file remembers the environment by a hash.
func TestSeedsTellNothing(t *testing.T) {
	k := keep(t)
	k.later(0)
	k.later(4 * time.Hour)
	data, err := os.ReadFile(k.File)
	if err != nil || strings.Contains(string(data), k.srv.Token()) || len(k.stored().Seeds) != 1 || len(k.stored().Seeds[0]) != 64 {
		t.Errorf("%v\n%s", err, data)
	}
}

// TestLockIsWaitedFor: while another process has the file, nothing is renewed; a caller whose context ends leaves.
func TestLockIsWaitedFor(t *testing.T) {
	k := keep(t)
	k.later(0)
	unlock, err := k.file().lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.file().lock(ctx); err == nil {
		t.Error("locked twice")
	}
	k.srv.ExpireTokens()
	refused := make(chan error, 1)
	go func() { refused <- k.Refused(t.Context(), k.srv.Token()) }()
	eventually(t, "a renewal", func() bool { k.mu.Lock(); defer k.mu.Unlock(); return k.renewal != nil })
	if k.srv.Refreshes() != 0 {
		t.Error("renewed under another's lock")
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-refused; err != nil || k.srv.Refreshes() != 1 {
		t.Errorf("%v, %d renewals", err, k.srv.Refreshes())
	}
}
