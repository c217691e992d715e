#!/bin/sh
# FIXME quoting
echo done
