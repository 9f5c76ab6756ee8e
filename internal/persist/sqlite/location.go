package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"sync"

	"modernc.org/sqlite"
)

// location is where a database's files are, and which of them this process has open. SQLite
// continues to use open files that were deleted or renamed, and everything written to them would be
// lost. A nil location is that of a database in memory, where nothing can happen to files.
type location struct {
	path string
	gate sync.RWMutex // read-locked while a connection is opened

	mu   sync.Mutex
	file fs.FileInfo // the database; nil if it need not be in its place any more
	// beside are the write-ahead log and its index, as the first connection found them; nil before
	// that.
	beside [2]fs.FileInfo
	// log is followed if this process owns the database; otherwise it is nil.
	log *logMark
	// written is the file after this process last wrote to it. Only a checkpoint writes to it.
	written fs.FileInfo
	writing int // how many transactions of this process may write to it now
}

// besideSuffixes are the suffixes of the log and of its index.
var besideSuffixes = [2]string{"-wal", "-shm"}

// newLocation returns the place of an existing file.
func newLocation(path string) (*location, error) {
	file, err := os.Stat(path)
	if err != nil {
		return nil, unwritableError(path, err)
	}
	return &location{path: path, file: file}, nil
}

// check returns an error if one of the open files no longer has its name.
func (p *location) check() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.checkLocked()
}

func (p *location) checkLocked() error {
	if p.file == nil {
		return nil
	}
	there, err := os.Stat(p.path)
	switch {
	case err != nil:
		return &Error{path: p.path, problem: fileGone, err: err}
	case !os.SameFile(p.file, there):
		return &Error{path: p.path, problem: fileReplaced, err: errors.New("the file was replaced")}
	}
	for i, mine := range p.beside {
		if mine != nil && p.find(i) == nil {
			return logGoneError(p.path)
		}
	}
	if log, index := p.areCutLocked(); log || index {
		return logGoneError(p.path)
	}
	return nil
}

// find returns a file beside the database as it is now, or nil if it no longer has its name. i is
// its index in beside.
func (p *location) find(i int) fs.FileInfo {
	there, err := os.Stat(p.path + besideSuffixes[i])
	if err != nil || !os.SameFile(p.beside[i], there) {
		return nil
	}
	return there
}

// checkNames returns an error if the file has another name, too.
func (p *location) checkNames() error {
	if p == nil {
		return nil
	}
	if there, err := os.Stat(p.path); err == nil && countNames(there) > 1 {
		return TwoNamesError(p.path)
	}
	return nil
}

func logGoneError(path string) error {
	return &Error{path: path, problem: logGone, err: errors.New("the log was deleted, replaced or truncated")}
}

// leave makes check accept everything from now on.
func (p *location) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.file = nil
}

// notice records the files beside the database that a connection has just opened.
func (p *location) notice() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, suffix := range besideSuffixes {
		if p.beside[i] == nil {
			p.beside[i], _ = os.Stat(p.path + suffix) // nil if it doesn't exist
		}
	}
}

// forget records that no connection has files beside the database open. SQLite then deletes them.
func (p *location) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgetLocked()
}

func (p *location) forgetLocked() {
	p.beside = [2]fs.FileInfo{}
	p.written = nil
	if p.log != nil {
		p.log = &logMark{}
	}
}

// beginWrite must be called before this process writes to the file. It returns the function to call
// afterwards. In between, isTouched returns false, because it can't tell who writes.
func (p *location) beginWrite() (end func()) {
	if p == nil {
		return func() {}
	}
	touched := p.isTouched()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writing++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.writing--; !touched {
			p.written, _ = os.Stat(p.path) // nil if it is gone
		}
	}
}

// isTouched reports whether another program has written to the file since this process last wrote
// to it.
func (p *location) isTouched() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil || p.written == nil || p.writing > 0 {
		return false
	}
	there, err := os.Stat(p.path)
	return err == nil && (!there.ModTime().Equal(p.written.ModTime()) || there.Size() != p.written.Size())
}

// accept records that the file is intact as it is now.
func (p *location) accept() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written, _ = os.Stat(p.path)
}

// connector opens connections only to files that are in their places, and never to other files with
// their names.
type connector struct {
	driver.Connector
	place *location
}

func newConnector(source string, p *location) (driver.Connector, error) {
	base, err := sqlite.NewConnector(source)
	return connector{base, p}, err
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	c.place.gate.RLock()
	defer c.place.gate.RUnlock()
	if err := c.place.check(); err != nil {
		return nil, err
	}
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c.place.notice()
	return openConn{conn.(sqliteConn), c.place}, nil
}

// sqliteConn is what database/sql uses of SQLite's connections.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// openConn is an open connection to a file.
type openConn struct {
	sqliteConn
	place *location
}

// Close closes the connection. SQLite deletes the log when the last connection closes, which must
// not count as a deletion by another program.
func (c openConn) Close() error {
	p := c.place
	p.mu.Lock()
	defer p.mu.Unlock()
	wasThere := p.checkLocked() == nil
	err := c.sqliteConn.Close()
	if wasThere && isLogGone(p.checkLocked()) {
		p.forgetLocked()
	}
	return err
}
