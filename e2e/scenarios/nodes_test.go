//go:build linux

package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// AddNode has a node of the lab, which was off until now, join the cluster.
func (l *Lab) AddNode(ctx context.Context, number int) error {
	name := fmt.Sprintf("node%d", number)
	n, err := l.cluster.Node(name)
	if err != nil {
		return err
	}
	object := l.out[name]
	if object == nil {
		return fmt.Errorf("%s is in the cluster already", name)
	}
	delete(l.out, name)
	status := object.Status
	if err := l.Client().Create(ctx, object); err != nil {
		return fmt.Errorf("creating the Node: %w", err)
	}
	object.Status = status // The API server takes it apart from the rest only.
	if err := l.Client().Status().Update(ctx, object); err != nil {
		return fmt.Errorf("telling that the Node is ready: %w", err)
	}
	return n.Power(ctx, "on")
}

// RemoveNode is kubectl delete node, and the machine switched off. A lab in which that
// was done is not used again.
func (l *Lab) RemoveNode(ctx context.Context, node string) error {
	n, err := l.cluster.Node(node)
	if err != nil {
		return err
	}
	if err := n.Power(ctx, "off"); err != nil {
		return err
	}
	var object corev1.Node
	if err := l.Client().Get(ctx, client.ObjectKey{Name: node}, &object); err != nil {
		return fmt.Errorf("reading the Node: %w", err)
	}
	again := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: object.Labels, Annotations: object.Annotations}, Spec: object.Spec, Status: object.Status}
	l.out[node] = &again
	if err := l.Client().Delete(ctx, &object); err != nil {
		return fmt.Errorf("deleting the Node: %w", err)
	}
	return nil
}

// keepOut has nodes of the lab join only later: they have never been in the cluster.
func (l *Lab) keepOut(ctx context.Context, nodes []string) error {
	for _, node := range nodes {
		if err := l.RemoveNode(ctx, node); err != nil {
			return err
		}
		gone, err := l.Until(ctx, l.Patience(), func() (bool, error) {
			err := l.Client().Get(ctx, client.ObjectKey{Name: node}, &v1.NodeNetworkState{})
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		})
		if err != nil || !gone {
			return errors.Join(err, fmt.Errorf("the NodeNetworkState of %s outlives its Node", node))
		}
		n, err := l.cluster.Node(node)
		if err != nil {
			return err
		}
		if err := empty(n); err != nil {
			return err
		}
	}
	return nil
}

// empty takes away what a node has written to its disk.
func empty(n *lab.Node) error {
	for _, folder := range []string{"/etc", "/var"} {
		files, err := filepath.Glob(filepath.Join(n.DiskPath(folder), "*"))
		if err != nil {
			return err
		}
		for _, path := range files {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}
