package agent

import (
	_ "embed"
	"errors"
	"regexp"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// ErrGone is a sentinel.
var ErrGone = errors.New("gone")

//go:embed topology.yaml
var topology []byte

var _ error = (*failure)(nil)

var (
	pattern = regexp.MustCompile("a")
	table   = map[string]int{"a": 1}
	shadow  = []int{1}

	nodeName string
	cache    = map[string]int{}
	empty    = make(map[string]int)
	lock     = sync.Mutex{}
	once     = new(sync.Once)
	counter  = prometheus.NewCounter(prometheus.CounterOpts{})
	run      = start
	limit    = 3
	Exported = []string{"a"}
	pointed  = 1
)

type failure struct{ error }

func start() {
	cache["a"]++
	delete(table, "a")
	_ = &pointed
	shadow := []int{2}
	shadow[0] = 1
	_, _ = pattern, nodeName
}
