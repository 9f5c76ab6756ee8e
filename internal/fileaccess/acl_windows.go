package fileaccess

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Rights that let a user read a file, or change it or its permissions.
const (
	readRights  = windows.FILE_READ_DATA | windows.GENERIC_READ | windows.GENERIC_ALL
	writeRights = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.GENERIC_WRITE | windows.GENERIC_ALL |
		windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER
)

// system and administrators have access to everything anyway.
const (
	system         = "S-1-5-18"
	administrators = "S-1-5-32-544"
)

// trusted are the IDs of groups and placeholders that don't stand for other users.
var trusted = []string{
	system, administrators,
	"S-1-3-0", // the creator, for files that don't exist yet
	"S-1-3-4", // the owner
}

// trustedPrefixes begin the IDs of apps, services and sessions. None of them is a user.
var trustedPrefixes = []string{"S-1-15-", "S-1-5-80-", "S-1-5-5-"}

// OfOthers returns what other users may do with the file at path, by its access control list. It
// ignores entries that deny access, so it may return too much.
func OfOthers(path string) (Access, error) {
	const wanted = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, wanted)
	if err != nil {
		return Access{}, err
	}
	me, err := user.Current()
	if err != nil {
		return Access{}, err
	}
	return describedAccess(descriptor, me.Uid)
}

// describedAccess returns the access that a descriptor gives to users other than its owner and me.
func describedAccess(descriptor *windows.SECURITY_DESCRIPTOR, me string) (others Access, err error) {
	owner, _, err := descriptor.Owner()
	if err != nil {
		return others, err
	}
	list, _, err := descriptor.DACL()
	if err != nil || list == nil {
		return Access{Read: true, Write: true}, nil // no list: everyone may do everything
	}
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &entry); err != nil {
			return others, err
		}
		if entry.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || entry.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 {
			continue
		}
		who := (*windows.SID)(unsafe.Pointer(&entry.SidStart)).String()
		if who == owner.String() || who == me || isTrusted(who) {
			continue
		}
		others.Read = others.Read || entry.Mask&readRights != 0
		others.Write = others.Write || entry.Mask&writeRights != 0
	}
	return others, nil
}

func isTrusted(who string) bool {
	return slices.Contains(trusted, who) ||
		slices.ContainsFunc(trustedPrefixes, func(prefix string) bool { return strings.HasPrefix(who, prefix) })
}

// careful has no equivalent on Windows, where creating a link requires special rights.
const careful = 0

// checkAuthor returns an error unless an open file belongs to this process's user, to
// administrators or to the system. It ignores the second parameter, which only Unix needs.
func checkAuthor(file *os.File, _ string) error {
	descriptor, err := windows.GetSecurityInfo(windows.Handle(file.Fd()), windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := descriptor.Owner()
	if err != nil {
		return err
	}
	me, err := user.Current()
	if err != nil {
		return err
	}
	if who := owner.String(); who != me.Uid && !isTrusted(who) {
		return fmt.Errorf("it belongs to the user %s", who)
	}
	return nil
}

// IsOpenFolder returns false: files in a folder get its permissions, which OfOthers returns.
func IsOpenFolder(string) bool { return false }

// Fix returns the command that makes the folder of the files private. They must be in one folder.
// New files in a folder get its permissions.
func Fix(paths ...string) string {
	name := "%USERNAME%"
	if me, err := user.Current(); err == nil {
		name = me.Username
	}
	grant := ""
	for _, who := range []string{name, "*" + system, "*" + administrators} {
		grant += fmt.Sprintf(` /grant "%s:(OI)(CI)F"`, who)
	}
	return fmt.Sprintf(`icacls "%s" /inheritance:r%s`, filepath.Dir(paths[0]), grant)
}
