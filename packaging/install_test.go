//go:build deploy

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// lifecycle installs, upgrades, removes and purges the package in a Debian of its own. A script
// stands in for systemctl, because no systemd runs there. It writes down how it is called, and
// fails if its first argument is the one in /refused.
const lifecycle = `set -ex
mkdir -p /run/systemd/system
cat >/usr/bin/systemctl <<'SH'
#!/bin/sh
echo "$@" >>/calls
[ "$(cat /refused 2>/dev/null)" != "$1" ]
SH
chmod +x /usr/bin/systemctl
called() {
	printf '%s\n' "$@" | diff - /calls
	rm /calls
}
as_user() {
	setpriv --reuid chatguard --regid chatguard --clear-groups "$@"
}

# The installation starts nothing.
dpkg -i /chatguard.deb
called daemon-reload
[ "$(stat -c '%U %G %a' /var/lib/chatguard)" = "chatguard chatguard 700" ]
[ "$(stat -c '%U %G %a' /etc/chatguard/environment)" = "root root 640" ]

# Without a channel, chatguard ends with the exit code after which systemd doesn't start it again.
code=0
as_user chatguard run --config /etc/chatguard/chatguard.toml || code=$?
[ "$code" = 2 ]
# With a room of a chat server, it runs until it is told to stop.
sed -i 's/^channels = \[\]  *# rooms.*/channels = ["lobby"]/; s/127.0.0.1:8080/127.0.0.1:0/' \
	/etc/chatguard/chatguard.toml
mkfifo /said
setpriv --reuid chatguard --regid chatguard --clear-groups \
	chatguard run --config /etc/chatguard/chatguard.toml >/said &
exec 3</said
read -r line <&3
kill $!
wait $!
as_user chatguard token make anna --role view --config /etc/chatguard/chatguard.toml

# An upgrade restarts what runs, and keeps changes and data.
dpkg -i /chatguard.deb
called daemon-reload 'try-restart chatguard.service'
grep -q lobby /etc/chatguard/chatguard.toml
as_user chatguard token list --config /etc/chatguard/chatguard.toml | grep -q ^anna

# The upgrade succeeds if the service doesn't start again, and says how to see why.
echo try-restart >/refused
dpkg -i /chatguard.deb >/upgrade 2>&1
rm /refused
called daemon-reload 'try-restart chatguard.service'
grep -q 'systemctl status chatguard' /upgrade
[ "$(dpkg-query --show --showformat '${db:Status-Status}' chatguard)" = installed ]

# A removal stops everything, and keeps configuration and data.
dpkg --remove chatguard
called 'disable --now chatguard.service chatguard.socket chatguard-backup.timer' \
	'stop chatguard-backup.service' daemon-reload
[ ! -e /usr/bin/chatguard ]
grep -q lobby /etc/chatguard/chatguard.toml
[ -s /var/lib/chatguard/chatguard.db ]

# A purge deletes both.
dpkg --purge chatguard
[ ! -e /calls ]
[ ! -e /etc/chatguard ]
[ ! -e /var/lib/chatguard ]
`

// TestDeb_Lifecycle checks what the package does when it is installed, upgraded, removed and
// purged.
func TestDeb_Lifecycle(t *testing.T) {
	folder := t.TempDir()
	deb := released(t, "chatguard_*_linux_amd64.deb")
	copyFile(t, deb, filepath.Join(folder, "chatguard.deb"), 0o644)
	must(t, os.WriteFile(filepath.Join(folder, "lifecycle"), []byte(lifecycle), 0o644))
	t.Log(output(t, exec.Command("mmdebstrap", "--format=null", "--variant=essential",
		"--include=passwd", "--customize-hook=copy-in "+folder+"/chatguard.deb "+folder+"/lifecycle /",
		`--customize-hook=chroot "$1" sh /lifecycle`, "bookworm")))
}
