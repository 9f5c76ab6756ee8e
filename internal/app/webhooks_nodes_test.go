package app

import (
	"testing"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/host"
	"github.com/chatguard/chatguard/internal/node"
)

// Of several nodes, the reporter knows which one acts in a channel. A node alone always acts.
func TestReportOptions_Leads(t *testing.T) {
	a := &App{Host: &host.Host{}, directory: &directory{}, node: &node.Node{}}
	if a.reportOptions().Leads != nil {
		t.Error("a node alone asks who leads")
	}
	a.node.Standby = chat.NewStandby(nil, nil)
	defer a.node.Standby.Close()
	if o := a.reportOptions(); o.Leads == nil {
		t.Error("one of several nodes doesn't know who leads")
	} else if leads, known := o.Leads("1"); leads || known {
		t.Errorf("before the first message: %v, %v", leads, known)
	}
}
