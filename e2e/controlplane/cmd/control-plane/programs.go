package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
)

// programs lets make fetch or build once what every later start only finds.
func programs() *cobra.Command {
	return &cobra.Command{
		Use:   "programs",
		Short: "Print the folder of the control plane's programs; build them if there are none (about 10 minutes, once)",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			assets, err := controlplane.Locate(command.Context(), controlplane.Search{
				KubebuilderAssets: os.Getenv("KUBEBUILDER_ASSETS"),
				Log:               command.ErrOrStderr(),
			})
			if err != nil {
				return interrupted(command.Context(), err)
			}
			_, err = fmt.Fprintln(command.OutOrStdout(), assets.Dir)
			return err
		},
	}
}
