package fileaccess

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

func TestOfOthers_Missing(t *testing.T) {
	t.Parallel()
	if _, err := OfOthers(filepath.Join(t.TempDir(), "file")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestDescribedAccess checks descriptors as Windows writes them. SY is the system, BA are
// administrators, BU users, AU users who have signed in, WD everyone, AC apps.
func TestDescribedAccess(t *testing.T) {
	t.Parallel()
	const me, owner, other = "S-1-5-21-1-2-3-1001", "S-1-5-21-1-2-3-1002", "S-1-5-21-1-2-3-1003"
	for text, want := range map[string]Access{
		"D:P(A;;FA;;;me)": {},
		"D:(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;FA;;;me)": {}, // in a user's profile
		"D:(A;;FA;;;owner)(A;;FA;;;AC)":                {},
		"D:(A;;FA;;;me)(A;OICIIO;FA;;;WD)":             {}, // only for files in the folder
		"D:(D;;FA;;;WD)(A;;FA;;;me)":                   {},
		"D:(A;ID;FA;;;me)(A;ID;0x1200a9;;;BU)":         {Read: true},
		"D:(A;;FA;;;me)(A;;FR;;;other)":                {Read: true},
		"D:(A;;FA;;;me)(A;;FW;;;WD)":                   {Write: true},
		"D:(A;;FA;;;me)(A;;WD;;;WD)":                   {Write: true},             // they may give themselves rights
		"D:(A;ID;0x1301bf;;;AU)(A;ID;0x1200a9;;;BU)":   {Read: true, Write: true}, // in a folder of C:\\
	} {
		sddl := strings.NewReplacer("owner", owner, "other", other, "me", me).Replace("O:owner" + text)
		descriptor, err := windows.SecurityDescriptorFromString(sddl)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := describedAccess(descriptor, me); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestFix(t *testing.T) {
	t.Parallel()
	fix := Fix(`C:\chat guard\chatguard.db`, `C:\chat guard\chatguard.db-wal`)
	if !strings.HasPrefix(fix, `icacls "C:\chat guard" /inheritance:r /grant "`) || !strings.HasSuffix(fix, `/grant "*S-1-5-32-544:(OI)(CI)F"`) {
		t.Error(fix)
	}
}
