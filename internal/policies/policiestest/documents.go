// Package policiestest has documents that nodes of a test share.
package policiestest

import (
	"context"
	"fmt"
	"sync"

	"github.com/chatguard/chatguard/shared"
)

// ErrAway is the error of documents that can't be reached.
var ErrAway = fmt.Errorf("gone: %w", shared.ErrAway)

// Documents are documents in memory. Create them with New.
type Documents struct {
	mu        sync.Mutex
	stale     error
	Data      map[string][]byte
	Revisions map[string]int64
	Err       error // of all methods, unless nil
	// Before is called once before a document is set, without the lock.
	Before func()
}

// New returns Documents without any document. stale is the error of SetDocument if the document has
// a later revision.
func New(stale error) *Documents {
	return &Documents{stale: stale, Data: map[string][]byte{}, Revisions: map[string]int64{}}
}

// Change calls change while no node uses the documents.
func (d *Documents) Change(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// Node is one node's view of Documents. It implements policies.Documents.
type Node struct {
	all     *Documents
	Changed chan string
}

// Node returns the view of another node.
func (d *Documents) Node() *Node { return &Node{d, make(chan string, 10)} }

// Document implements policies.Documents.
func (n *Node) Document(_ context.Context, name string) ([]byte, int64, error) {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	return n.all.Data[name], n.all.Revisions[name], n.all.Err
}

// SetDocument implements policies.Documents.
func (n *Node) SetDocument(_ context.Context, name string, data []byte, revision int64) error {
	d := n.all
	if before := d.Before; before != nil {
		d.Before = nil
		before()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.Err != nil:
		return d.Err
	case d.Revisions[name] > revision:
		return d.stale
	}
	d.Data[name], d.Revisions[name] = data, revision+1
	return nil
}

// ReadDocuments implements policies.Documents.
func (n *Node) ReadDocuments(_ context.Context, names []string, read func(string, []byte, int64)) error {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	for _, name := range names {
		read(name, n.all.Data[name], n.all.Revisions[name])
	}
	return n.all.Err
}

// Changes implements policies.Documents.
func (n *Node) Changes() <-chan string { return n.Changed }
