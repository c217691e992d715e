package view

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Span is when a node began with a policy's generation, and when it came to what it is;
// for one that is under way until now. Both are zero for a node that has not begun.
func Span(enactment *v1.NodeNetworkConfigurationEnactment, now time.Time) (from, to time.Time) {
	status := &enactment.Status
	moved := func(kind v1.ConditionType, value metav1.ConditionStatus) time.Time {
		if c := v1.FindCondition(status.Conditions, kind); c != nil && c.Status == value {
			return c.LastTransitionTime.Time
		}
		return time.Time{}
	}
	for _, kind := range []v1.ConditionType{v1.EnactmentAvailable, v1.EnactmentFailing} {
		if end := moved(kind, metav1.ConditionTrue); !end.IsZero() {
			// Progressing became False at the end, and Pending when it began.
			begin := moved(v1.EnactmentPending, metav1.ConditionFalse)
			if begin.IsZero() || begin.After(end) {
				begin = end
			}
			return begin, end
		}
	}
	if begin := moved(v1.EnactmentProgressing, metav1.ConditionTrue); !begin.IsZero() {
		return begin, now
	}
	return time.Time{}, time.Time{}
}
