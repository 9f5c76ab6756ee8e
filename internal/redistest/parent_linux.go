package redistest

import "syscall"

// endWithParent makes Linux kill a process when the thread that started it ends. That thread ends
// with the test's process, even if that panics or is killed. Go ends a thread earlier only if a
// goroutine has locked it.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
