package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const readyTimeout = 2 * time.Minute

// Options say what to start.
type Options struct {
	// Dir keeps everything; made when missing. See Files.
	Dir string
	// Assets are the programs, as Locate found them.
	Assets Assets
	// Port of the API server on 127.0.0.1. 0 takes that of the last start in
	// Dir, or a free one below 32768.
	Port int
	// CRDs is a folder or file of custom resource definitions that are
	// installed before Start returns. Optional.
	CRDs string
	// Controllers of kube-controller-manager, beside those that a lab needs. Optional.
	Controllers []string
	// AuditLog is the file to which every API request is appended, see
	// ReadRequests. Optional.
	AuditLog string
	// Log gets lines for people. Optional.
	Log io.Writer
	// ReadyTimeout is how long the API server may take, 2 minutes if 0.
	ReadyTimeout time.Duration
	// Clock measures what Log tells, the real one if nil.
	Clock clock.PassiveClock
}

// ControlPlane is a running control plane. Its methods may be called from
// several goroutines.
type ControlPlane struct {
	options Options
	files   Files
	port    int
	lock    *os.File
	died    chan error

	mu                                 sync.Mutex
	etcd, apiServer, controllerManager *process
}

// Start starts a control plane and returns when its API server is ready. The
// context bounds the start only; the processes run until Stop or until this
// process ends.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	c, err := prepare(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("starting the control plane in %s: %w", options.Dir, err)
	}
	begin := c.options.Clock.Now()
	if err := c.startAll(ctx); err != nil {
		c.Stop()
		return nil, fmt.Errorf("starting the control plane in %s: %w", options.Dir, err)
	}
	c.say("ready after %.1f s: %s", c.options.Clock.Since(begin).Seconds(), c.APIServerAddress())
	return c, nil
}

// prepare takes the folder and makes the files that the processes read.
func prepare(ctx context.Context, options Options) (*ControlPlane, error) {
	if options.Dir == "" {
		return nil, errors.New("no folder is given")
	}
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, err
	}
	if options.Log == nil {
		options.Log = io.Discard
	}
	if options.ReadyTimeout == 0 {
		options.ReadyTimeout = readyTimeout
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	for _, path := range []*string{&options.CRDs, &options.AuditLog} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &ControlPlane{options: options, files: Files{Dir: dir}, died: make(chan error, 1)}
	if c.lock, err = lock(c.files.PIDFile()); err != nil {
		return nil, err
	}
	if err := c.writeFiles(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *ControlPlane) writeFiles(ctx context.Context) error {
	var err error
	if c.port, err = c.files.ensurePort(ctx, c.options.Port); err != nil {
		return err
	}
	if err := c.files.ensureSecrets(); err != nil {
		return err
	}
	if err := c.files.writeKubeconfigs(c.port); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	for _, program := range []string{etcdProgram, apiServerProgram, controllerManagerProgram} {
		if err := os.RemoveAll(c.files.Log(program)); err != nil {
			return err
		}
	}
	return c.files.writeAuditPolicy()
}

func (c *ControlPlane) startAll(ctx context.Context) error {
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if err := c.installCRDs(); err != nil {
		return err
	}
	if !c.HasGarbageCollector() {
		c.say("no garbage collection: %s has no %s; objects whose owner is deleted stay", c.options.Assets.Dir, controllerManagerProgram)
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.startControllerManager()
}

func (c *ControlPlane) installCRDs() error {
	if c.options.CRDs == "" {
		return nil
	}
	config, err := c.files.RESTConfig()
	if err != nil {
		return err
	}
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{
		Paths:              []string{c.options.CRDs},
		ErrorIfPathMissing: true,
	})
	if err != nil {
		return fmt.Errorf("installing the custom resource definitions of %s: %w", c.options.CRDs, err)
	}
	return nil
}

// run starts one of the programs and watches for an end that nobody asked for.
func (c *ControlPlane) run(program string, arguments ...string) (*process, error) {
	p, err := c.launch(program, arguments...)
	if err == nil {
		c.watch(p)
	}
	return p, err
}

// launch starts one of the programs; who starts it looks after it.
func (c *ControlPlane) launch(program string, arguments ...string) (*process, error) {
	return start(c.options.Assets.Path(program), c.files.Dir, c.files.Log(program), arguments...)
}

// watch tells Wait of an end that nobody asked for.
func (c *ControlPlane) watch(p *process) {
	go func() {
		<-p.ended
		if p.asked.Load() || c.excused(p) {
			return
		}
		select {
		case c.died <- p.failure():
		default: // the first one says it
		}
	}()
}

// excused says whether the program may end by itself: a controller manager that
// just started gives up after 10 seconds without an API server, and is started
// again with it.
func (c *ControlPlane) excused(p *process) bool {
	if p.name != controllerManagerProgram {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.controllerManager != p || !c.apiServer.running()
}

// Wait returns when a program has ended that nobody asked to end, with the
// reason, or with the context's error when that is done.
func (c *ControlPlane) Wait(ctx context.Context) error {
	select {
	case err := <-c.died:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stop ends every process at once and gives up the folder, which Start can take
// up again. It may be called more than once.
func (c *ControlPlane) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.controllerManager.kill()
	c.apiServer.kill()
	c.etcd.kill()
	c.controllerManager, c.apiServer, c.etcd = nil, nil, nil
	if c.lock != nil {
		_ = c.lock.Close()
		c.lock = nil
	}
}

// Files names the files of this control plane.
func (c *ControlPlane) Files() Files { return c.files }

// Kubeconfig is the path of the administrator's kubeconfig.
func (c *ControlPlane) Kubeconfig() string { return c.files.Kubeconfig() }

// RESTConfig is the administrator's access.
func (c *ControlPlane) RESTConfig() (*rest.Config, error) { return c.files.RESTConfig() }

// NodeKubeconfig is Files.NodeKubeconfig.
func (c *ControlPlane) NodeKubeconfig(server, token string) ([]byte, error) {
	return c.files.NodeKubeconfig(server, token)
}

// APIServerAddress is where the API server listens, as host:port.
func (c *ControlPlane) APIServerAddress() string { return address(c.port) }

func (c *ControlPlane) say(format string, arguments ...any) {
	_, _ = fmt.Fprintf(c.options.Log, "control plane: "+format+"\n", arguments...)
}
