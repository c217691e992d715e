package probe

import "net"
