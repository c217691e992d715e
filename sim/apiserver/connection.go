package apiserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// How client-go's connections fare in an outage, as the handler sets it: a ping
// after 10 s without an answer, and 10 s for its answer (handler/main.go); 3 s for a new
// connection (probe.Dial). The controllers have client-go's own 30 s + 15 s, and
// 30 s to dial.
const (
	HandlerLostAfter     = 20 * time.Second
	HandlerDialTimeout   = 3 * time.Second
	ControllersLostAfter = 45 * time.Second
	ControllersDial      = 30 * time.Second
)

// Between two tries of what is lost on the way: what TCP does.
const (
	firstResend = 200 * time.Millisecond
	lastResend  = 10 * time.Second
)

// ConnectionOptions are how a process reaches the server.
type ConnectionOptions struct {
	// Reach tells whether packets get there and back at this instant; nil for
	// always.
	Reach func() bool
	// LostAfter is how long an outage takes to break the connection; 0 is the
	// handler's.
	LostAfter time.Duration
	// DialTimeout bounds a new connection; 0 is the handler's.
	DialTimeout time.Duration
	// UserAgent is the field manager of writes that name none: the part before
	// the slash of the process's user agent.
	UserAgent string
}

// Connection is a process's way to the server: its requests and watches share
// it, and its breaks.
type Connection struct {
	ConnectionOptions

	store   *Store
	process *world.Process
	// lost: the connection broke, and each request dials anew.
	lost bool
}

// Connect gives a process its way to the server. It ends with the process.
func (s *Store) Connect(p *world.Process, options ConnectionOptions) *Connection {
	if options.LostAfter == 0 {
		options.LostAfter = HandlerLostAfter
	}
	if options.DialTimeout == 0 {
		options.DialTimeout = HandlerDialTimeout
	}
	if options.UserAgent == "" {
		options.UserAgent = "nmstate-handler"
	}
	return &Connection{ConnectionOptions: options, store: s, process: p}
}

// Cache makes what a manager's cache is for the process, empty until Start or
// until a kind is asked for. It takes the options of production's caches, as
// far as they select by name or label, and transform.
func (c *Connection) Cache(options cache.Options) *Cache { return newCache(c, options) }

func (c *Connection) up() bool {
	up := c.Reach == nil || c.Reach()
	if up {
		c.lost = false
	}
	return up
}

// cross waits until packets get across, or the connection is given up.
func (c *Connection) cross(ctx context.Context, r Request) error {
	if c.up() {
		return nil
	}
	limit, message := c.LostAfter, "http2: client connection lost"
	if c.lost {
		limit, message = c.DialTimeout, "dial tcp: i/o timeout"
	}
	begin, wait := c.store.world.Elapsed(), firstResend
	for {
		left := limit - (c.store.world.Elapsed() - begin)
		if left <= 0 {
			c.lost = true
			return &netError{r.String() + ": " + message, true}
		}
		if !c.process.Clock().Wait(ctx, nil, min(wait, left)) {
			return fmt.Errorf("%s: %w", r, ctx.Err())
		}
		if c.up() {
			return nil
		}
		wait = min(2*wait, lastResend)
	}
}

func (r Request) String() string {
	text := r.Verb + " " + r.Kind
	if r.Name != "" {
		text += " " + r.Name
	}
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	return text
}

// do sends a request, has it done, and waits for the reply. The effect may be
// there although an error is returned.
func (c *Connection) do(ctx context.Context, r Request, effect func() error) error {
	c.store.count(r)
	about := c.store.kindNamed(r.Kind).short
	if r.Name != "" {
		about += "/" + r.Name
	}
	if r.Subresource != "" {
		about += " " + r.Subresource
	}
	err := c.process.Call(ctx, "api", r.Verb, about, func() error {
		if err := c.cross(ctx, r); err != nil {
			return err
		}
		if refuse := c.store.Faults.Answer; refuse != nil {
			if err := refuse(r); err != nil {
				return err
			}
		}
		return effect()
	})
	switch lost := (*netError)(nil); {
	case errors.Is(err, world.ErrFailed):
		return &netError{r.String() + ": connect: connection refused", false}
	case errors.Is(err, world.ErrLost):
		return &netError{r.String() + ": read: connection reset by peer", false}
	case errors.As(err, &lost):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", r, ctx.Err())
	}
	if lost := c.cross(ctx, r); lost != nil {
		return lost
	}
	return err
}

// netError is what client-go returns when there is no answer.
type netError struct {
	text    string
	timeout bool
}

func (e *netError) Error() string   { return e.text }
func (e *netError) Timeout() bool   { return e.timeout }
func (e *netError) Temporary() bool { return true }

func (s *Store) kindNamed(name string) *kind {
	for _, k := range s.kinds {
		if k.name == name {
			return k
		}
	}
	panic("apiserver: the model has no kind " + name)
}
