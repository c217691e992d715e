package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	clientcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/nmstate/kubernetes-nmstate/plugin/bundle"
)

const (
	// ourPods are handler and controllers, wherever they were installed.
	ourPods = "app=kubernetes-nmstate"
	// logLines of each container are taken, and no more than logBytes.
	logLines = 5000
	logBytes = 4 << 20
)

// logsOf reads the logs of our pods and the API server's version.
func (p *plugin) logsOf(ctx context.Context, o *bundle.Objects) error {
	config, err := p.config()
	if err != nil {
		return err
	}
	servers, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to the cluster: %w", err)
	}
	if found, err := servers.ServerVersion(); err == nil {
		o.Versions["Kubernetes"] = found.GitVersion
	} else {
		o.Missing = append(o.Missing, "the version of Kubernetes: "+err.Error())
	}
	core, err := clientcorev1.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to the cluster: %w", err)
	}
	pods, err := core.Pods("").List(ctx, metav1.ListOptions{LabelSelector: ourPods})
	switch {
	case err != nil:
		o.Missing = append(o.Missing, "the logs: "+err.Error())
		return nil
	case len(pods.Items) == 0:
		o.Missing = append(o.Missing, "the logs: no pod has the label "+ourPods)
	}
	o.Logs = map[string][]byte{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, container := range pod.Spec.Containers {
			name := pod.Name + "." + container.Name
			lines, most := int64(logLines), int64(logBytes)
			stream, err := core.Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: container.Name, TailLines: &lines, LimitBytes: &most, Timestamps: true}).Stream(ctx)
			if err != nil {
				o.Missing = append(o.Missing, "the log of "+name+": "+err.Error())
				continue
			}
			text, err := io.ReadAll(stream)
			_ = stream.Close()
			if err != nil {
				o.Missing = append(o.Missing, "a part of the log of "+name+": "+err.Error())
			}
			o.Logs[name] = text
		}
	}
	return nil
}
