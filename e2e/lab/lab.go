//go:build linux

package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"
)

// DefaultRoot holds the state folders of all labs.
const DefaultRoot = "/run/kubernetes-nmstate-lab"

// Options of a lab. The zero value is the default topology with an embedded
// control plane and without a handler.
type Options struct {
	// Name lets several labs exist at once; "default" if empty.
	Name string
	// Root holds the state folders, DefaultRoot if empty.
	Root string
	// Topology, ThreeNodes if nil.
	Topology *Topology
	// NM is the NetworkManager of nodes whose topology names none: NM142, NM152
	// (each in a Debian root that is made once and cached), "host" (the machine's)
	// or "auto" (1.52 where it can be had; the default).
	NM string
	// VM has the fabric and the nodes run in a virtual machine with a kernel of
	// Debian that has all its drivers; the control plane stays outside.
	VM bool
	// Disk of nodes: DiskFolder (default) or DiskImage, see disk.go.
	Disk string
	// NMLogLevel is NetworkManager's log level, INFO if empty.
	NMLogLevel string
	// Binary is started for the long-lived processes; its main calls Child. This
	// executable if empty.
	Binary string
	// Handler is the handler's executable, started in each node with HandlerArgs,
	// NODE_NAME and KUBECONFIG; none if empty.
	Handler     string
	HandlerArgs []string
	// Binds are folders of the machine that nodes see, read-only, at the same
	// path. Those of Handler and Binary and the project's cache are always there.
	Binds []string
	// ControlPlane is "embedded" (default) or "none". With Kubeconfig it is that
	// cluster instead.
	ControlPlane string
	Kubeconfig   string
	// KubebuilderAssets is the value of that environment variable, if it is set.
	KubebuilderAssets string
	// Deploy is the repository's deploy folder: its definitions, namespace and
	// rights are put into the cluster; nothing if empty.
	Deploy string
	// Manifests are more files or folders to apply to the cluster.
	Manifests []string
	// AuditLog makes the embedded API server log its requests in this file.
	AuditLog string
	// Progress gets one line for each step; none if nil.
	Progress func(line string)
	// Clock is the real one if nil.
	Clock clock.WithTicker
}

// record is what later commands need to know about a lab, in lab.json.
type record struct {
	Name     string    `json:"name"`
	Topology *Topology `json:"topology"`
	NM       string    `json:"nm"` // 1.42, 1.52 or host
	// Bases are where programs of nodes come from, by NetworkManager.
	Bases      map[string]string `json:"bases"`
	Disk       string            `json:"disk"`
	NMLogLevel string            `json:"nmLogLevel"`
	Binds      []string          `json:"binds,omitempty"`
	VM         *vmParts          `json:"vm,omitempty"`
	Handler    []string          `json:"handler,omitempty"`
	Kubeconfig string            `json:"kubeconfig,omitempty"`
	APITarget  string            `json:"apiTarget,omitempty"` // host:port behind the proxy
	Assets     string            `json:"assets,omitempty"`    // programs of the control plane
	CRDs       string            `json:"crds,omitempty"`
	AuditLog   string            `json:"auditLog,omitempty"`
}

// Lab is one lab on this machine.
type Lab struct {
	opts Options
	dir  string
	rec  *record
	at   place
}

// Up builds a lab, after removing what is left of one with the same name. When
// it fails or ctx ends, nothing is left behind.
func Up(ctx context.Context, opts Options) (*Lab, error) {
	l, err := prepare(&opts)
	if err != nil {
		return nil, err
	}
	unlock, err := l.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := l.clean(ctx); err != nil {
		return nil, fmt.Errorf("removing what is left of lab %s: %w", l.opts.Name, err)
	}
	err = l.build(ctx)
	if err == nil {
		return l, nil
	}
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return nil, errors.Join(err, l.remove(cleanup))
}

// Open finds a lab that is up, or what is left of it.
func Open(root, name string) (*Lab, error) {
	opts := Options{Root: root, Name: name}
	if err := opts.complete(); err != nil {
		return nil, err
	}
	l := &Lab{opts: opts, dir: filepath.Join(opts.Root, opts.Name)}
	rec, err := readRecord(l.dir)
	if err != nil {
		return nil, err
	}
	l.rec, l.at = rec, here{l}
	if rec.VM != nil {
		l.at = inVM{l}
	}
	return l, nil
}

// Remove takes down the lab of that name, whatever state it is in. None there
// is no error.
func Remove(ctx context.Context, root, name string) error {
	opts := Options{Root: root, Name: name}
	if err := opts.complete(); err != nil {
		return err
	}
	l := &Lab{opts: opts, dir: filepath.Join(opts.Root, opts.Name)}
	return l.Down(ctx)
}

// Down ends every process of the lab and removes its folder. It may be called
// again.
func (l *Lab) Down(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return errNotRoot()
	}
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return l.remove(ctx)
}

func (o *Options) complete() error {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&o.Name, "default")
	set(&o.Root, DefaultRoot)
	set(&o.NM, nmAuto)
	set(&o.NMLogLevel, "INFO")
	set(&o.Disk, DiskFolder)
	set(&o.ControlPlane, "embedded")
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if !regexp.MustCompile(`^[a-z0-9][-a-z0-9]{0,19}$`).MatchString(o.Name) {
		return fmt.Errorf("name of the lab: %q is not 1 to 20 characters of a-z, 0-9 and -", o.Name)
	}
	// A unix socket's path has at most 107 characters.
	if len(o.Root) > 40 {
		return fmt.Errorf("folder of the labs: %q is longer than 40 characters", o.Root)
	}
	if o.Binary == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding this executable: %w", err)
		}
		o.Binary = self
	}
	return nil
}

// lock makes sure that one command at a time works on a lab. It is on the state
// folder itself, and gone with the process that holds it.
func (l *Lab) lock(ctx context.Context) (func(), error) {
	var folder *os.File
	err := l.until(ctx, "another command that works on lab "+l.opts.Name, func() (bool, error) {
		if err := os.MkdirAll(l.dir, 0o755); err != nil {
			return false, fmt.Errorf("making the lab's folder: %w", err)
		}
		f, err := os.Open(l.dir)
		if err != nil {
			return false, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			_ = f.Close()
			return false, err
		}
		// The folder may have been removed, and made again, before we had the lock.
		mine, err := f.Stat()
		now, errNow := os.Stat(l.dir)
		if err != nil || errNow != nil || !os.SameFile(mine, now) {
			_ = f.Close()
			return false, errors.Join(err, errNow)
		}
		folder = f
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = folder.Close() }, nil
}

// clean ends the processes and empties the folder.
func (l *Lab) clean(ctx context.Context) error {
	all, err := findProcesses(l.dir)
	if err != nil {
		return err
	}
	var group errgroup.Group
	for _, p := range all {
		group.Go(func() error { return p.kill(ctx) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("reading the lab's folder: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(l.dir, e.Name())
		// A child of a process just killed may still write its last file.
		err := l.until(ctx, "the end of what writes to "+path, func() (bool, error) {
			err := os.RemoveAll(path)
			return err == nil, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// remove is clean and the folder itself.
func (l *Lab) remove(ctx context.Context) error {
	if err := l.clean(ctx); err != nil {
		return err
	}
	if err := os.Remove(l.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing the lab's folder: %w", err)
	}
	// The parent goes with the last lab.
	if err := os.Remove(l.opts.Root); err != nil && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing the labs' folder: %w", err)
	}
	return nil
}

func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	// Renamed into place: readers never see half of it.
	if err := os.WriteFile(path+".new", append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
