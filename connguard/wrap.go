package connguard

import "net"

// Wrap returns a connection whose Close also closes the session, for a server or library that
// closes the connection itself. Its method NetConn returns conn; closing conn doesn't close the
// session. A TCP connection keeps the methods of *net.TCPConn, because some fast paths look for
// them, above all when they write several buffers at once. On a nil Session, Wrap returns conn.
func (s *Session) Wrap(conn net.Conn) net.Conn {
	if s == nil {
		return conn
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &tcpConn{tcp, s}
	}
	return &otherConn{conn, s}
}

// tcpConn is a TCP connection of a session.
type tcpConn struct {
	*net.TCPConn
	session *Session
}

func (c *tcpConn) Close() error {
	defer c.session.Close()
	return c.TCPConn.Close()
}

func (c *tcpConn) NetConn() net.Conn { return c.TCPConn }

// otherConn is any other connection of a session, such as one under TLS or a Unix socket.
type otherConn struct {
	net.Conn
	session *Session
}

func (c *otherConn) Close() error {
	defer c.session.Close()
	return c.Conn.Close()
}

func (c *otherConn) NetConn() net.Conn { return c.Conn }
