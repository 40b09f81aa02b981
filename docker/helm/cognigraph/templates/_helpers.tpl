{{- define "cognigraph.name" -}}
{{- if contains "cognigraph" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-cognigraph" (.Release.Name | trunc 39 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "cognigraph.selector" -}}
app.kubernetes.io/name: cognigraph
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "cognigraph.labels" -}}
{{ include "cognigraph.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "cognigraph.secret" -}}
{{ .Values.secret.existing | default (include "cognigraph.name" .) }}
{{- end }}

{{- define "cognigraph.neo4jUri" -}}
{{- /* bolt://, because the server announces the address of another name. */ -}}
{{- if .Values.neo4j.start }}bolt://{{ include "cognigraph.name" . }}-neo4j:7687
{{- else }}{{ .Values.neo4j.uri }}{{ end }}
{{- end }}

{{- /* What the schema cannot say in words. */ -}}
{{- define "cognigraph.checked" -}}
{{- $values := .Values }}
{{- if not $values.image.repository }}
{{- fail "image.repository is empty: build docker/Dockerfile, push the image to your registry, and name it" }}
{{- end }}
{{- if eq $values.store "sqlite" }}
{{- if gt (int $values.replicas) 1 }}
{{- fail (printf "replicas is %d, but a SQLite file serves the processes of one machine only, and a network file system would damage it: set replicas to 1, or store to neo4j" (int $values.replicas)) }}
{{- end }}
{{- if or $values.neo4j.uri $values.neo4j.start }}
{{- fail "neo4j.uri or neo4j.start is set, but store is sqlite: set store to neo4j" }}
{{- end }}
{{- else if and $values.neo4j.uri $values.neo4j.start }}
{{- fail "neo4j.start starts a Neo4j, but neo4j.uri names another: set one of them" }}
{{- else if not (or $values.neo4j.uri $values.neo4j.start) }}
{{- fail "store is neo4j: set neo4j.uri to your server, or neo4j.start to true" }}
{{- end }}
{{- if $values.secret.existing }}
{{- if or $values.secret.keys $values.secret.neo4jPassword $values.secret.modelKey }}
{{- fail "secret.existing names your Secret, so the chart makes none: put the other values of secret into it" }}
{{- end }}
{{- else if not $values.secret.keys }}
{{- fail "the server does not start without a key: run `cognigraph keys create NAME --all-spaces --permission admin --keys keys`, then set secret.keys to the output of `base64 -w0 keys`, or put the file into a Secret as `keys` and set secret.existing" }}
{{- else if and (eq $values.store "neo4j") (not $values.secret.neo4jPassword) }}
{{- fail "store is neo4j: set secret.neo4jPassword, or put `neo4j-password` into a Secret and set secret.existing" }}
{{- end }}
{{- if and $values.ingress.enabled (not $values.ingress.host) }}
{{- fail "ingress.enabled is true: set ingress.host" }}
{{- end }}
{{- end }}
