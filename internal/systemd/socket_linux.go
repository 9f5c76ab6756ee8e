package systemd

import (
	"errors"
	"syscall"
)

// checkSocket returns an error if the file descriptor isn't a listening stream socket.
func checkSocket(fd int) error {
	kind, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE)
	if err != nil {
		return errors.New("systemd passes something that is no socket: use ListenStream=")
	}
	if kind != syscall.SOCK_STREAM {
		return errors.New("systemd passes a datagram socket: use ListenStream=")
	}
	if listens, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN); err != nil || listens == 0 {
		return errors.New("systemd passes a connection instead of a listener: use Accept=no")
	}
	return nil
}
