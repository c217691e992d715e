package probe

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	dnsPort = "53"
	// resendInterval is the time after which an unanswered question is sent
	// again: UDP loses packets, the first one above all.
	resendInterval = 500 * time.Millisecond
	// udpPayload is what we can take in one datagram.
	udpPayload = 4096
)

// errTruncated: the answer did not fit into a datagram.
var errTruncated = errors.New("the answer was cut off")

// resolves passes as soon as one name server answers with a record.
//
// An answer counts when its code is NOERROR and it holds a record. A server
// that lost its own way out says SERVFAIL, one that does not serve us REFUSED,
// and one that knows nothing says NXDOMAIN to everything or refers us on:
// none of them resolves names for this host.
func (l *Live) resolves(ctx context.Context, host string, kinds ...dnsmessage.Type) error {
	servers, err := l.servers(ctx)
	if err != nil {
		return err
	}
	return firstOf(ctx, servers, func(ctx context.Context, server netip.Addr) error {
		return l.resolvesAt(ctx, server, host, kinds)
	})
}

func (l *Live) resolvesAt(ctx context.Context, server netip.Addr, host string, kinds []dnsmessage.Type) error {
	budget := l.budget(ctx)
	err := l.resolve(ctx, server, host, kinds)
	if errors.Is(err, errNoAnswer) {
		return fmt.Errorf("%s did not answer for %s%s", server, host, budget())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", server, err)
	}
	return nil
}

// resolve asks for one type of record after the other until there is one.
func (l *Live) resolve(ctx context.Context, server netip.Addr, host string, kinds []dnsmessage.Type) error {
	var last error
	for _, kind := range kinds {
		q, err := newQuestion(host, kind)
		if err != nil {
			return err
		}
		_, last = l.ask(ctx, server, q)
		if last == nil || errors.Is(last, errNoAnswer) {
			return last
		}
	}
	return last
}

// ask returns the answer when it has a record.
func (l *Live) ask(ctx context.Context, server netip.Addr, q question) ([]byte, error) {
	packet, err := l.exchange(ctx, "udp", server, q)
	if errors.Is(err, errTruncated) {
		packet, err = l.exchange(ctx, "tcp", server, q)
	}
	if err != nil && silent(ctx, err) {
		return nil, errNoAnswer
	}
	return packet, err
}

// exchange asks on a socket of its own, which ends with ctx.
func (l *Live) exchange(ctx context.Context, network string, server netip.Addr, q question) ([]byte, error) {
	to, err := onLink(server)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(to.String(), dnsPort))
	if err != nil {
		return nil, readable(err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if network == "tcp" {
		return q.overTCP(conn)
	}
	for {
		if _, err := conn.Write(q.packet); err != nil {
			return nil, readable(err)
		}
		if err := conn.SetReadDeadline(l.Clock.Now().Add(resendInterval)); err != nil {
			return nil, err
		}
		packet, err := q.overUDP(conn)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return packet, err
		}
	}
}

// question is one query and its wire form.
type question struct {
	id     uint16
	ask    dnsmessage.Question
	packet []byte
}

func newQuestion(host string, kind dnsmessage.Type) (question, error) {
	name, err := dnsmessage.NewName(strings.TrimSuffix(host, ".") + ".")
	if err != nil {
		return question{}, fmt.Errorf("%q is not a host name: %w", host, err)
	}
	var id [2]byte
	_, _ = rand.Read(id[:]) // It never fails.
	q := question{
		id:  binary.BigEndian.Uint16(id[:]),
		ask: dnsmessage.Question{Name: name, Type: kind, Class: dnsmessage.ClassINET},
	}
	message := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: q.id, RecursionDesired: true},
		Questions: []dnsmessage.Question{q.ask},
	}
	if q.packet, err = message.Pack(); err != nil {
		return question{}, fmt.Errorf("%q is not a host name: %w", host, err)
	}
	return q, nil
}

// overUDP reads until the answer comes; what is not ours is passed over.
func (q question) overUDP(conn net.Conn) ([]byte, error) {
	buffer := make([]byte, udpPayload)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return nil, readable(err)
		}
		if ours, err := q.judge(buffer[:n]); ours {
			return buffer[:n], err
		}
	}
}

func (q question) overTCP(conn net.Conn) ([]byte, error) {
	packet := binary.BigEndian.AppendUint16(nil, uint16(len(q.packet)))
	if _, err := conn.Write(append(packet, q.packet...)); err != nil {
		return nil, readable(err)
	}
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, readable(err)
	}
	answer := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, answer); err != nil {
		return nil, readable(err)
	}
	ours, err := q.judge(answer)
	if !ours {
		return nil, errors.New("the answer belongs to another question")
	}
	return answer, err
}

// judge tells whether a packet answers the question, and what the answer is
// worth.
func (q question) judge(packet []byte) (ours bool, err error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(packet)
	if err != nil || !header.Response || header.ID != q.id {
		return false, nil
	}
	if asked, err := parser.Question(); err == nil && !q.same(asked) {
		return false, nil
	}
	if header.RCode != dnsmessage.RCodeSuccess {
		return true, fmt.Errorf("answered %s for %s", codeName(header.RCode), q.ask.Name.String())
	}
	if header.Truncated {
		return true, errTruncated
	}
	if parser.SkipAllQuestions() == nil {
		if _, err := parser.AnswerHeader(); err == nil {
			return true, nil
		}
	}
	return true, fmt.Errorf("%w of %s", errNoRecord, q.ask.Name.String())
}

func (q question) same(asked dnsmessage.Question) bool {
	return asked.Type == q.ask.Type && strings.EqualFold(asked.Name.String(), q.ask.Name.String())
}

// codeName is the name that people know a response code by.
func codeName(code dnsmessage.RCode) string {
	switch code {
	case dnsmessage.RCodeFormatError:
		return "FORMERR"
	case dnsmessage.RCodeServerFailure:
		return "SERVFAIL"
	case dnsmessage.RCodeNameError:
		return "NXDOMAIN"
	case dnsmessage.RCodeNotImplemented:
		return "NOTIMP"
	case dnsmessage.RCodeRefused:
		return "REFUSED"
	}
	return fmt.Sprintf("code %d", code)
}
