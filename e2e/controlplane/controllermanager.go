package controlplane

import "strings"

// HasGarbageCollector says whether objects whose owners are gone are deleted:
// the binaries of envtest have no kube-controller-manager.
func (c *ControlPlane) HasGarbageCollector() bool {
	return c.options.Assets.Has(controllerManagerProgram)
}

// startControllerManager is called with c.mu held.
func (c *ControlPlane) startControllerManager() error {
	manager, err := c.run(controllerManagerProgram,
		"--kubeconfig="+c.files.controllerManagerKubeconfig(),
		"--authentication-kubeconfig="+c.files.controllerManagerKubeconfig(),
		"--authorization-kubeconfig="+c.files.controllerManagerKubeconfig(),
		// No node lifecycle: the lab's nodes have no kubelet that sends leases.
		"--controllers="+strings.Join(append([]string{"garbage-collector-controller", "namespace-controller", "serviceaccount-controller"}, c.options.Controllers...), ","),
		"--use-service-account-credentials=true",
		"--leader-elect=false",
		"--secure-port=0",
		// The default of 20 requests a second would spread the collector's
		// first look at every kind of object over several seconds.
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		"--v=0",
	)
	if err != nil {
		return err
	}
	c.controllerManager = manager
	return nil
}
