package observe

import (
	"context"
	"fmt"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// kernelBuffer holds the messages of some thousand changes; what does not fit
// is an overrun, after which the subscription is made again.
const kernelBuffer = 1 << 20

// watchKernel follows links, addresses, routes and rules until the socket
// fails. An overrun (ENOBUFS) is such a failure.
func (w *Watcher) watchKernel(ctx context.Context, up func()) error {
	socket, err := subscribeKernel()
	if err != nil {
		return err
	}
	defer socket.Close()
	stop := context.AfterFunc(ctx, socket.Close)
	defer stop()

	up()
	filter := newFilter()
	for {
		messages, from, err := socket.Receive()
		if err != nil {
			return fmt.Errorf("receiving: %w", err)
		}
		if from.Pid != nl.PidKernel {
			continue
		}
		for _, message := range messages {
			if filter.matters(message.Header.Type, message.Data) {
				w.trigger(ctx)
			}
		}
	}
}

func subscribeKernel() (*nl.NetlinkSocket, error) {
	socket, err := nl.Subscribe(unix.NETLINK_ROUTE,
		unix.RTNLGRP_LINK,
		unix.RTNLGRP_IPV4_IFADDR, unix.RTNLGRP_IPV6_IFADDR,
		unix.RTNLGRP_IPV4_ROUTE, unix.RTNLGRP_IPV6_ROUTE,
		unix.RTNLGRP_IPV4_RULE, unix.RTNLGRP_IPV6_RULE)
	if err != nil {
		return nil, fmt.Errorf("subscribing: %w", err)
	}
	// A smaller buffer only makes overruns likelier.
	_ = socket.SetReceiveBufferSize(kernelBuffer, true)
	return socket, nil
}
