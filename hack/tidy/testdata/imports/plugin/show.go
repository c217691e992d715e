package main

import "github.com/nmstate/kubernetes-nmstate/controllers/rollout"
