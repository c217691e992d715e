package ui

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// slowest is how long a browser may take for a request's head.
const slowest = 10 * time.Second

// Serve answers on the loopback until the context ends; tell gets the address.
func Serve(ctx context.Context, port int, handler http.Handler, tell func(address string)) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("listening on the loopback: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: slowest, BaseContext: func(net.Listener) context.Context { return ctx }}
	tell("http://" + listener.Addr().String() + "/")
	ended := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer ended()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the page: %w", err)
	}
	return nil
}
