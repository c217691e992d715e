# What kind.sh does with the nodes of a cluster; sourced by it.
# shellcheck shell=bash disable=SC2154

# nodes [ROLE] prints the containers of the cluster, one on a line, in order.
nodes() {
	docker ps -a --filter "label=io.x-k8s.kind.cluster=$cluster" ${1:+--filter "label=io.x-k8s.kind.role=$1"} --format '{{.Names}}' | sort -V
}

nic_names() { for ((nic = 1; nic <= nics; nic++)); do echo "eth$nic"; done; }

# configuration prints kind's own.
configuration() {
	local worker
	cat <<-END
		kind: Cluster
		apiVersion: kind.x-k8s.io/v1alpha4
		networking:
		  disableDefaultCNI: $own_pods_network
		  apiServerPort: $api_port
		kubeadmConfigPatches:
		- |
		  kind: KubeletConfiguration
		  apiVersion: kubelet.config.k8s.io/v1beta1
		  failCgroupV1: false
		nodes:
		- role: control-plane
	END
	for ((worker = 0; worker < workers; worker++)); do echo "- role: worker"; done
}

# until_true SECONDS WHAT COMMAND...: polls, and tells every ten seconds that it waits.
until_true() {
	local deadline=$((SECONDS + $1)) tell=$((SECONDS + 10)) what=$2
	shift 2
	until "$@"; do
		[ $SECONDS -lt $deadline ] || return 1
		if [ $SECONDS -ge $tell ]; then
			say "waiting for $what"
			tell=$((SECONDS + 10))
		fi
		sleep 1
	done
}

all_have_cidr() { [ "$(kubectl get nodes -o jsonpath='{.items[*].spec.podCIDR}' | wc -w)" = "$(nodes | wc -l)" ]; }

# connect_pods gives each node a network for its own pods and routes to the
# others', which is what kind's daemon does, whose image is in no Go module.
connect_pods() {
	[ "$own_pods_network" = true ] || return 0
	until_true 60 "the nodes' ranges of addresses" all_have_cidr || die "the nodes have no ranges for pods after a minute"
	local all name range _ other other_range address
	all=$(kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.spec.podCIDR} {.status.addresses[?(@.type=="InternalIP")].address}{"\n"}{end}')
	while read -r name range _; do
		sed "s#@RANGE@#$range#" kind/pods.conflist | docker exec -i "$name" tee /etc/cni/net.d/10-pods.conflist >/dev/null
		{
			cat kind/routes.sh
			while read -r other other_range address; do
				[ "$other" = "$name" ] || echo "ip route replace $other_range via $address"
			done <<<"$all"
		} | docker exec -i "$name" sh -c 'cat >/kind/routes.sh && chmod 755 /kind/routes.sh && systemctl start node-routes'
	done <<<"$all"
}

# plug gives every worker the NICs that it lacks: a veth whose other end is a
# port of a bridge in the fabric's container. The names of a container's
# interfaces die with it, so nothing has to be taken away.
plug() {
	local node short nic pid mac missing=
	[ "$nics" -gt 0 ] || return 0
	docker start "$fabric" >/dev/null
	for node in $(nodes worker); do
		short=${node#"$cluster"-}
		pid=$(docker inspect -f '{{ .State.Pid }}' "$node")
		for nic in $(nic_names); do
			# A NIC keeps its address when its node restarts.
			mac=02:$(echo "$node $nic" | sha256sum | sed 's/\(..\)\(..\)\(..\)\(..\)\(..\).*/\1:\2:\3:\4:\5/')
			missing+="ip link show $nic >/dev/null 2>&1 || ip link add $nic type bridge; ip link set $nic up;"
			missing+="nsenter -t $pid -n ip link show $nic >/dev/null 2>&1 || { ip link del $short-$nic 2>/dev/null || true;"
			missing+=" ip link add $short-$nic type veth peer name $nic address $mac netns $pid; ip link set $short-$nic master $nic up;"
			missing+=" nsenter -t $pid -n ip link set $nic up; }; "
		done
	done
	docker exec "$fabric" sh -euc "$missing" || die "the NICs could not be plugged in; the lines above say why"
}

image_name() { tar -xOf "out/images/$1.tar" ./manifest.json | sed 's/.*"RepoTags":\["\([^"]*\)".*/\1/'; }

# load imports the images into all nodes that do not have these very ones, and
# then makes the pods anew that run older ones.
load() {
	local sum node jobs=() job failed=0 new
	sum=$(cat out/images/{handler,controllers}.tar | sha256sum | cut -c1-16)
	new=$(mktemp "$out/.new-XXXXXX")
	for node in $(nodes); do
		import_into "$node" "$sum" "$new" &
		jobs+=($!)
	done
	for job in "${jobs[@]}"; do wait "$job" || failed=1; done
	[ $failed = 0 ] || die "an image could not be loaded; the lines above say which"
	if [ -s "$new" ] && kubectl -n nmstate get daemonset/nmstate-handler >/dev/null 2>&1; then
		kubectl -n nmstate rollout restart daemonset/nmstate-handler deployment/nmstate-controllers >/dev/null
		rolled_out
	fi
	rm -f "$new"
}

import_into() { # NODE SUM NEW
	local name said
	! docker exec "$1" test -e "/kind/loaded-$2" || return 0
	for name in handler controllers; do
		said=$(docker exec -i "$1" ctr -n k8s.io images import --digests=false - <"out/images/$name.tar" 2>&1) || {
			say "$1: $said"
			return 1
		}
	done
	docker exec "$1" sh -c "rm -f /kind/loaded-*; touch /kind/loaded-$2"
	echo "$1" >>"$3"
}

nodes_ready() {
	# What web consoles and selectors of workers look for, as on the lab's nodes. Not
	# in kind's own configuration: a kubelet may not give itself a label of this kind.
	[ "$workers" = 0 ] || kubectl label node -l '!node-role.kubernetes.io/control-plane' node-role.kubernetes.io/worker= --overwrite >/dev/null ||
		die "the workers could not be labelled; what kubectl says is above"
	kubectl wait node --all --for=condition=Ready --timeout="${ready_seconds}s" >/dev/null || not_ready
	kubectl -n kube-system rollout status deploy/coredns --timeout="${ready_seconds}s" >/dev/null || not_ready
}

deploy() {
	kubectl apply --server-side --force-conflicts -k "deploy/overlays/$mode" >"$out/deploy.log" 2>&1 ||
		die "deploy/overlays/$mode could not be applied: $(grep -i error "$out/deploy.log" | tail -n 1 | cut -c1-400)"
	rolled_out
}

# rolled_out waits for all our pods, and tells how far they are.
rolled_out() {
	local what
	for what in daemonset/nmstate-handler deployment/nmstate-controllers; do
		kubectl -n nmstate rollout status "$what" --timeout="${ready_seconds}s" >&2 || not_ready
	done
}

# not_ready ends with one line on why; the rest is in a file.
not_ready() {
	local log=$out/not-ready.log
	{
		kubectl get nodes,pods -A -o wide
		kubectl get events -A --sort-by .lastTimestamp | tail -n 40
		kubectl -n nmstate describe pods
		kubectl -n nmstate logs --all-containers --prefix --tail 40 -l app.kubernetes.io/part-of=kubernetes-nmstate
	} >"$log" 2>&1 || true
	die "not ready after $ready_seconds s: $(awk '$4 ~ /^(Pending|Error|CrashLoopBackOff|ImagePullBackOff|ErrImagePull|ContainerCreating|CreateContainer.*)$/ { print $2 " is " $4; exit }' "$log") (all of it: $log)"
}
