package agent

import "time"

func init() { _ = time.Now() }
