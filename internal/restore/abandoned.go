package restore

import (
	"os"

	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/transfer"
)

// Abandoned returns the unfinished files that a killed restore has left, and those of other killed
// processes beside the database.
func Abandoned(places transfer.Installation) []string {
	names := sqlite.Abandoned(places.Database)
	for _, target := range []string{places.Login, places.TextKey, places.Configuration} {
		part := realFile(target) + sqlite.PartSuffix
		if info, err := os.Lstat(part); err == nil && info.Mode().IsRegular() {
			names = append(names, part)
		}
	}
	return names
}

// removeAbandoned removes what Abandoned returns, unless a process owns the database: it may be
// writing these files. If this user may not remove a file, a later command of another user does.
func removeAbandoned(places transfer.Installation) {
	if len(Abandoned(places)) == 0 || checkLinks(places) != nil {
		return
	}
	held, err := sqlite.Hold(places.Database)
	if err != nil {
		return
	}
	defer held.Release()
	if _, restoring := sqlite.IsRestoring(held.Path); restoring {
		return // a restore was interrupted meanwhile, and Finish needs its files
	}
	for _, name := range Abandoned(places) {
		_ = os.Remove(name)
	}
}
