package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// maxLog is the size in bytes to which SQLite truncates a longer write-ahead log when it restarts
// the log.
const maxLog = 4 << 20

// logMark has the header and the minimum size that a log must still have. The zero value requires
// nothing.
//
// SQLite doesn't notice if another program truncates the log. It goes on appending at the former
// end, and a checkpoint then moves the zeros of the gap into the database.
type logMark struct {
	header [32]byte // changes whenever SQLite restarts the log; zero if the log is empty
	size   int64
}

// follow reports whether the log at path still has what the mark requires. If so, it updates the
// mark to the log as it is now. If the log can't be read, follow returns true.
func (m *logMark) follow(path string) (isWhole bool) {
	file, err := os.Open(path) // SQLite has no locks on this file that closing it would release
	if err != nil {
		return true
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return true
	}
	now := logMark{size: info.Size()}
	if now.size == 0 {
		return m.size == 0
	}
	switch n, err := file.ReadAt(now.header[:], 0); {
	case isUnreadable(err):
		return true
	case n < len(now.header) || !now.isLog():
		return m.size == 0 // a power cut may leave such a log, which SQLite restarts
	}
	known := int64(len(m.header))
	if now.header == m.header {
		if now.size < min(m.size, maxLog) || !m.hasLast(file) {
			return false
		}
		known = m.size
	}
	now.size = max(now.size, known)
	if !now.hasLast(file) {
		now.size = known // a power cut may leave zeros at the end, which SQLite overwrites
	}
	*m = now
	return true
}

// isLog reports whether the header is that of an SQLite log.
func (m *logMark) isLog() bool {
	const magic = 0x377f0682 // or the next number
	return binary.BigEndian.Uint32(m.header[:])&^1 == magic
}

// hasLast reports whether a file has the last frame that the mark requires. A frame is a page with
// a header that begins with the page's number, which is never 0.
func (m *logMark) hasLast(file *os.File) bool {
	const frameHeader = 24
	frame := frameHeader + int64(binary.BigEndian.Uint32(m.header[8:]))
	start := int64(len(m.header))
	frames := (min(m.size, maxLog) - start) / frame
	if frames == 0 {
		return true
	}
	page := make([]byte, 4)
	_, err := file.ReadAt(page, start+(frames-1)*frame)
	return isUnreadable(err) || !bytes.Equal(page, make([]byte, len(page)))
}

// isUnreadable reports whether err is an error other than the end of the file.
func isUnreadable(err error) bool { return err != nil && !errors.Is(err, io.EOF) }

// areCut reports whether another program has truncated the log or its index in place. It ignores
// other files that have their names.
func (p *location) areCut() (log, index bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.areCutLocked()
}

func (p *location) areCutLocked() (log, index bool) {
	if p.log == nil {
		return false, false
	}
	if there := p.find(1); there != nil {
		index = there.Size() == 0 && p.beside[1].Size() > 0 // SQLite itself leaves a few bytes
	}
	return p.find(0) != nil && !p.log.follow(p.path+besideSuffixes[0]), index
}

// emptyLog calls do, which empties the log. Only the database's owner calls it.
func (p *location) emptyLog(do func() error) error {
	if p == nil {
		return do()
	}
	p.follow(nil)
	defer p.follow(&logMark{})
	return do()
}

// follow starts to follow the log, or stops if mark is nil.
func (p *location) follow(mark *logMark) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = mark
}
