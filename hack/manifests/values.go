package manifests

// valuesText is values.yaml, with the defaults of deploy/.
const valuesText = `# Made from deploy/ by make generate: do not edit. Values of your own go into a file of
# yours: helm install -f FILE.

# Who does the nodes' policies: distributed (each node's handler) or centralized (the
# controllers).
mode: distributed

# Policies may name Secrets of the release's namespace. The controllers then read all of
# them.
secrets: false

# Policies may have scripts run, and libraries loaded, as root on the nodes: dispatch, and
# dpdk-extra of ovs-db. Whoever may write a policy is then root on every node.
allowCommands: false

# info or debug, of both programs; empty is info.
logLevel: ""

# The name that each node's DNS servers must answer for after a change; empty is
# root-servers.net.
dnsProbeHost: ""

# The images are PREFIX/handler:TAG and PREFIX/controllers:TAG; without a tag, the
# chart's appVersion.
image:
  prefix: localhost/kubernetes-nmstate
  tag: ""
  pullPolicy: IfNotPresent
  pullSecrets: []

# The handler, on every node.
handler:
  # A whole image instead of the one above.
  image: ""
  metricsPort: {{ .handler.metricsPort }}
  nodeSelector:{{ .handler.nodeSelector }}
  tolerations:{{ .handler.tolerations }}
  affinity:{{ .handler.affinity }}
  resources:{{ .handler.resources }}
  extraArgs: []

# The controllers, two of them.
controllers:
  image: ""
  metricsPort: {{ .controllers.metricsPort }}
  nodeSelector:{{ .controllers.nodeSelector }}
  tolerations:{{ .controllers.tolerations }}
  # Who has root on the node of a controllers' pod has its token. Where the control plane
  # is not among the nodes: --set controllers.affinity.nodeAffinity=null
  affinity:{{ .controllers.affinity }}
  resources:{{ .controllers.resources }}
  extraArgs: []

# The page of kubectl nmstate for a team, behind an authenticating proxy of yours that
# passes the viewer's token on. It has no rights of its own.
page:
  enabled: false
  # A whole image instead of that of the controllers, which has the program too.
  image: ""
  nodeSelector:{{ .page.nodeSelector }}
  tolerations: []
  affinity:{{ .page.affinity }}
  resources:{{ .page.resources }}
  # --read-only=false adds the button that keeps a change which waits for a person.
  extraArgs: []
`
