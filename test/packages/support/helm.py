"""Lints and renders a chart: `helm.py CHART VALUES`, the values as JSON. Prints the findings and the manifests as JSON."""

import json
import sys

import helm_python

path, values = sys.argv[1], json.loads(sys.argv[2])
findings = helm_python.lint(path, values, strict=True)["messages"]
with helm_python.Chart.load(path) as chart:
    manifests = chart.render(values, name="mesh", namespace="default")
print(json.dumps({"findings": findings, "manifests": manifests}))
